/** Creates a key of a member, and shows the secret once. */
import { useTranslation } from "react-i18next"
import { useApiMutation } from "../../gateway/hooks.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { keysKey } from "./accessKeys.ts"
import { KeyDialog, type KeyForm } from "./KeyDialog.tsx"

interface Props {
  readonly member: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

export const KeyCreation = ({ member, onClose }: Props) => {
  const { t } = useTranslation("access")
  const create = useApiMutation(
    (payload: KeyForm) => (gateway) =>
      gateway.admin.createKey({ params: { id: member.id }, payload }),
    [keysKey]
  )
  if (create.isSuccess) {
    return (
      <SecretDialog
        title={t("keyMade", { name: create.variables.name })}
        label={t("key")}
        secret={create.data.key}
        onConfirm={onClose}
      />
    )
  }
  return (
    <KeyDialog
      title={t("newKeyOf", { name: member.name })}
      action={t("create")}
      mutation={create}
      onSubmit={(form) => create.mutate(form)}
      onClose={onClose}
    />
  )
}
