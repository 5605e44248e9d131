/** The webhook endpoints of the operators, or of any organisation. */
import { Select, Stack, Text } from "@mantine/core"
import { useDebouncedValue } from "@mantine/hooks"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Route, Switch, useLocation } from "wouter"
import { useAsk, useSession } from "../../gateway/hooks.tsx"
import { mayAct } from "../../gateway/session.ts"
import { omitEmpty } from "../../parts/controls/addressFields.tsx"
import { EndpointList } from "../webhooks/EndpointList.tsx"
import { EndpointPage } from "../webhooks/EndpointPage.tsx"
import { callsOfOperator } from "../webhooks/hookCalls.ts"
import { organizationsKey } from "./accessKeys.ts"

/** The value in the address that selects the operators' own endpoints. */
const OWN = "operators"
const PAUSE_MILLIS = 300
const MOST = 50

const Owner = ({ owner }: { readonly owner: string }) => {
  const { t } = useTranslation("access")
  const [, go] = useLocation()
  const [text, setText] = useState("")
  const [name] = useDebouncedValue(text, PAUSE_MILLIS)
  const chosen = useAsk(
    [...organizationsKey, "one", owner],
    (gateway) => gateway.accounts.readOrganization({ params: { id: owner } }),
    { when: owner !== OWN }
  )
  const found = useAsk([...organizationsKey, "named", name], (gateway) =>
    gateway.accounts.listOrganizations({
      query: { limit: MOST, totals: "false", ...omitEmpty("name", name) }
    })
  )
  const own = { value: OWN, label: t("operatorsThemselves") }
  const names = new Map(
    [...(chosen.data === undefined ? [] : [chosen.data]), ...(found.data?.data ?? [])].map(
      (one) => [one.id, one.name]
    )
  )
  const twice = new Set([...names.values()].filter((each, at, all) => all.indexOf(each) !== at))
  return (
    <Select
      label={t("endpointsOf")}
      description={t("endpointsOfHint")}
      maw={420}
      searchable
      allowDeselect={false}
      value={owner}
      data={[
        own,
        ...[...names].map(([value, label]) => ({
          value,
          label: twice.has(label) ? `${label} (${value})` : label
        }))
      ]}
      onSearchChange={(typed) =>
        setText(typed === own.label || [...names.values()].includes(typed) ? "" : typed)
      }
      onChange={(value) => {
        if (value !== null) go(`~/console/access/webhooks/${value}`)
      }}
    />
  )
}

export const AnyWebhooks = ({ owner }: { readonly owner: string | null }) => {
  const { t } = useTranslation("access")
  const { session } = useSession()
  const calls = callsOfOperator(
    owner === null || owner === OWN ? null : owner,
    mayAct(session, "operator")
  )
  const list = (
    <Stack>
      <Owner owner={owner ?? OWN} />
      <Text c="dimmed" size="sm">
        {t(owner === null || owner === OWN ? "ownWebhooksLead" : "webhooksLead")}
      </Text>
      <EndpointList
        calls={calls}
        addressOf={(id) => `~/console/access/webhooks/${owner ?? OWN}/${id}`}
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
