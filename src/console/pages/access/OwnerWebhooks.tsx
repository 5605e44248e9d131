/** The webhook endpoints of the operators, or of any organisation. */
import { Select, Stack, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Route, Switch, useLocation } from "wouter"
import { useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { omitEmpty } from "../../parts/controls/addressFields.tsx"
import { EndpointList } from "../webhooks/EndpointList.tsx"
import { EndpointPage } from "../webhooks/EndpointPage.tsx"
import { callsOfOperator } from "../webhooks/hookCalls.ts"
import { organizationsKey } from "./accessKeys.ts"

/** The value in the address that selects the operators' own endpoints. */
const OPERATORS = "operators"
const PAUSE_MILLIS = 300
const MAX_MATCHES = 50

const Owner = ({ owner }: { readonly owner: string }) => {
  const { t } = useTranslation("access")
  const [, navigate] = useLocation()
  const [text, setText] = useState("")
  const [name] = useDebouncedValue(text, PAUSE_MILLIS)
  const organization = useApiQuery(
    [...organizationsKey, "one", owner],
    (gateway) => gateway.accounts.readOrganization({ params: { id: owner } }),
    { isEnabled: owner !== OPERATORS }
  )
  const matches = useApiQuery([...organizationsKey, "named", name], (gateway) =>
    gateway.accounts.listOrganizations({
      query: { limit: MAX_MATCHES, totals: "false", ...omitEmpty("name", name) }
    })
  )
  const operatorsOption = { value: OPERATORS, label: t("operatorsThemselves") }
  const names = new Map(
    [
      ...(organization.data === undefined ? [] : [organization.data]),
      ...(matches.data?.data ?? [])
    ].map((match) => [match.id, match.name])
  )
  const duplicateNames = new Set(
    [...names.values()].filter((each, at, all) => all.indexOf(each) !== at)
  )
  return (
    <Select
      label={t("endpointsOf")}
      description={t("endpointsOfHint")}
      maw={420}
      searchable
      allowDeselect={false}
      value={owner}
      data={[
        operatorsOption,
        ...[...names].map(([value, label]) => ({
          value,
          label: duplicateNames.has(label) ? `${label} (${value})` : label
        }))
      ]}
      onSearchChange={(input) =>
        setText(input === operatorsOption.label || [...names.values()].includes(input) ? "" : input)
      }
      onChange={(value) => {
        if (value !== null) navigate(`~/console/access/webhooks/${value}`)
      }}
    />
  )
}

export const OwnerWebhooks = ({ owner }: { readonly owner: string | null }) => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const calls = callsOfOperator(
    owner === null || owner === OPERATORS ? null : owner,
    hasRole(session, "operator")
  )
  const list = (
    <Stack>
      <Owner owner={owner ?? OPERATORS} />
      <Text c="dimmed" size="sm">
        {t(owner === null || owner === OPERATORS ? "ownWebhooksLead" : "webhooksLead")}
      </Text>
      <EndpointList
        calls={calls}
        addressOf={(id) => `~/console/access/webhooks/${owner ?? OPERATORS}/${id}`}
      />
    </Stack>
  )
  if (owner === null) return list
  return (
    <Switch>
      <Route path="/:id">
        {({ id }) => <EndpointPage calls={calls} id={id} listAddress="/" />}
      </Route>
      <Route>{list}</Route>
    </Switch>
  )
}
