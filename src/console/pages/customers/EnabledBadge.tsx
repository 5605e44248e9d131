/** Whether the keys of an organisation or member are accepted. */
import { Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"

export const EnabledBadge = ({ isEnabled }: { readonly isEnabled: boolean }) => {
  const { t } = useTranslation("accounts")
  return (
    <StateBadge tone={isEnabled ? "good" : "off"}>
      {t(isEnabled ? "enabled" : "disabled")}
    </StateBadge>
  )
}

interface Props {
  readonly name: string
  readonly isEnabled: boolean
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for confirmation before keys are disabled or enabled again. */
export const EnableDialog = ({ name, isEnabled, mutation, onConfirm, onClose }: Props) => {
  const { t } = useTranslation("accounts")
  return (
    <ActionDialog
      title={t(isEnabled ? "disable" : "enable")}
      action={t(isEnabled ? "disable" : "enable")}
      isDangerous={isEnabled}
      mutation={mutation}
      onSubmit={onConfirm}
      onClose={onClose}
    >
      <Text size="sm">{t(isEnabled ? "disableHint" : "enableHint", { name })}</Text>
    </ActionDialog>
  )
}
