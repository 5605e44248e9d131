/** The keys of an organisation or of one of its members, without their secrets. */
import { Button, Group, Stack, Text, Title } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import type { KeyView } from "../../../features/accounts/AccountsApi.ts"
import { useAsk, useDo, usePages, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import {
  ChoiceFilter,
  omitEmpty,
  oneOfWords,
  TextFilter,
  useAddressValue
} from "../../parts/controls/addressFields.tsx"
import { RowMenu } from "../../parts/controls/RowMenu.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Id, Moment } from "../../parts/texts.tsx"
import { keysKey, membersKey, PAGE } from "./accessKeys.ts"
import { KeyDialog, type KeyForm } from "./KeyDialog.tsx"

type Key = typeof KeyView.Type
const states = ["valid", "revoked"] as const

const KeyState = ({ of: { revoked_at, expires_at } }: { readonly of: Key }) => {
  const { t } = useTranslation("access")
  const isExpired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const [word, tone] =
    revoked_at !== null
      ? (["revoked", "off"] as const)
      : isExpired
        ? (["expired", "bad"] as const)
        : (["valid", "good"] as const)
  return <StateBadge tone={tone}>{t(word)}</StateBadge>
}

/** The member whose keys are listed, where the list is limited to one member. */
const Whose = ({ id, onAll }: { readonly id: string; readonly onAll: () => void }) => {
  const { t } = useTranslation("access")
  const member = useAsk([...membersKey, "one", id], (gateway) =>
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

type Opened = { readonly what: "change" | "revoke"; readonly key: Key }

export const KeyList = ({ organizationId }: { readonly organizationId: string }) => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const [memberId, setMember] = useAddressValue("member")
  const [name] = useAddressValue("key")
  const [standing] = useAddressValue("keys")
  const state = oneOfWords(standing, states)
  const [opened, setOpened] = useState<Opened | null>(null)
  const keys = usePages(
    [...keysKey, organizationId, { memberId, name, state }],
    (after) => (gateway) =>
      gateway.accounts.listKeys({
        query: {
          ...{ limit: PAGE, totals: "false" as const, organization_id: organizationId, ...after },
          ...omitEmpty("member_id", memberId),
          ...omitEmpty("name", name),
          ...(state === undefined ? {} : { state })
        }
      })
  )
  const change = useDo(
    ({ id, ...payload }: KeyForm & { readonly id: string }) =>
      (gateway) =>
        gateway.accounts.changeKey({ params: { id }, payload }),
    [keysKey]
  )
  const revoke = useDo(
    (id: string) => (gateway) => gateway.admin.revokeKey({ params: { id } }),
    [keysKey]
  )
  const open = (what: Opened) => {
    change.reset()
    revoke.reset()
    setOpened(what)
  }
  const close = () => setOpened(null)
  const done = (message: string) => ({
    onSuccess: () => {
      notifications.show({ message })
      close()
    }
  })
  const mayChange = mayAct(session, "operator")
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
      name: "rate",
      label: t("rate"),
      isNumber: true,
      isHidden: true,
      cell: (row) => row.requests_per_minute ?? t("usual")
    },
    {
      name: "expires",
      label: t("expires"),
      cell: (row) => (row.expires_at === null ? t("neverExpires") : <Moment at={row.expires_at} />)
    },
    {
      name: "revoked",
      label: t("revokedSince"),
      cell: (row) => <Moment at={row.revoked_at} />,
      isHidden: true
    },
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
      cell: (key) =>
        mayChange && key.revoked_at === null ? (
          <RowMenu
            of={key.name}
            actions={[
              { label: t("change"), onPick: () => open({ what: "change", key }) },
              {
                label: t("revoke"),
                isDangerous: true,
                onPick: () => open({ what: "revoke", key })
              }
            ]}
          />
        ) : null
    }
  ]
  return (
    <Stack gap="xs">
      <Title order={3}>{t("keys")}</Title>
      <Group align="flex-end">
        <TextFilter name="key" label={t("nameBegins")} />
        <ChoiceFilter
          name="keys"
          label={t("state")}
          choices={states.map((value) => ({ value, label: t(value) }))}
        />
        {memberId === "" ? null : <Whose id={memberId} onAll={() => setMember(null)} />}
      </Group>
      <DataTable label={t("keys")} columns={columns} query={keys} empty={t("noKeys")} />
      {opened?.what === "change" ? (
        <KeyDialog
          title={t("changeKey")}
          action={t("save")}
          known={opened.key}
          doing={change}
          onDo={(form) => change.mutate({ ...form, id: opened.key.id }, done(t("keyChanged")))}
          onClose={close}
        />
      ) : null}
      {opened?.what === "revoke" ? (
        <ActionDialog
          title={t("revoke")}
          action={t("revoke")}
          isDangerous
          doing={revoke}
          onDo={() =>
            revoke.mutate(opened.key.id, done(t("keyRevoked", { name: opened.key.name })))
          }
          onClose={close}
        >
          <Text size="sm">{t("revokeHint", { name: opened.key.name })}</Text>
        </ActionDialog>
      ) : null}
    </Stack>
  )
}
