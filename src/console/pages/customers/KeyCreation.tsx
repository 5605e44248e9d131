/** Creates a key of a member, and shows the secret once. */
import { Alert } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, useApiQuery } from "../../gateway/hooks.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { keysKey, membersKey } from "./accountKeys.ts"
import { KeyDialog, type KeyForm } from "./KeyDialog.tsx"
import { SubjectSelect } from "./SubjectSelect.tsx"

interface Props {
  readonly organizationId: string
  /** The owner of the key; without it, the dialog has a field for the member. */
  readonly member?: { readonly id: string; readonly name: string }
  /** The member that the field has at first; empty for none. */
  readonly memberId?: string
  readonly onClose: () => void
}

const TWO = 2

export const KeyCreation = ({ organizationId, member, memberId = "", onClose }: Props) => {
  const { t } = useTranslation("accounts")
  const [chosenId, setChosenId] = useState(memberId)
  const [isMissing, setIsMissing] = useState(false)
  // Two members suffice to know whether there is a choice.
  const members = useApiQuery(
    [...membersKey, organizationId, "two"],
    (gateway) =>
      gateway.accounts.listMembers({
        query: { limit: TWO, totals: "false", organization_id: organizationId }
      }),
    { isEnabled: member === undefined }
  )
  const [only, ...others] = members.data?.data ?? []
  const ownerId =
    member?.id ?? (chosenId === "" && others.length === 0 ? (only?.id ?? "") : chosenId)
  const create = useApiMutation(
    (payload: KeyForm) => (gateway) =>
      gateway.admin.createKey({ params: { id: ownerId }, payload }),
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
      title={member === undefined ? t("newKey") : t("newKeyOf", { name: member.name })}
      action={t("create")}
      mutation={create}
      onSubmit={(form) => {
        setIsMissing(ownerId === "")
        if (ownerId !== "") create.mutate(form)
      }}
      onClose={onClose}
    >
      {member !== undefined ? null : members.data?.data.length === 0 ? (
        <Alert color="orange" role="status">
          {t("newKeyHint")}
        </Alert>
      ) : (
        <SubjectSelect
          organizationId={organizationId}
          of="member"
          value={ownerId}
          error={isMissing && ownerId === "" ? t("memberNeeded") : null}
          onChange={setChosenId}
        />
      )}
    </KeyDialog>
  )
}
