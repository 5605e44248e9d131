/** All organisations with their balances, and their total spend. */
import { Badge, Button, Group, Stack, Switch, Text, TextInput, Title } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { OrganizationView } from "../../../features/accounts/AccountsApi.ts"
import { usePages } from "../../gateway/hooks.tsx"
import { useAddressFilters } from "../../parts/addressFilters.ts"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Figures } from "../../parts/money/Figures.tsx"
import { SpendSeries } from "../../parts/money/SpendSeries.tsx"
import { Amount, Id, Timestamp } from "../../parts/texts.tsx"
import { useNames } from "./names.ts"

type Organization = typeof OrganizationView.Type
const TYPING_MILLIS = 300
const REFRESH_MILLIS = 15_000

const useColumns = (): ReadonlyArray<Column<Organization>> => {
  const { t } = useTranslation("books")
  return [
    {
      name: "name",
      label: t("organizations.name"),
      cell: (row) => (
        <Group gap={6} wrap="nowrap">
          <Button
            component={Link}
            href={`/organizations/${encodeURIComponent(row.id)}`}
            variant="subtle"
            size="compact-sm"
          >
            {row.name}
          </Button>
          {row.enabled ? null : <Badge variant="default">{t("disabled")}</Badge>}
          {row.stopped_reason === null ? null : <Badge color="red.9">{t("stoppedShort")}</Badge>}
        </Group>
      )
    },
    { name: "id", label: t("organizations.id"), cell: ({ id }) => <Id id={id} /> },
    ...(["balance", "held", "available"] as const).map((name) => ({
      name,
      label: t(`pool.${name}`),
      cell: (row: Organization) => <Amount value={row[name]} />,
      isNumber: true
    })),
    {
      name: "low",
      label: t("low.short"),
      cell: (row) => (row.low_balance === null ? "–" : <Amount value={row.low_balance} />),
      isNumber: true
    },
    {
      name: "created",
      label: t("organizations.created"),
      cell: (row) => <Timestamp at={row.created_at} />,
      isHidden: true
    }
  ]
}

const Organizations = () => {
  const { t } = useTranslation("books")
  const { get, set } = useAddressFilters()
  const type = useDebouncedCallback((text: string) => set({ name: text.trim() }), TYPING_MILLIS)
  const name = get("name") === "" ? {} : { name: get("name") }
  const state = get("disabled") === "yes" ? {} : { state: "enabled" as const }
  const organizations = usePages(
    ["books", "all", "organizations", name, state],
    (after) => (gateway) =>
      gateway.accounts.listOrganizations({
        query: { ...after, ...name, ...state, limit: 20, totals: "true" }
      }),
    { intervalMillis: REFRESH_MILLIS }
  )
  const totals = organizations.data?.pages[0]?.totals
  return (
    <Stack gap="sm">
      {totals === undefined ? null : (
        <Figures
          figures={[
            { label: t("organizations.count"), value: totals.count },
            ...(["balance", "held", "available"] as const).map((one) => ({
              label: t(`pool.${one}`),
              value: <Amount value={totals[one]} currency={totals.currency} />
            }))
          ]}
        />
      )}
      <Group align="flex-end">
        <TextInput
          label={t("organizations.search")}
          defaultValue={get("name")}
          onChange={(event) => type(event.currentTarget.value)}
          onBlur={() => type.flush()}
        />
        <Switch
          label={t("organizations.disabled")}
          checked={get("disabled") === "yes"}
          onChange={(event) => set({ disabled: event.currentTarget.checked ? "yes" : null })}
          mb={8}
        />
      </Group>
      <DataTable
        label={t("organizations.title")}
        columns={useColumns()}
        query={organizations}
        empty={t("organizations.none")}
      />
    </Stack>
  )
}

export const AllBooks = () => {
  const { t } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const names = useNames(null)
  return (
    <Stack>
      <Organizations />
      <Title order={2} size="h4">
        {t("spendOfAll")}
      </Title>
      <SpendSeries
        area={["books", "all"]}
        groups={["model", "modality", "organization", "member", "key", "channel", "tag"]}
        call={(query) => (gateway) => gateway.usageSums.readSeries({ query })}
        nameOf={(_, name) => names.get(name) ?? name}
      />
      <Text size="sm" c="dimmed">
        {money("spend.note")}
      </Text>
    </Stack>
  )
}
