/** The reconciliations of vendors' lists with the ledger, and the result of each. */
import { Anchor, Button, Group, Select, Stack, Text, Title } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Link, Route, Switch, useLocation, useParams } from "wouter"
import type {
  ReconciledEntryView,
  ReconciliationView
} from "../../../../features/reconciliations/ReconciliationsApi.ts"
import { type EntryKind, entryKinds } from "../../../../features/reconciliations/reconciliation.ts"
import { useApiMutation, useApiQuery, usePages, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { useAddressFilters } from "../../../parts/addressFilters.ts"
import { BackLink } from "../../../parts/controls/BackLink.tsx"
import { type Column, DataTable, RowTable } from "../../../parts/DataTable.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { ConfirmDialog } from "../../../parts/money/ConfirmDialog.tsx"
import { useDownload } from "../../../parts/money/downloads.ts"
import { QueryView } from "../../../parts/QueryView.tsx"
import { Amount, Id, Timestamp } from "../../../parts/texts.tsx"
import { ReconcileButton } from "./ReconciliationForm.tsx"

const orDash = (amount: string | null) => (amount === null ? "–" : <Amount value={amount} />)
const sides = ["amount_here", "amount_there", "units_here", "units_there", "reported"] as const

const useSides = <Row extends Readonly<Record<(typeof sides)[number], string | null>>>() => {
  const { t } = useTranslation("books")
  return sides.map(
    (name): Column<Row> => ({
      name,
      label: t(`reconcile.sides.${name}`),
      cell: (row) => orDash(row[name]),
      isNumber: true
    })
  )
}

const Totals = ({ reconciliation }: { readonly reconciliation: ReconciliationView }) => {
  const { t } = useTranslation("books")
  const rows = entryKinds.map((kind) => ({ kind, ...reconciliation.totals[kind] }))
  return (
    <RowTable
      label={t("reconcile.totals")}
      rows={rows}
      columns={[
        {
          name: "kind",
          label: t("reconcile.kind"),
          cell: ({ kind }) => t(`reconcile.kinds.${kind}`)
        },
        { name: "count", label: t("reconcile.count"), cell: ({ count }) => count, isNumber: true },
        ...useSides<(typeof rows)[number]>()
      ]}
    />
  )
}

const Entries = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("books")
  const { get, set } = useAddressFilters()
  const kind = entryKinds.find((reconciliation) => reconciliation === get("kind"))
  const query = kind === undefined ? {} : { kind }
  const entries = usePages(
    ["books", "reconciliations", id, "entries", query],
    (after) => (gateway) =>
      gateway.reconciliations.listReconciledEntries({
        params: { id },
        query: { ...after, ...query, limit: 50 }
      })
  )
  const columns: ReadonlyArray<Column<ReconciledEntryView>> = [
    { name: "kind", label: t("reconcile.kind"), cell: (row) => t(`reconcile.kinds.${row.kind}`) },
    {
      name: "reason",
      label: t("reconcile.reason"),
      cell: ({ reason }) => <span className="said">{reason ?? ""}</span>
    },
    {
      name: "vendor",
      label: t("reconcile.vendorId"),
      cell: (row) => (row.vendor_id === null ? "–" : <Id id={row.vendor_id} />)
    },
    {
      name: "line",
      label: t("reconcile.line"),
      cell: ({ line, lines }) => (line === null ? "–" : lines > 1 ? `${line} (${lines})` : line),
      isNumber: true
    },
    {
      name: "order",
      label: t("reconcile.order"),
      cell: (row) => (row.order_id === null ? "–" : <Id id={row.order_id} />)
    },
    ...useSides<ReconciledEntryView>(),
    {
      name: "closed",
      label: t("reconcile.closed"),
      cell: (row) => <Timestamp at={row.closed_at} />,
      isHidden: true
    }
  ]
  return (
    <Stack gap="sm">
      <Select<EntryKind | "all">
        label={t("reconcile.only")}
        allowDeselect={false}
        value={kind ?? "all"}
        data={[
          { value: "all", label: t("reconcile.everything") },
          ...entryKinds.map((value) => ({ value, label: t(`reconcile.kinds.${value}`) }))
        ]}
        onChange={(value) => set({ kind: value === "all" ? null : value })}
        maw={300}
      />
      {kind === undefined ? null : (
        <Text size="sm" c="dimmed">
          {t(`reconcile.meanings.${kind}`)}
        </Text>
      )}
      <DataTable label={t("reconcile.entries")} columns={columns} query={entries} />
    </Stack>
  )
}

const Actions = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("books")
  const { session } = useSession()
  const [, navigate] = useLocation()
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  const download = useDownload()
  const removal = useApiMutation(
    () => (gateway) => gateway.reconciliations.removeReconciliation({ params: { id } }),
    [["books", "reconciliations", "list"]]
  )
  return (
    <>
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          loading={download.isPending}
          onClick={() =>
            download.mutate({
              path: `/admin/v1/reconciliations/${encodeURIComponent(id)}/entries`,
              accept: "text/csv",
              name: `reconciliation-${id}.csv`
            })
          }
        >
          {t("reconcile.download")}
        </Button>
        {hasRole(session, "finance") ? (
          <Button variant="default" onClick={() => setIsDialogOpen(true)}>
            {t("reconcile.remove")}
          </Button>
        ) : null}
      </Group>
      {download.error === null ? null : <FailureNote error={download.error} />}
      <ConfirmDialog
        isOpen={isDialogOpen}
        title={t("reconcile.remove")}
        text={t("reconcile.removeText")}
        action={t("reconcile.remove")}
        isBusy={removal.isPending}
        error={removal.error}
        onConfirm={() => removal.mutate(undefined, { onSuccess: () => navigate("/") })}
        onClose={() => setIsDialogOpen(false)}
      />
    </>
  )
}

const ReconciliationDetails = () => {
  const { t } = useTranslation("books")
  const { id = "" } = useParams<{ id: string }>()
  const reconciliation = useApiQuery(["books", "reconciliations", id], (gateway) =>
    gateway.reconciliations.readReconciliation({ params: { id } })
  )
  return (
    <Stack>
      <BackLink href="/" label={t("reconcile.all")} />
      <QueryView query={reconciliation} lines={8}>
        {(reconciliation) => (
          <Stack>
            <Title order={2} size="h3">
              {t("reconcile.of", { channel: reconciliation.channel })}
            </Title>
            <Text size="sm">
              <Timestamp at={reconciliation.from} /> – <Timestamp at={reconciliation.to} /> ·{" "}
              {t("reconcile.lines", { count: reconciliation.lines })} · {reconciliation.currency} ·{" "}
              {reconciliation.created_by}, <Timestamp at={reconciliation.created_at} />
            </Text>
            <Actions id={id} />
            <Totals reconciliation={reconciliation} />
            <Title order={3} size="h4">
              {t("reconcile.entries")}
            </Title>
            <Entries id={id} />
          </Stack>
        )}
      </QueryView>
    </Stack>
  )
}

const ReconciliationList = () => {
  const { t } = useTranslation("books")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const [, navigate] = useLocation()
  const reconciliations = usePages(
    ["books", "reconciliations", "list"],
    (after) => (gateway) =>
      gateway.reconciliations.listReconciliations({ query: { ...after, limit: 20 } })
  )
  const count = (kind: EntryKind): Column<ReconciliationView> => ({
    name: kind,
    label: t(`reconcile.kinds.${kind}`),
    cell: ({ totals }) => totals[kind].count,
    isNumber: true
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Text c="dimmed">{t("reconcile.lead")}</Text>
        {hasRole(session, "finance") ? (
          <ReconcileButton onCreate={(id) => navigate(`/${id}`)} />
        ) : (
          <Text size="sm" c="dimmed">
            {shell("noRight")}
          </Text>
        )}
      </Group>
      <DataTable
        label={t("tabs.reconciliations")}
        query={reconciliations}
        empty={t("reconcile.none")}
        columns={[
          {
            name: "created",
            label: t("journal.at"),
            cell: (row) => (
              <Anchor component={Link} href={`/${row.id}`} size="sm">
                <Timestamp at={row.created_at} />
              </Anchor>
            )
          },
          { name: "channel", label: t("reconcile.channel"), cell: ({ channel }) => channel },
          {
            name: "period",
            label: t("reconcile.period"),
            cell: ({ from, to }) => (
              <>
                <Timestamp at={from} /> – <Timestamp at={to} />
              </>
            ),
            isHidden: true
          },
          ...entryKinds.map(count),
          {
            name: "by",
            label: t("journal.author"),
            cell: (row) => <span className="said">{row.created_by}</span>
          }
        ]}
      />
    </Stack>
  )
}

export const Reconciliations = () => (
  <Switch>
    <Route path="/:id">
      <ReconciliationDetails />
    </Route>
    <Route>
      <ReconciliationList />
    </Route>
  </Switch>
)
