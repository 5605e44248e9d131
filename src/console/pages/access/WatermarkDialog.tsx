/** A dialog for whether an organisation's orders are marked as made by AI by default. */
import { Select } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"

const choices = ["default", "on", "off"] as const
type Choice = (typeof choices)[number]

const settings: Readonly<Record<Choice, boolean | null>> = { default: null, on: true, off: false }

export const choiceOf = (watermark: boolean | null): Choice => {
  if (watermark === null) return "default"
  return watermark ? "on" : "off"
}

interface Props {
  readonly watermark: boolean | null
  readonly doing: { readonly isPending: boolean; readonly error: Error | null }
  readonly onDo: (watermark: boolean | null) => void
  readonly onClose: () => void
}

export const WatermarkDialog = ({ watermark, doing, onDo, onClose }: Props) => {
  const { t } = useTranslation("access")
  const [choice, setChoice] = useState(choiceOf(watermark))
  return (
    <ActionDialog
      title={t("setWatermark")}
      action={t("save")}
      doing={doing}
      onDo={() => onDo(settings[choice])}
      onClose={onClose}
    >
      <Select
        label={t("watermark")}
        description={t("watermarkHint")}
        data={choices.map((value) => ({ value, label: t(`watermarks.${value}`) }))}
        value={choice}
        allowDeselect={false}
        onChange={(picked) => {
          const next = choices.find((one) => one === picked)
          if (next !== undefined) setChoice(next)
        }}
      />
    </ActionDialog>
  )
}
