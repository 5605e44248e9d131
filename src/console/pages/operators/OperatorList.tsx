/** The operators of the gateway with their roles; owners can change them. */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { OperatorView } from "../../../features/accounts/OperatorsApi.ts"
import { Role } from "../../../services/operators/Operators.ts"
import { useApiMutation, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { matchOption } from "../../parts/controls/addressFields.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { successNotice } from "../../parts/controls/successNotice.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
import { operatorsKey, PAGE } from "../customers/accountKeys.ts"

type Operator = typeof OperatorView.Type
interface OperatorForm {
  readonly name: string
  readonly role: Role
}

interface DialogProps {
  readonly title: string
  readonly action: string
  readonly editedOperator?: Operator
  readonly mutation: { readonly isPending: boolean; readonly error: Error | null }
  readonly onSubmit: (form: OperatorForm) => void
  readonly onClose: () => void
}

const OperatorDialog = ({
  title,
  action,
  editedOperator,
  mutation,
  onSubmit,
  onClose
}: DialogProps) => {
  const { t } = useTranslation("accounts")
  const { t: shell } = useTranslation()
  const form = useForm<{ name: string; role: string }>({
    initialValues: { name: editedOperator?.name ?? "", role: editedOperator?.role ?? "viewer" },
    validate: { name: (text) => (text.trim() === "" ? t("nameNeeded") : null) }
  })
  const submit = form.onSubmit(({ name, role }) =>
    onSubmit({ name: name.trim(), role: matchOption(role, Role.literals) ?? "viewer" })
  )
  const role = matchOption(form.values.role, Role.literals)
  return (
    <ActionDialog
      title={title}
      action={action}
      mutation={mutation}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={t("name")}
        description={t("operatorNameHint")}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <Select
        label={t("role")}
        allowDeselect={false}
        data={Role.literals.map((value) => ({ value, label: shell(`roles.${value}`) }))}
        {...form.getInputProps("role")}
      />
      {role === undefined ? null : <Text size="sm">{t(`roleMay.${role}`)}</Text>}
    </ActionDialog>
  )
}

type OpenDialog = { readonly kind: "change" | "revoke"; readonly operator: Operator }

export const OperatorList = () => {
  const { t } = useTranslation("accounts")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [openDialog, setOpenDialog] = useState<OpenDialog | "create" | null>(null)
  const [token, setToken] = useState<string | null>(null)
  const operators = usePages(
    operatorsKey,
    (after) => (gateway) => gateway.operators.listOperators({ query: { limit: PAGE, ...after } })
  )
  const create = useApiMutation(
    (payload: OperatorForm) => (gateway) => gateway.operators.createOperator({ payload }),
    [operatorsKey]
  )
  const change = useApiMutation(
    ({ id, ...payload }: OperatorForm & { readonly id: string }) =>
      (gateway) =>
        gateway.operators.changeOperator({ params: { id }, payload }),
    [operatorsKey]
  )
  const revoke = useApiMutation(
    (id: string) => (gateway) => gateway.operators.revokeOperator({ params: { id } }),
    [operatorsKey]
  )
  const open = (dialog: typeof openDialog) => {
    for (const mutation of [create, change, revoke]) mutation.reset()
    setOpenDialog(dialog)
  }
  const close = () => setOpenDialog(null)
  const notifyOnSuccess = successNotice(close)
  const isOwner = hasRole(session)
  const columns: ReadonlyArray<Column<Operator>> = [
    { name: "name", label: t("name"), cell: (row) => row.name },
    { name: "role", label: t("role"), cell: (row) => shell(`roles.${row.role}`) },
    {
      name: "state",
      label: t("state"),
      cell: (row) => (
        <StateBadge tone={row.revoked_at === null ? "good" : "off"}>
          {t(row.revoked_at === null ? "valid" : "revoked")}
        </StateBadge>
      )
    },
    { name: "created", label: t("created"), cell: (row) => <Timestamp at={row.created_at} /> },
    {
      name: "revoked",
      label: t("revokedSince"),
      cell: (row) => <Timestamp at={row.revoked_at} />,
      isHidden: true
    },
    { name: "id", label: "ID", cell: (row) => <Id id={row.id} />, isHidden: true },
    ...(isOwner
      ? [
          {
            name: "actions",
            label: t("actions"),
            isMenu: true,
            cell: (operator: Operator) =>
              operator.revoked_at === null ? (
                <RowMenu
                  of={operator.name}
                  actions={[
                    { label: t("change"), onPick: () => open({ kind: "change", operator }) },
                    {
                      label: t("revoke"),
                      isDangerous: true,
                      onPick: () => open({ kind: "revoke", operator })
                    }
                  ]}
                />
              ) : null
          }
        ]
      : [])
  ]
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed">{t("operatorsLead")}</Text>
        {isOwner ? <Button onClick={() => open("create")}>{t("newOperator")}</Button> : null}
      </Group>
      {isOwner ? null : <Text size="sm">{t("ownersAlone")}</Text>}
      <DataTable
        label={t("operators")}
        columns={columns}
        query={operators}
        empty={t("noOperators")}
      />
      {openDialog === "create" ? (
        <OperatorDialog
          title={t("newOperator")}
          action={t("create")}
          mutation={create}
          onSubmit={(form) =>
            create.mutate(form, {
              onSuccess: (created) => {
                close()
                setToken(created.token)
              }
            })
          }
          onClose={close}
        />
      ) : openDialog?.kind === "change" ? (
        <OperatorDialog
          title={t("changeOperator")}
          action={t("save")}
          editedOperator={openDialog.operator}
          mutation={change}
          onSubmit={(form) =>
            change.mutate(
              { ...form, id: openDialog.operator.id },
              notifyOnSuccess(t("operatorChanged"))
            )
          }
          onClose={close}
        />
      ) : openDialog?.kind === "revoke" ? (
        <ActionDialog
          title={t("revoke")}
          action={t("revoke")}
          isDangerous
          mutation={revoke}
          onSubmit={() =>
            revoke.mutate(
              openDialog.operator.id,
              notifyOnSuccess(t("operatorRevoked", { name: openDialog.operator.name }))
            )
          }
          onClose={close}
        >
          <Text size="sm">{t("revokeOperatorHint", { name: openDialog.operator.name })}</Text>
        </ActionDialog>
      ) : null}
      {token === null ? null : (
        <SecretDialog
          title={t("operatorMade")}
          label={t("token")}
          secret={token}
          onConfirm={() => setToken(null)}
        />
      )}
    </Stack>
  )
}
