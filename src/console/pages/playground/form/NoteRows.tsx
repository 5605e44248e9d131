import { ActionIcon, Button, Group, Input, Stack, TextInput } from "@mantine/core"
import { IconPlus, IconTrash } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { generateId, type Note } from "./draft.ts"
import { type FormProps, fieldAttribute } from "./faults.ts"

const MAX_NOTES = 16
const MAX_NAME = 64
const MAX_TEXT = 512

/** The metadata of the order, by which its charge can be found. */
export const NoteRows = ({ draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const { notes } = draft
  const update = (id: string, patch: Partial<Note>) =>
    change({ notes: notes.map((item) => (item.id === id ? { ...item, ...patch } : item)) })
  return (
    <Stack gap="xs">
      {notes.length === 0 ? null : <Input.Label labelElement="div">{t("notes")}</Input.Label>}
      {notes.map(({ id, name, text }, index) => (
        <Group key={id} gap="xs" wrap="nowrap">
          <TextInput
            aria-label={t("noteName", { number: index + 1 })}
            placeholder="project"
            flex={1}
            maxLength={MAX_NAME}
            value={name}
            onChange={(event) => update(id, { name: event.currentTarget.value })}
            {...(index === 0 ? fieldAttribute("metadata") : {})}
          />
          <TextInput
            aria-label={t("noteText", { number: index + 1 })}
            placeholder="lighthouse"
            flex={2}
            maxLength={MAX_TEXT}
            value={text}
            onChange={(event) => update(id, { text: event.currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t("removeNote", { number: index + 1 })}
            onClick={() => change({ notes: notes.filter((item) => item.id !== id) })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      {errorOf("metadata") === false ? null : <Input.Error>{errorOf("metadata")}</Input.Error>}
      {notes.length === MAX_NOTES ? null : (
        <Button
          variant="subtle"
          size="compact-sm"
          style={{ alignSelf: "flex-start" }}
          leftSection={<IconPlus size={14} />}
          onClick={() => change({ notes: [...notes, { id: generateId(), name: "", text: "" }] })}
        >
          {t("addNote")}
        </Button>
      )}
    </Stack>
  )
}
