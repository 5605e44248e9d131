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
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (watermark: boolean | null) => void
  readonly onClose: () => void
}

export const WatermarkDialog = ({ watermark, mutation, onSubmit, onClose }: Props) => {
  const { t } = useTranslation("access")
  const [choice, setChoice] = useState(choiceOf(watermark))
  return (
    <ActionDialog
      title={t("setWatermark")}
      action={t("save")}
      mutation={mutation}
      onSubmit={() => onSubmit(settings[choice])}
      onClose={onClose}
    >
      <Select
        label={t("watermark")}
        description={t("watermarkHint")}
        data={choices.map((value) => ({ value, label: t(`watermarks.${value}`) }))}
        value={choice}
        allowDeselect={false}
        onChange={(text) => {
          const match = choices.find((one) => one === text)
          if (match !== undefined) setChoice(match)
        }}
      />
    </ActionDialog>
  )
}
