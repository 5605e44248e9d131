/** The fields that an order begins with: its text, and the media that it is made from. */
import { Stack, Textarea } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { kindOfModel, mediumUsesOf } from "./draft.ts"
import { type FormProps, fieldAttribute } from "./faults.ts"
import { MediaRows } from "./MediaRows.tsx"
import { MessageRows } from "./MessageRows.tsx"

/**
 * The maximum length that the gateway accepts. Vendors may accept less, and report that themselves.
 */
const MAX_PROMPT = 100_000

const Prompt = ({ model, draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  const isEmbedding = model.modality === "embedding"
  return (
    <Textarea
      label={isEmbedding ? t("texts") : t("prompt")}
      {...(isEmbedding ? { description: t("textsHint") } : {})}
      placeholder={t("promptExample")}
      autosize
      minRows={3}
      maxRows={12}
      maxLength={model.max_prompt ?? MAX_PROMPT}
      value={draft.prompt}
      error={errorOf("prompt")}
      onChange={(event) => change({ prompt: event.currentTarget.value })}
      {...fieldAttribute("prompt")}
    />
  )
}

export const PromptFields = (props: FormProps) => (
  <Stack gap="xs">
    {kindOfModel(props.model) === "chat" ? <MessageRows {...props} /> : <Prompt {...props} />}
    {mediumUsesOf(props.model).length === 0 ? null : <MediaRows {...props} />}
  </Stack>
)
