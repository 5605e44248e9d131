/**
 * Orphans: orders whose vendor may have completed a job that nobody paid for, and how each was
 * resolved.
 */
import { Anchor, Button, Group, Stack, Text, Textarea, Title } from "@mantine/core"
import { useForm } from "@mantine/form"
import { notifications } from "@mantine/notifications"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { OrphanView } from "../../../features/history/HistoryApi.ts"
import { useApiMutation, usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { ActionDialog } from "../../parts/controls/ActionDialog.tsx"
import {
  ChoiceFilter,
  omitEmpty,
  TextFilter,
  useAddressValue
} from "../../parts/controls/addressFields.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { OrphanReason } from "../../parts/OrphanReason.tsx"
import { Amount, Id, shortId, Timestamp } from "../../parts/texts.tsx"

type Orphan = typeof OrphanView.Type

const area = ["orphans"] as const
const PAGE = 20
const LONGEST_NOTE = 500

const Resolution = ({
  orphan,
  onClose
}: {
  readonly orphan: Orphan
  readonly onClose: () => void
}) => {
  const { t } = useTranslation("health")
  const resolve = useApiMutation(
    (note: string) => (gateway) =>
      gateway.history.resolveOrphan({ params: { id: orphan.id }, payload: { note } }),
    [area, ["orders"]]
  )
  const form = useForm({
    initialValues: { note: "" },
    validate: { note: (text) => (text.trim() === "" ? t("noteNeeded") : null) }
  })
  return (
    <ActionDialog
      title={t("resolve")}
      action={t("resolveNow")}
      mutation={resolve}
      onSubmit={form.onSubmit(({ note }) =>
        resolve.mutate(note.trim(), {
          onSuccess: () => {
            notifications.show({ message: t("resolved") })
            onClose()
          }
        })
      )}
      onClose={onClose}
    >
      <Text size="sm">{t("resolveHint")}</Text>
      <Id id={orphan.id} isFull />
      <Textarea
        label={t("note")}
        autosize
        minRows={3}
        maxLength={LONGEST_NOTE}
        data-autofocus
        {...form.getInputProps("note")}
      />
    </ActionDialog>
  )
}

const Answer = ({ of: { answer } }: { readonly of: Orphan }) => {
  const { t } = useTranslation("health")
  if (answer === null) return t("noAnswer")
  return (
    <Text size="sm">
      {t("answerOf", { status: answer.status, bytes: answer.bytes })}
      {answer.request_id === null ? null : <Id id={answer.request_id} />}
    </Text>
  )
}

export const OrphanList = () => {
  const { t } = useTranslation("health")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [resolvedFilter] = useAddressValue("resolved")
  const [organization] = useAddressValue("organization")
  const [channel] = useAddressValue("channel")
  const [reason] = useAddressValue("reason")
  const [openOrphan, setOpenOrphan] = useState<Orphan | null>(null)
  const isResolved = resolvedFilter === "true"
  const orphans = usePages(
    [...area, { isResolved, organization, channel, reason }],
    (after) => (gateway) =>
      gateway.history.listOrphans({
        query: {
          ...{
            limit: PAGE,
            resolved: isResolved ? ("true" as const) : ("false" as const),
            ...after
          },
          ...omitEmpty("organization_id", organization),
          ...omitEmpty("channel", channel),
          ...omitEmpty("reason", reason)
        }
      })
  )
  const columns: ReadonlyArray<Column<Orphan>> = [
    {
      name: "order",
      label: t("order"),
      cell: ({ id }) => (
        <Anchor
          component={Link}
          href={`~/console/all-orders/${id}`}
          size="sm"
          className="id"
          title={id}
        >
          {shortId(id)}
        </Anchor>
      )
    },
    { name: "at", label: t("at"), cell: (row) => <Timestamp at={row.created_at} /> },
    { name: "channel", label: t("channel"), cell: (row) => row.channel },
    { name: "reason", label: t("reason"), cell: (row) => <OrphanReason reason={row.reason} /> },
    {
      name: "held",
      label: t("held"),
      isNumber: true,
      cell: (row) => <Amount value={row.amount_held} />
    },
    {
      name: "charge",
      label: t("charged"),
      isNumber: true,
      cell: (row) => (row.charge === null ? t("notCharged") : <Amount value={row.charge} />)
    },
    { name: "answer", label: t("answer"), cell: (row) => <Answer of={row} /> },
    {
      name: "upstream",
      label: t("upstreamId"),
      cell: (row) => (row.upstream_id === null ? t("unknown") : <Id id={row.upstream_id} />)
    },
    {
      name: "organization",
      label: t("organization"),
      cell: (row) => <Id id={row.organization_id} />,
      isHidden: true
    },
    {
      name: "model",
      label: t("vendorsModel"),
      cell: (row) => `${row.upstream_model} (${row.protocol})`,
      isHidden: true
    },
    ...(isResolved
      ? [
          {
            name: "resolved",
            label: t("resolvedAt"),
            cell: (row: Orphan) => <Timestamp at={row.resolved_at} />
          },
          {
            name: "note",
            label: t("note"),
            cell: (row: Orphan) => (
              <Text size="sm" className="said">
                {row.note}
              </Text>
            )
          }
        ]
      : hasRole(session, "operator", "finance")
        ? [
            {
              name: "resolve",
              label: shell("actions"),
              cell: (row: Orphan) => (
                <Button variant="default" size="compact-sm" onClick={() => setOpenOrphan(row)}>
                  {t("resolve")}
                </Button>
              )
            }
          ]
        : [])
  ]
  return (
    <Stack>
      <Title order={2} size="h4">
        {t("tabs.orphans")}
      </Title>
      <Text c="dimmed" size="sm">
        {t("orphansLead")}
      </Text>
      <Group align="flex-end">
        <ChoiceFilter
          name="resolved"
          label={t("which")}
          anyLabel={t("open")}
          choices={[{ value: "true", label: t("settled") }]}
        />
        <TextFilter name="organization" label={t("organizationId")} />
        <TextFilter name="channel" label={t("channel")} />
        <TextFilter name="reason" label={t("reason")} />
      </Group>
      <DataTable
        key={String(isResolved)}
        label={t("tabs.orphans")}
        columns={columns}
        query={orphans}
        empty={t("noOrphans")}
      />
      {openOrphan === null ? null : (
        <Resolution orphan={openOrphan} onClose={() => setOpenOrphan(null)} />
      )}
    </Stack>
  )
}
