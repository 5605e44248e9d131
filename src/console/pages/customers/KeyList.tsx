/** The keys of an organisation or of one of its members, without their secrets. */
import { Button, Group, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { KeyView } from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, useApiQuery, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import {
  ChoiceFilter,
  matchOption,
  omitEmpty,
  TextFilter,
  useAddressValue
} from "../../parts/controls/addressFields.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { successNotice } from "../../parts/controls/successNotice.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Timestamp } from "../../parts/texts.tsx"
import { OwnerName } from "../orders/owners.tsx"
import { keysKey, membersKey, PAGE } from "./accountKeys.ts"
import { KeyCreation } from "./KeyCreation.tsx"
import { KeyDialog, type KeyForm } from "./KeyDialog.tsx"

type Key = typeof KeyView.Type
const states = ["valid", "revoked"] as const

const KeyState = ({ of: { revoked_at, expires_at } }: { readonly of: Key }) => {
  const { t } = useTranslation("accounts")
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const [stateName, tone] =
    revoked_at !== null
      ? (["revoked", "off"] as const)
      : isExpired
        ? (["expired", "bad"] as const)
        : (["valid", "good"] as const)
  return <StateBadge tone={tone}>{t(stateName)}</StateBadge>
}

/** The member whose keys are listed, where the list is limited to one member. */
const MemberFilter = ({ id, onAll }: { readonly id: string; readonly onAll: () => void }) => {
  const { t } = useTranslation("accounts")
  const member = useApiQuery([...membersKey, "one", id], (gateway) =>
    gateway.accounts.readMember({ params: { id } })
  )
  return (
    <Group gap="xs">
      <Text size="sm">{t("keysOf", { name: member.data?.name ?? id })}</Text>
      <Button variant="subtle" size="compact-sm" onClick={onAll}>
        {t("allKeys")}
      </Button>
    </Group>
  )
}

type OpenDialog = { readonly kind: "change" | "revoke"; readonly key: Key }

export const KeyList = ({ organizationId }: { readonly organizationId: string }) => {
  const { t } = useTranslation("accounts")
  const { session } = useSession()
  const [memberId, setMember] = useAddressValue("member")
  const [name] = useAddressValue("key")
  const [stateFilter] = useAddressValue("keys")
  const state = matchOption(stateFilter, states)
  const [openDialog, setOpenDialog] = useState<OpenDialog | "create" | null>(null)
  const keys = usePages(
    [...keysKey, organizationId, { memberId, name, state }],
    (after) => (gateway) =>
      gateway.accounts.listKeys({
        query: {
          limit: PAGE,
          totals: "false",
          organization_id: organizationId,
          ...after,
          ...omitEmpty("member_id", memberId),
          ...omitEmpty("name", name),
          ...(state === undefined ? {} : { state })
        }
      })
  )
  const change = useApiMutation(
    ({ id, ...payload }: KeyForm & { readonly id: string }) =>
      (gateway) =>
        gateway.accounts.changeKey({ params: { id }, payload }),
    [keysKey]
  )
  const revoke = useApiMutation(
    (id: string) => (gateway) => gateway.admin.revokeKey({ params: { id } }),
    [keysKey]
  )
  const open = (dialog: OpenDialog) => {
    change.reset()
    revoke.reset()
    setOpenDialog(dialog)
  }
  const close = () => setOpenDialog(null)
  const notifyOnSuccess = successNotice(close)
  const mayChange = hasRole(session, "operator")
  const columns: ReadonlyArray<Column<Key>> = [
    { name: "name", label: t("name"), cell: (row) => row.name },
    {
      name: "scopes",
      label: t("scopes"),
      cell: (row) => (
        <Text size="sm" c="dimmed">
          {row.scopes.join(", ")}
        </Text>
      )
    },
    {
      name: "models",
      label: t("models"),
      cell: (row) => row.models?.join(", ") ?? t("allModels")
    },
    { name: "state", label: t("state"), cell: (row) => <KeyState of={row} /> },
    {
      name: "member",
      label: t("member"),
      cell: (row) => <OwnerName owner="member" id={row.member_id} />
    },
    {
      name: "rate",
      label: t("rate"),
      isNumber: true,
      isHidden: true,
      cell: (row) => row.requests_per_minute ?? t("usual")
    },
    {
      name: "expires",
      label: t("expires"),
      cell: (row) =>
        row.expires_at === null ? t("neverExpires") : <Timestamp at={row.expires_at} />
    },
    {
      name: "revoked",
      label: t("revokedSince"),
      cell: (row) => <Timestamp at={row.revoked_at} />,
      isHidden: true
    },
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
      cell: (key) =>
        mayChange && key.revoked_at === null ? (
          <RowMenu
            of={key.name}
            actions={[
              { label: t("change"), onPick: () => open({ kind: "change", key }) },
              {
                label: t("revoke"),
                isDangerous: true,
                onPick: () => open({ kind: "revoke", key })
              }
            ]}
          />
        ) : null
    }
  ]
  return (
    <Stack>
      <Group align="flex-end">
        <TextFilter name="key" label={t("nameBegins")} />
        <ChoiceFilter
          name="keys"
          label={t("state")}
          choices={states.map((value) => ({ value, label: t(value) }))}
        />
        {memberId === "" ? null : <MemberFilter id={memberId} onAll={() => setMember(null)} />}
        {mayChange ? (
          <Button ml="auto" onClick={() => setOpenDialog("create")}>
            {t("newKey")}
          </Button>
        ) : null}
      </Group>
      <DataTable label={t("keys")} columns={columns} query={keys} empty={t("noKeys")} />
      {openDialog === "create" ? (
        <KeyCreation organizationId={organizationId} memberId={memberId} onClose={close} />
      ) : openDialog?.kind === "change" ? (
        <KeyDialog
          title={t("changeKey")}
          action={t("save")}
          apiKey={openDialog.key}
          mutation={change}
          onSubmit={(form) =>
            change.mutate({ ...form, id: openDialog.key.id }, notifyOnSuccess(t("keyChanged")))
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
              openDialog.key.id,
              notifyOnSuccess(t("keyRevoked", { name: openDialog.key.name }))
            )
          }
          onClose={close}
        >
          <Text size="sm">{t("revokeHint", { name: openDialog.key.name })}</Text>
        </ActionDialog>
      ) : null}
    </Stack>
  )
}
