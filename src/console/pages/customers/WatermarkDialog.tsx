/** A dialog for whether an organisation's orders are marked as made by AI by default. */
import { Select } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"

export const markChoices = ["default", "on", "off"] as const
type Choice = (typeof markChoices)[number]

const settings: Readonly<Record<Choice, boolean | null>> = { default: null, on: true, off: false }

export const choiceOf = (watermark: boolean | null): Choice => {
  if (watermark === null) return "default"
  return watermark ? "on" : "off"
}

/** The setting of a choice; null for the default. */
export const markOf = (picked: string | null): boolean | null => {
  const choice = markChoices.find((one) => one === picked)
  return choice === undefined ? null : settings[choice]
}

interface Props {
  readonly watermark: boolean | null
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (watermark: boolean | null) => void
  readonly onClose: () => void
}

export const WatermarkDialog = ({ watermark, mutation, onSubmit, onClose }: Props) => {
  const { t } = useTranslation("accounts")
  const [mark, setMark] = useState(watermark)
  return (
    <ActionDialog
      title={t("setWatermark")}
      action={t("save")}
      mutation={mutation}
      onSubmit={() => onSubmit(mark)}
      onClose={onClose}
    >
      <Select
        label={t("watermark")}
        description={t("watermarkHint")}
        data={markChoices.map((value) => ({ value, label: t(`watermarks.${value}`) }))}
        value={choiceOf(mark)}
        allowDeselect={false}
        onChange={(picked) => setMark(markOf(picked))}
      />
    </ActionDialog>
  )
}
