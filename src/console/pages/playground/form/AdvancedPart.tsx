/** The options of the order, folded below a button that names those that are set. */
import { Group, Loader, Stack, Text, UnstyledButton } from "@mantine/core"
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react"
import { lazy, Suspense, useId } from "react"
import { useTranslation } from "react-i18next"
import { kindOfModel } from "./draft.ts"
import type { Field, FormProps } from "./faults.ts"

const AdvancedFields = lazy(async () => ({
  default: (await import("./AdvancedFields.tsx")).AdvancedFields
}))

/** The options that are set, as short texts. */
const useSummary = ({ model, draft }: FormProps): ReadonlyArray<string> => {
  const { t } = useTranslation("playground")
  const { duration, resolution, ratio, sound, n, size, maxTokens, parameters, notes } = draft
  const { topN, voice, format, speed, language, transcriptFormat } = draft
  const seconds = duration === "" ? "" : `${duration} s`
  const audio = sound === "unsaid" ? "" : `${t("sound")}: ${t(`sounds.${sound}`)}`
  const options = {
    video: [duration === -1 ? t("smart") : seconds, resolution ?? "", ratio, audio],
    image: [n === "" ? "" : t("images", { count: Number(n) }), size],
    chat: [maxTokens === "" ? "" : t("tokens", { count: Number(maxTokens) })],
    embedding: [],
    rerank: [topN === "" ? "" : t("top", { count: Number(topN) })],
    tts: [voice, format ?? "", speed === "" ? "" : `${speed}×`],
    asr: [language, transcriptFormat ?? ""]
  }
  const kind = kindOfModel(model)
  const further = Object.values(parameters).filter((value) => value !== "").length + notes.length
  return [...(kind === null ? [] : options[kind]), further === 0 ? "" : `+${further}`].filter(
    (option) => option !== ""
  )
}

interface Props extends FormProps {
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly focus: { readonly field: Field } | null
}

export const AdvancedPart = ({ isOpen, onToggle, focus, ...props }: Props) => {
  const { t } = useTranslation("playground")
  const summary = useSummary(props)
  const fields = useId()
  const Icon = isOpen ? IconChevronDown : IconChevronRight
  return (
    <Stack gap="sm">
      <UnstyledButton
        onClick={onToggle}
        aria-expanded={isOpen}
        aria-controls={isOpen ? fields : undefined}
      >
        <Group gap={6} wrap="nowrap">
          <Icon size={16} aria-hidden />
          <Text size="sm" fw={500}>
            {t("parameters.title")}
          </Text>
          <Text size="sm" c="dimmed" truncate>
            {summary.join(" · ")}
          </Text>
        </Group>
      </UnstyledButton>
      {isOpen ? (
        <div id={fields}>
          <Suspense fallback={<Loader size="sm" />}>
            <AdvancedFields {...props} focus={focus} />
          </Suspense>
        </div>
      ) : null}
    </Stack>
  )
}
