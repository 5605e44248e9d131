/** The order in the form as source code to copy. */
import { Button, Card, Code, CopyButton, Group, Stack, Tabs, Text, Title } from "@mantine/core"
import { IconCheck, IconCopy } from "@tabler/icons-react"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { generateId, isTextKind, type Order, type TextApi } from "../form/draft.ts"
import { TextApiChoice } from "../form/TextApiChoice.tsx"
import { languages, sampleCode } from "./sampleCode.ts"

const names = {
  curl: "curl",
  openai: "openai",
  ai: "AI SDK",
  typed: "media-gateway/client"
} as const

interface Props {
  readonly order: Order
  readonly onTextApi: (textApi: TextApi) => void
}

export const CodeCard = ({ order, onTextApi }: Props) => {
  const { t } = useTranslation("playground")
  const { t: shell } = useTranslation()
  const [language, setLanguage] = useState<(typeof languages)[number]>("curl")
  // Every order and every language gets a new idempotency key.
  const code = useMemo(
    () => sampleCode(language, { origin: window.location.origin, order, key: generateId() }),
    [language, order]
  )
  return (
    <Card withBorder component="section" aria-label={t("code")}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h4">
            {t("code")}
          </Title>
          {isTextKind(order.kind) ? (
            <TextApiChoice
              value={order.kind === "response" ? "responses" : "chat"}
              onChange={onTextApi}
            />
          ) : null}
        </Group>
        <Tabs
          value={language}
          onChange={(nextValue) =>
            setLanguage(languages.find((item) => item === nextValue) ?? language)
          }
        >
          <Tabs.List>
            {languages.map((item) => (
              <Tabs.Tab key={item} value={item}>
                {names[item]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={language} pt="sm">
            <Code
              block
              className="code"
              tabIndex={0}
              aria-label={t("codeIn", { name: names[language] })}
            >
              {code}
            </Code>
          </Tabs.Panel>
        </Tabs>
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed" flex={1}>
            {t("codeHint")}
          </Text>
          <CopyButton value={code}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                variant="default"
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={copy}
              >
                {copied ? shell("copied") : t("copyCode")}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Card>
  )
}
