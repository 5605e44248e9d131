/** The reason why the order was or would be refused, with buttons that correct it. */
import { Button } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { ModelEntry } from "../../../../http/api/models.ts"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import type { Draft } from "./draft.ts"
import { correctionsOf, type Field, formFaultsOf } from "./faults.ts"

interface Props {
  readonly error: unknown
  readonly model: ModelEntry | null
  readonly change: (patch: Partial<Draft>) => void
  readonly onShow: (field: Field) => void
  readonly onRetry?: (() => void) | undefined
}

export const RefusalNote = ({ error, model, change, onShow, onRetry }: Props) => {
  const { t } = useTranslation("playground")
  const { t: failures } = useTranslation("failures")
  const corrections = correctionsOf(error)
  const fields =
    corrections.length > 0 ? [] : [...new Set(formFaultsOf(error, model).map(({ field }) => field))]
  return (
    <FailureNote error={error} {...(onRetry === undefined ? {} : { onRetry })}>
      {corrections.map(({ value, patch }) => (
        <Button key={value} size="xs" onClick={() => change(patch)}>
          {failures("use", { value })}
        </Button>
      ))}
      {fields.map((field) => (
        <Button key={field} size="xs" variant="default" onClick={() => onShow(field)}>
          {t("showField", { field: t(`fields.${field}`) })}
        </Button>
      ))}
    </FailureNote>
  )
}
