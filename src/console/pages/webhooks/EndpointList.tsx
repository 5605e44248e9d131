/** The endpoints of one owner, and a button that adds one. */
import { Anchor, Button, Group, Stack, Text } from "@mantine/core"
import { useDisclosure } from "@mantine/hooks"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link, useLocation } from "wouter"
import { useApiMutation, usePages } from "../../gateway/hooks.tsx"
import { SecretDialog } from "../../parts/controls/SecretDialog.tsx"
import { StateBadge } from "../../parts/controls/StateBadge.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { Timestamp } from "../../parts/texts.tsx"
import { EndpointDialog } from "./EndpointDialog.tsx"
import type { Endpoint, EndpointForm, EndpointWithSecret, HookCalls } from "./hookCalls.ts"

interface Props {
  readonly calls: HookCalls
  readonly lead: string
  /** The address of the page of one endpoint. */
  readonly addressOf: (id: string) => string
}

const timeOf = (seconds: number): string => new Date(seconds * 1000).toISOString()

export const EndpointState = ({ endpoint }: { readonly endpoint: Endpoint }) => {
  const { t } = useTranslation("webhooks")
  const isFailing = endpoint.status === "enabled" && endpoint.failing_since !== null
  return (
    <StateBadge tone={endpoint.status === "disabled" ? "off" : isFailing ? "bad" : "good"}>
      {isFailing ? t("failing") : t(`states.${endpoint.status}`)}
    </StateBadge>
  )
}

export const EndpointList = ({ calls, lead, addressOf }: Props) => {
  const { t } = useTranslation("webhooks")
  const endpoints = usePages([...calls.area, "list"], calls.list)
  const [isOpen, { open, close }] = useDisclosure(false)
  const [, navigate] = useLocation()
  const [created, setCreated] = useState<EndpointWithSecret | null>(null)
  const create = useApiMutation((form: EndpointForm) => calls.create(form), [calls.area])
  const columns: ReadonlyArray<Column<Endpoint>> = [
    {
      name: "name",
      label: t("name"),
      cell: ({ id, name }) => (
        <Anchor component={Link} href={addressOf(id)} size="sm">
          {name}
        </Anchor>
      )
    },
    {
      name: "url",
      label: t("url"),
      cell: ({ url }) => (
        <Text size="sm" className="said">
          {url === "" ? t("ofOrders") : url}
        </Text>
      )
    },
    {
      name: "events",
      label: t("events"),
      cell: ({ event_types }) => (
        <Text size="sm" c="dimmed">
          {event_types.join(", ")}
        </Text>
      )
    },
    { name: "state", label: t("state"), cell: (row) => <EndpointState endpoint={row} /> },
    {
      name: "created",
      label: t("created"),
      cell: ({ created_at }) => <Timestamp at={timeOf(created_at)} />,
      isHidden: true
    }
  ]
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed">{lead}</Text>
        {calls.mayChange ? <Button onClick={open}>{t("create")}</Button> : null}
      </Group>
      <DataTable label={t("endpoints")} columns={columns} query={endpoints} empty={t("noneYet")} />
      {isOpen ? (
        <EndpointDialog
          title={t("create")}
          action={t("createNow")}
          events={calls.events}
          mutation={create}
          onSubmit={(form) =>
            create.mutate(form, {
              onSuccess: (endpoint) => {
                close()
                setCreated(endpoint)
              }
            })
          }
          onClose={() => {
            create.reset()
            close()
          }}
        />
      ) : null}
      {created === null ? null : (
        <SecretDialog
          title={t("secretTitle")}
          label={t("secret")}
          secret={created.signing_secret}
          // The page of the endpoint has its test and its deliveries.
          onConfirm={() => navigate(addressOf(created.id))}
        />
      )}
    </Stack>
  )
}
