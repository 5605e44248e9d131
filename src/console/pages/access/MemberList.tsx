/** The members of an organisation, with their caps and this month's spend. */
import { Anchor, Button, Group, Stack, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { MemberChangeBody, MemberView } from "../../../features/accounts/AccountsApi.ts"
import { useDo, usePages, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { useAddressValue } from "../../parts/controls/addressFields.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Amount, Id, Moment } from "../../parts/texts.tsx"
import { keysKey, membersKey, PAGE } from "./accessKeys.ts"
import { EnableDialog, EnabledBadge } from "./EnabledBadge.tsx"
import { KeyCreation } from "./KeyCreation.tsx"
import { NameDialog, type NameForm } from "./NameDialog.tsx"

type Member = typeof MemberView.Type
type Change = typeof MemberChangeBody.Type

interface Props {
  readonly organizationId: string
  readonly currency: string
}

type Opened = {
  readonly what: "change" | "enable" | "key"
  readonly member: Member
}

export const MemberList = ({ organizationId, currency }: Props) => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const [, filterKeys] = useAddressValue("member")
  const [opened, setOpened] = useState<Opened | "create" | null>(null)
  const members = usePages(
    [...membersKey, organizationId],
    (after) => (gateway) =>
      gateway.accounts.listMembers({
        query: { limit: PAGE, totals: "false", organization_id: organizationId, ...after }
      })
  )
  const create = useDo(
    ({ name, cap }: NameForm) =>
      (gateway) =>
        gateway.admin.createMember({
          params: { id: organizationId },
          payload: { name, monthly_cap: cap }
        }),
    [membersKey]
  )
  const change = useDo(
    ({ id, ...payload }: Change & { readonly id: string }) =>
      (gateway) =>
        gateway.accounts.changeMember({ params: { id }, payload }),
    [membersKey, keysKey]
  )
  const open = (what: typeof opened) => {
    create.reset()
    change.reset()
    setOpened(what)
  }
  const close = () => setOpened(null)
  const done = (message: string) => ({
    onSuccess: () => {
      notifications.show({ message })
      close()
    }
  })
  const mayChange = mayAct(session, "operator", "finance")
  const mayMakeKeys = mayAct(session, "operator")
  const actionsOf = (member: Member) => [
    ...(mayMakeKeys ? [{ label: t("newKey"), onPick: () => open({ what: "key", member }) }] : []),
    ...(mayChange
      ? [
          { label: t("change"), onPick: () => open({ what: "change", member }) },
          {
            label: t(member.enabled ? "disable" : "enable"),
            isDangerous: member.enabled,
            onPick: () => open({ what: "enable", member })
          }
        ]
      : [])
  ]
  const columns: ReadonlyArray<Column<Member>> = [
    {
      name: "name",
      label: t("name"),
      cell: (row) => (
        <Anchor component="button" type="button" size="sm" onClick={() => filterKeys(row.id)}>
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
      cell: (row) => <Moment at={row.created_at} />,
      isHidden: true
    },
    { name: "id", label: "id", cell: (row) => <Id id={row.id} />, isHidden: true },
    {
      name: "actions",
      label: t("actions"),
      cell: (row) => <RowMenu of={row.name} actions={actionsOf(row)} />
    }
  ]
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3}>{t("members")}</Title>
        {mayChange ? (
          <Button variant="default" onClick={() => open("create")}>
            {t("newMember")}
          </Button>
        ) : null}
      </Group>
      <DataTable label={t("members")} columns={columns} query={members} empty={t("noMembers")} />
      {opened === "create" ? (
        <NameDialog
          title={t("newMember")}
          action={t("create")}
          cap=""
          doing={create}
          onDo={(form) => create.mutate(form, done(t("memberMade")))}
          onClose={close}
        />
      ) : null}
      {opened === null || opened === "create" ? null : opened.what === "change" ? (
        <NameDialog
          title={t("changeMember")}
          action={t("save")}
          name={opened.member.name}
          cap={opened.member.monthly_cap ?? ""}
          doing={change}
          onDo={({ name, cap }) =>
            change.mutate(
              { id: opened.member.id, name, monthly_cap: cap },
              done(t("memberChanged"))
            )
          }
          onClose={close}
        />
      ) : opened.what === "enable" ? (
        <EnableDialog
          name={opened.member.name}
          isEnabled={opened.member.enabled}
          doing={change}
          onDo={() =>
            change.mutate(
              { id: opened.member.id, enabled: !opened.member.enabled },
              done(t(opened.member.enabled ? "nowDisabled" : "nowEnabled"))
            )
          }
          onClose={close}
        />
      ) : (
        <KeyCreation member={opened.member} onClose={close} />
      )}
    </Stack>
  )
}
