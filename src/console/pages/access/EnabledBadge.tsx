/** Whether the keys of an organisation or member open anything. */
import { Badge, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"

export const EnabledBadge = ({ isEnabled }: { readonly isEnabled: boolean }) => {
  const { t } = useTranslation("access")
  return (
    <Badge variant="outline" color={isEnabled ? "green.9" : "gray"}>
      {t(isEnabled ? "enabled" : "disabled")}
    </Badge>
  )
}

interface Props {
  readonly name: string
  readonly isEnabled: boolean
  readonly doing: { readonly isPending: boolean; readonly error: Error | null }
  readonly onDo: () => void
  readonly onClose: () => void
}

/** Asks before keys are shut out, or let in again. */
export const EnableDialog = ({ name, isEnabled, doing, onDo, onClose }: Props) => {
  const { t } = useTranslation("access")
  return (
    <ActionDialog
      title={t(isEnabled ? "disable" : "enable")}
      action={t(isEnabled ? "disable" : "enable")}
      isDangerous={isEnabled}
      doing={doing}
      onDo={onDo}
      onClose={onClose}
    >
      <Text size="sm">{t(isEnabled ? "disableHint" : "enableHint", { name })}</Text>
    </ActionDialog>
  )
}
