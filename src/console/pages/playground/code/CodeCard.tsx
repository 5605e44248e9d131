/** The order in the form as source code to copy. */
import { Card, Group, Stack, Title } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { CodeTabs } from "../../../parts/controls/CodeTabs.tsx"
import { generateId, isTextKind, type Order, type TextApi } from "../form/draft.ts"
import { TextApiChoice } from "../form/TextApiChoice.tsx"
import { sampleCode } from "./sampleCode.ts"

interface Props {
  readonly order: Order
  readonly onTextApi: (textApi: TextApi) => void
}

export const CodeCard = ({ order, onTextApi }: Props) => {
  const { t } = useTranslation("playground")
  // Every order and every language gets a new idempotency key.
  const [curl, openai, ai, typed] = useMemo(() => {
    const codeIn = (language: Parameters<typeof sampleCode>[0]) =>
      sampleCode(language, { origin: window.location.origin, order, key: generateId() })
    return [codeIn("curl"), codeIn("openai"), codeIn("ai"), codeIn("typed")] as const
  }, [order])
  const hint = t("codeHint")
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
        <CodeTabs
          labelOf={(name) => t("codeIn", { name })}
          copyLabel={t("copyCode")}
          tabs={[
            { name: "curl", code: curl, hint },
            { name: "openai", code: openai, hint },
            { name: "AI SDK", code: ai, hint },
            { name: "media-gateway/client", code: typed, hint }
          ]}
        />
      </Stack>
    </Card>
  )
}
