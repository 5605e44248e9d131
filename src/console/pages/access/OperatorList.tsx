/** The operators of the gateway with their roles; owners can change them. */
import { Button, Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { OperatorView } from "../../../features/accounts/OperatorsApi.ts"
import { Role } from "../../../services/operators/Operators.ts"
import { useDo, usePages, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import { oneOfWords } from "../../parts/controls/addressFields.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { SecretOnce } from "../../parts/controls/SecretOnce.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Moment } from "../../parts/texts.tsx"
import { operatorsKey, PAGE } from "./accessKeys.ts"

type Operator = typeof OperatorView.Type
interface OperatorForm {
  readonly name: string
  readonly role: Role
}

interface DialogProps {
  readonly title: string
  readonly action: string
  readonly known?: Operator
  readonly doing: { readonly isPending: boolean; readonly error: Error | null }
  readonly onDo: (form: OperatorForm) => void
  readonly onClose: () => void
}

const OperatorDialog = ({ title, action, known, doing, onDo, onClose }: DialogProps) => {
  const { t } = useTranslation("access")
  const { t: shell } = useTranslation()
  const form = useForm<{ name: string; role: string }>({
    initialValues: { name: known?.name ?? "", role: known?.role ?? "viewer" },
    validate: { name: (text) => (text.trim() === "" ? t("nameNeeded") : null) }
  })
  const submit = form.onSubmit(({ name, role }) =>
    onDo({ name: name.trim(), role: oneOfWords(role, Role.literals) ?? "viewer" })
  )
  const role = oneOfWords(form.values.role, Role.literals)
  return (
    <ActionDialog title={title} action={action} doing={doing} onDo={submit} onClose={onClose}>
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

type Opened = { readonly what: "change" | "revoke"; readonly operator: Operator }

export const OperatorList = () => {
  const { t } = useTranslation("access")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [opened, setOpened] = useState<Opened | "create" | null>(null)
  const [token, setToken] = useState<string | null>(null)
  const operators = usePages(
    operatorsKey,
    (after) => (gateway) => gateway.operators.listOperators({ query: { limit: PAGE, ...after } })
  )
  const create = useDo(
    (payload: OperatorForm) => (gateway) => gateway.operators.createOperator({ payload }),
    [operatorsKey]
  )
  const change = useDo(
    ({ id, ...payload }: OperatorForm & { readonly id: string }) =>
      (gateway) =>
        gateway.operators.changeOperator({ params: { id }, payload }),
    [operatorsKey]
  )
  const revoke = useDo(
    (id: string) => (gateway) => gateway.operators.revokeOperator({ params: { id } }),
    [operatorsKey]
  )
  const open = (what: typeof opened) => {
    for (const each of [create, change, revoke]) each.reset()
    setOpened(what)
  }
  const close = () => setOpened(null)
  const done = (message: string) => ({
    onSuccess: () => {
      notifications.show({ message })
      close()
    }
  })
  const isOwner = mayAct(session)
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
    { name: "created", label: t("created"), cell: (row) => <Moment at={row.created_at} /> },
    {
      name: "revoked",
      label: t("revokedSince"),
      cell: (row) => <Moment at={row.revoked_at} />,
      isHidden: true
    },
    { name: "id", label: "id", cell: (row) => <Id id={row.id} />, isHidden: true },
    ...(isOwner
      ? [
          {
            name: "actions",
            label: t("actions"),
            cell: (operator: Operator) =>
              operator.revoked_at === null ? (
                <RowMenu
                  of={operator.name}
                  actions={[
                    { label: t("change"), onPick: () => open({ what: "change", operator }) },
                    {
                      label: t("revoke"),
                      isDangerous: true,
                      onPick: () => open({ what: "revoke", operator })
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
      <Text c="dimmed">{t("operatorsLead")}</Text>
      {isOwner ? (
        <Group>
          <Button onClick={() => open("create")}>{t("newOperator")}</Button>
        </Group>
      ) : (
        <Text size="sm">{t("ownersAlone")}</Text>
      )}
      <DataTable
        label={t("operators")}
        columns={columns}
        query={operators}
        empty={t("noOperators")}
      />
      {opened === "create" ? (
        <OperatorDialog
          title={t("newOperator")}
          action={t("create")}
          doing={create}
          onDo={(form) =>
            create.mutate(form, {
              onSuccess: (made) => {
                close()
                setToken(made.token)
              }
            })
          }
          onClose={close}
        />
      ) : opened?.what === "change" ? (
        <OperatorDialog
          title={t("changeOperator")}
          action={t("save")}
          known={opened.operator}
          doing={change}
          onDo={(form) =>
            change.mutate({ ...form, id: opened.operator.id }, done(t("operatorChanged")))
          }
          onClose={close}
        />
      ) : opened?.what === "revoke" ? (
        <ActionDialog
          title={t("revoke")}
          action={t("revoke")}
          isDangerous
          doing={revoke}
          onDo={() =>
            revoke.mutate(
              opened.operator.id,
              done(t("operatorRevoked", { name: opened.operator.name }))
            )
          }
          onClose={close}
        >
          <Text size="sm">{t("revokeOperatorHint", { name: opened.operator.name })}</Text>
        </ActionDialog>
      ) : null}
      {token === null ? null : (
        <SecretOnce
          title={t("operatorMade")}
          label={t("token")}
          secret={token}
          onKept={() => setToken(null)}
        />
      )}
    </Stack>
  )
}
