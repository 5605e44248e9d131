import { ActionIcon, Button, Group, Input, Select, Stack, Textarea } from "@mantine/core"
import { IconPlus, IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { type Message, newMessage, roles } from "./draft.ts"
import { type FormProps, fieldAttribute } from "./faults.ts"

const MAX_ROWS = 10

/** The messages of the conversation. */
export const MessageRows = ({ draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const { messages } = draft
  const update = (id: string, patch: Partial<Message>) =>
    change({ messages: messages.map((item) => (item.id === id ? { ...item, ...patch } : item)) })
  return (
    <Stack gap="sm">
      {messages.map(({ id, role, text }, index) => (
        <Stack key={id} gap={6}>
          <Group justify="space-between" gap="xs">
            <Select
              size="xs"
              w={140}
              aria-label={t("role", { number: index + 1 })}
              allowDeselect={false}
              data={roles.map((value) => ({ value, label: t(`roles.${value}`) }))}
              value={role}
              onChange={(nextValue) =>
                update(id, { role: roles.find((item) => item === nextValue) ?? role })
              }
            />
            {messages.length === 1 ? null : (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t("removeMessage", { number: index + 1 })}
                onClick={() => change({ messages: messages.filter((item) => item.id !== id) })}
              >
                <IconTrash size={16} />
              </ActionIcon>
            )}
          </Group>
          <Textarea
            aria-label={t("message", { number: index + 1 })}
            placeholder={t("messageExample")}
            autosize
            minRows={2}
            maxRows={MAX_ROWS}
            value={text}
            onChange={(event) => update(id, { text: event.currentTarget.value })}
            {...(index === messages.length - 1 ? fieldAttribute("messages") : {})}
          />
        </Stack>
      ))}
      {errorOf("messages") === false ? null : <Input.Error>{errorOf("messages")}</Input.Error>}
      <Button
        variant="subtle"
        size="compact-sm"
        style={{ alignSelf: "flex-start" }}
        leftSection={<IconPlus size={14} />}
        onClick={() => change({ messages: [...messages, newMessage("user", "")] })}
      >
        {t("addMessage")}
      </Button>
    </Stack>
  )
}
