/** The members of an organisation, with their caps and this month's spend. */
import { Anchor, Button, Group, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { MemberChangeBody, MemberView } from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { successNotice } from "../../parts/controls/successNotice.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { keysKey, membersKey, PAGE } from "./accountKeys.ts"
import { EnableDialog, EnabledBadge } from "./EnabledBadge.tsx"
import { KeyCreation } from "./KeyCreation.tsx"
import { NameDialog, type NameForm } from "./NameDialog.tsx"

type Member = typeof MemberView.Type
type Change = typeof MemberChangeBody.Type

interface Props {
  readonly organizationId: string
  readonly currency: string
}

type OpenDialog = {
  readonly kind: "change" | "enable" | "key"
  readonly member: Member
}

export const MemberList = ({ organizationId, currency }: Props) => {
  const { t } = useTranslation("accounts")
  const { session } = useSession()
  const [openDialog, setOpenDialog] = useState<OpenDialog | "create" | null>(null)
  const members = usePages(
    [...membersKey, organizationId],
    (after) => (gateway) =>
      gateway.accounts.listMembers({
        query: { limit: PAGE, totals: "false", organization_id: organizationId, ...after }
      })
  )
  const create = useApiMutation(
    ({ name, cap }: NameForm) =>
      (gateway) =>
        gateway.admin.createMember({
          params: { id: organizationId },
          payload: { name, monthly_cap: cap }
        }),
    [membersKey]
  )
  const change = useApiMutation(
    ({ id, ...payload }: Change & { readonly id: string }) =>
      (gateway) =>
        gateway.accounts.changeMember({ params: { id }, payload }),
    [membersKey, keysKey]
  )
  const open = (dialog: typeof openDialog) => {
    create.reset()
    change.reset()
    setOpenDialog(dialog)
  }
  const close = () => setOpenDialog(null)
  const notifyOnSuccess = successNotice(close)
  const mayChange = hasRole(session, "operator", "finance")
  const mayMakeKeys = hasRole(session, "operator")
  const actionsOf = (member: Member) => [
    ...(mayMakeKeys ? [{ label: t("newKey"), onPick: () => open({ kind: "key", member }) }] : []),
    ...(mayChange
      ? [
          { label: t("change"), onPick: () => open({ kind: "change", member }) },
          {
            label: t(member.enabled ? "disable" : "enable"),
            isDangerous: member.enabled,
            onPick: () => open({ kind: "enable", member })
          }
        ]
      : [])
  ]
  const columns: ReadonlyArray<Column<Member>> = [
    {
      name: "name",
      label: t("name"),
      cell: (row) => (
        <Anchor component={Link} href={`/keys?member=${row.id}`} size="sm">
          {row.name}
        </Anchor>
      )
    },
    {
      name: "used",
      label: t("usedThisMonth"),
      isNumber: true,
      cell: (row) => <Amount value={row.month.used} currency={currency} />
    },
    {
      name: "held",
      label: t("held"),
      isNumber: true,
      cell: (row) => <Amount value={row.month.held} currency={currency} />
    },
    {
      name: "cap",
      label: t("cap"),
      isNumber: true,
      cell: (row) =>
        row.monthly_cap === null ? (
          t("noCap")
        ) : (
          <Amount value={row.monthly_cap} currency={currency} />
        )
    },
    { name: "state", label: t("state"), cell: (row) => <EnabledBadge isEnabled={row.enabled} /> },
    {
      name: "created",
      label: t("created"),
      cell: (row) => <Timestamp at={row.created_at} />,
      isHidden: true
    },
    { name: "id", label: "ID", cell: (row) => <Id id={row.id} />, isHidden: true },
    {
      name: "actions",
      label: t("actions"),
      isMenu: true,
      cell: (row) => <RowMenu of={row.name} actions={actionsOf(row)} />
    }
  ]
  return (
    <Stack>
      {mayChange ? (
        <Group>
          <Button onClick={() => open("create")}>{t("newMember")}</Button>
        </Group>
      ) : null}
      <DataTable label={t("members")} columns={columns} query={members} empty={t("noMembers")} />
      {openDialog === "create" ? (
        <NameDialog
          title={t("newMember")}
          action={t("create")}
          cap=""
          mutation={create}
          onSubmit={(form) => create.mutate(form, notifyOnSuccess(t("memberMade")))}
          onClose={close}
        />
      ) : null}
      {openDialog === null || openDialog === "create" ? null : openDialog.kind === "change" ? (
        <NameDialog
          title={t("changeMember")}
          action={t("save")}
          name={openDialog.member.name}
          cap={openDialog.member.monthly_cap ?? ""}
          mutation={change}
          onSubmit={({ name, cap }) =>
            change.mutate(
              { id: openDialog.member.id, name, monthly_cap: cap },
              notifyOnSuccess(t("memberChanged"))
            )
          }
          onClose={close}
        />
      ) : openDialog.kind === "enable" ? (
        <EnableDialog
          name={openDialog.member.name}
          isEnabled={openDialog.member.enabled}
          mutation={change}
          onConfirm={() =>
            change.mutate(
              { id: openDialog.member.id, enabled: !openDialog.member.enabled },
              notifyOnSuccess(t(openDialog.member.enabled ? "nowDisabled" : "nowEnabled"))
            )
          }
          onClose={close}
        />
      ) : (
        <KeyCreation organizationId={organizationId} member={openDialog.member} onClose={close} />
      )}
    </Stack>
  )
}
