/** All organisations, with their balances. */
import { Anchor, Button, Group, Stack, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useTranslation } from "react-i18next"
import { Link, useLocation } from "wouter"
import type { OrganizationView } from "../../../features/accounts/AccountsApi.ts"
import { useApiMutation, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import {
  ChoiceFilter,
  matchOption,
  omitEmpty,
  TextFilter,
  useAddressValue
} from "../../parts/controls/addressFields.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { enabledStates, organizationsKey, PAGE } from "./accessKeys.ts"
import { EnabledBadge } from "./EnabledBadge.tsx"
import { NameDialog, type NameForm } from "./NameDialog.tsx"

type Organization = typeof OrganizationView.Type

export const OrganizationList = () => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const [, navigate] = useLocation()
  const [name] = useAddressValue("name")
  const [stateFilter] = useAddressValue("state")
  const state = matchOption(stateFilter, enabledStates)
  const [isOpen, { open, close }] = useDisclosure(false)
  const organizations = usePages(
    [...organizationsKey, "list", { name, state }],
    (after) => (gateway) =>
      gateway.accounts.listOrganizations({
        query: {
          ...{ limit: PAGE, totals: "true" as const, ...after, ...omitEmpty("name", name) },
          ...(state === undefined ? {} : { state })
        }
      })
  )
  const create = useApiMutation(
    (form: NameForm) => (gateway) =>
      gateway.admin.createOrganization({ payload: { name: form.name } }),
    [organizationsKey]
  )
  const columns: ReadonlyArray<Column<Organization>> = [
    {
      name: "name",
      label: t("name"),
      cell: (row) => (
        <Anchor component={Link} href={`/organizations/${row.id}`} size="sm">
          {row.name}
        </Anchor>
      )
    },
    {
      name: "balance",
      label: t("balance"),
      isNumber: true,
      cell: (row) => <Amount value={row.balance} currency={row.currency} />
    },
    {
      name: "held",
      label: t("held"),
      isNumber: true,
      cell: (row) => <Amount value={row.held} currency={row.currency} />
    },
    { name: "state", label: t("state"), cell: (row) => <EnabledBadge isEnabled={row.enabled} /> },
    { name: "created", label: t("created"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "id", label: "id", cell: (row) => <Id id={row.id} />, isHidden: true }
  ]
  const totals = organizations.data?.pages[0]?.totals
  return (
    <Stack>
      <Group align="flex-end">
        <TextFilter name="name" label={t("nameBegins")} />
        <ChoiceFilter
          name="state"
          label={t("state")}
          choices={enabledStates.map((value) => ({ value, label: t(value) }))}
        />
        {hasRole(session, "operator", "finance") ? (
          <Button
            onClick={() => {
              create.reset()
              open()
            }}
          >
            {t("newOrganization")}
          </Button>
        ) : null}
      </Group>
      {totals === undefined ? null : (
        <Text size="sm" c="dimmed">
          {t("organizationTotals", { count: totals.count })}{" "}
          <Amount value={totals.balance} currency={totals.currency} />
        </Text>
      )}
      <DataTable label={t("organizations")} columns={columns} query={organizations} />
      {isOpen ? (
        <NameDialog
          title={t("newOrganization")}
          action={t("create")}
          mutation={create}
          onSubmit={(form) =>
            create.mutate(form, { onSuccess: ({ id }) => navigate(`/organizations/${id}`) })
          }
          onClose={close}
        />
      ) : null}
    </Stack>
  )
}
