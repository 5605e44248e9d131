/** The fields that an order begins with: its texts, and the media that it is made from. */
import { Stack, Textarea } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { kindOfModel, mediumUsesOf } from "./draft.ts"
import { type FormProps, fieldAttribute } from "./faults.ts"
import { MediaRows } from "./MediaRows.tsx"
import { MessageRows } from "./MessageRows.tsx"
import { RecordingField } from "./RecordingField.tsx"

/**
 * The maximum length that the gateway accepts. Vendors may accept less, and report that themselves.
 */
const MAX_PROMPT = 100_000

/** The labels of the prompt's field, by the modality of the model. */
const usePromptLabels = (modality: string) => {
  const { t } = useTranslation("playground")
  switch (modality) {
    case "embedding":
      return { label: t("texts"), description: t("textsHint"), placeholder: t("promptExample") }
    case "rerank":
      return { label: t("query"), placeholder: t("queryExample") }
    case "tts":
      return { label: t("spokenText"), placeholder: t("spokenExample") }
    default:
      return { label: t("prompt"), placeholder: t("promptExample") }
  }
}

const Prompt = ({ model, draft, change, errorOf }: FormProps) => {
  const labels = usePromptLabels(model.modality)
  return (
    <Textarea
      {...labels}
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

const Documents = ({ draft, change, errorOf }: FormProps) => {
  const { t } = useTranslation("playground")
  return (
    <Textarea
      label={t("documents")}
      description={t("documentsHint")}
      placeholder={t("documentsExample")}
      autosize
      minRows={4}
      maxRows={16}
      value={draft.documents}
      error={errorOf("documents")}
      onChange={(event) => change({ documents: event.currentTarget.value })}
      {...fieldAttribute("documents")}
    />
  )
}

const FirstField = (props: FormProps) => {
  switch (kindOfModel(props.model)) {
    case "chat":
      return <MessageRows {...props} />
    case "asr":
      return <RecordingField {...props} />
    default:
      return <Prompt {...props} />
  }
}

export const PromptFields = (props: FormProps) => (
  <Stack gap="xs">
    <FirstField {...props} />
    {kindOfModel(props.model) === "rerank" ? <Documents {...props} /> : null}
    {mediumUsesOf(props.model).length === 0 ? null : <MediaRows {...props} />}
  </Stack>
)
