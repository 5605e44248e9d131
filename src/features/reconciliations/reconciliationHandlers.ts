/**
 * Handlers of reconciliations. The vendor's list is read as a stream; all other bodies are JSON or
 * CSV.
 */
import { Effect, Option, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { InvalidRequest } from "../../domain/Errors.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { acceptsCsv, csvResponse } from "../../http/handlers/csv.ts"
import { parseTime } from "../../http/handlers/money/times.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import { csvText } from "../../runtime/texts/csvText.ts"
import { type ReconciledEntry, type Reconciliation, Reconciliations } from "./Reconciliations.ts"
import {
  ReconciledEntryView,
  ReconciliationsGroup,
  type ReconciliationView,
  type reconciliationQuery
} from "./ReconciliationsApi.ts"
import type { EntryKind } from "./reconciliation.ts"
import { readVendorList } from "./vendorListReader.ts"
import { type ListForm, listFormats } from "./vendorLists.ts"

type Query = {
  readonly [K in keyof typeof reconciliationQuery]?: (typeof reconciliationQuery)[K]["Type"]
}

/** The number of entries that an export reads from the store in one query. */
const EXPORT_PAGE_SIZE = 1000

const invalidParam = (param: string, expected: string) =>
  new InvalidRequest({ message: `${param}: Expected ${expected}`, param })

/**
 * Decodes the form of the list. Columns named in the query override the columns of its `format`.
 */
const decodeForm = Effect.fnUntraced(function* (query: Query, currency: string) {
  const { format, decimal = "point", thousands = null } = query
  const preset = format === undefined ? null : listFormats[format]
  const id = query.id ?? preset?.id
  if (id === undefined) {
    return yield* invalidParam("id", "the name of the column with the vendor's id")
  }
  const columns = {
    id,
    amount: query.amount ?? preset?.amount ?? null,
    units: query.units ?? preset?.units ?? null,
    currency: query.currency ?? preset?.currency ?? null
  }
  if (columns.amount === null && columns.units === null) {
    return yield* invalidParam("amount", "the name of the column with what is billed, or units")
  }
  if (decimal === thousands) {
    return yield* invalidParam("thousands", "another sign than that of decimals")
  }
  return { columns, numbers: { decimal, thousands }, currency } satisfies ListForm
})

const zeroTotal = {
  count: 0,
  amountHereNano: 0n,
  amountThereNano: 0n,
  unitsHereNano: 0n,
  unitsThereNano: 0n,
  reportedNano: 0n
}

const reconciliationView = (
  reconciliation: Reconciliation,
  currency: string
): ReconciliationView => {
  const { hasAmount, hasUnits, totals } = reconciliation
  const totalOf = (kind: EntryKind) => {
    const total = totals.find((other) => other.kind === kind) ?? { ...zeroTotal, kind }
    return {
      count: total.count,
      amount_here: hasAmount ? formatNano(total.amountHereNano) : null,
      amount_there: hasAmount ? formatNano(total.amountThereNano) : null,
      units_here: hasUnits ? formatNano(total.unitsHereNano) : null,
      units_there: hasUnits ? formatNano(total.unitsThereNano) : null,
      reported: formatNano(total.reportedNano)
    }
  }
  return {
    object: "reconciliation",
    id: reconciliation.id,
    channel: reconciliation.channelId,
    from: reconciliation.from.toISOString(),
    to: reconciliation.to.toISOString(),
    created_at: reconciliation.createdAt.toISOString(),
    created_by: reconciliation.author,
    lines: reconciliation.lines,
    currency,
    totals: {
      matched: totalOf("matched"),
      different: totalOf("different"),
      missing_there: totalOf("missing_there"),
      missing_here: totalOf("missing_here"),
      orphan: totalOf("orphan")
    }
  }
}

const entryView = (entry: ReconciledEntry): ReconciledEntryView => ({
  id: entry.id,
  kind: entry.kind,
  reason: entry.reason,
  vendor_id: entry.vendorId,
  line: entry.line,
  lines: entry.lines,
  order_id: entry.orderId,
  organization_id: entry.organizationId,
  orders: entry.orders,
  amount_here: formatNanoOrNull(entry.amountHereNano),
  amount_there: formatNanoOrNull(entry.amountThereNano),
  units_here: formatNanoOrNull(entry.unitsHereNano),
  units_there: formatNanoOrNull(entry.unitsThereNano),
  reported: formatNanoOrNull(entry.reportedNano),
  closed_at: entry.closedAt?.toISOString() ?? null
})
const entryColumns = Object.keys(ReconciledEntryView.fields)

export const layerReconciliationHandlers = HttpApiBuilder.group(
  operatorApi(ReconciliationsGroup),
  "reconciliations",
  Effect.fn(function* (handlers) {
    const reconciliations = yield* Reconciliations
    const { currency, timeZone, maxListBytes } = yield* Settings
    const viewOf = (reconciliation: Reconciliation) => reconciliationView(reconciliation, currency)

    /** Reads page after page, as fast as the client reads the response. */
    const allEntries = (id: string, kind: EntryKind | null, from: string | null) =>
      Stream.paginate(from, (after) =>
        Effect.map(
          reconciliations.entries(id, kind, { after, limit: EXPORT_PAGE_SIZE }),
          ({ data, hasMore }) => [
            data.map(entryView),
            hasMore ? Option.fromUndefinedOr(data.at(-1)?.id) : Option.none<string>()
          ]
        )
      )

    const withReconcile = handlers.handleRaw(
      "reconcile",
      Effect.fn("reconciliations.reconcile")(function* ({ query }) {
        const form = yield* decodeForm(query, currency)
        const from = yield* parseTime("from", query.from, { timeZone, laterDays: 0 })
        const to = yield* parseTime("to", query.to, { timeZone, laterDays: 1 })
        if (to <= from) return yield* invalidParam("to", "a day that is not before from")
        if (!(yield* reconciliations.hasChannel(query.channel))) {
          return yield* invalidParam("channel", "a channel that is or was in the catalog")
        }
        const { stream } = yield* HttpServerRequest.HttpServerRequest
        const { name: author } = yield* CurrentOperator
        const { columns } = form
        const result = yield* reconciliations.reconcile(
          {
            channelId: query.channel,
            from,
            to,
            author,
            compared: { amount: columns.amount !== null, units: columns.units !== null }
          },
          readVendorList(stream, {
            form,
            encoding: query.encoding ?? null,
            delimiter: query.delimiter ?? null,
            maxBytes: maxListBytes
          })
        )
        return viewOf(result)
      })
    )

    return withReconcile.handleAll({
      listReconciledEntries: Effect.fn("reconciliations.listReconciledEntries")(function* ({
        params,
        query
      }) {
        const { kind = null, ...pageQuery } = query
        const page = pageOf(pageQuery)
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const isExport = acceptsCsv(headers.accept)
        // An export reads one entry first, so that an unknown id or cursor is refused before the
        // CSV begins.
        const first = yield* reconciliations.entries(
          params.id,
          kind,
          isExport ? { ...page, limit: 1 } : page
        )
        return isExport
          ? csvResponse(csvText(entryColumns)(allEntries(params.id, kind, page.after)))
          : HttpServerResponse.jsonUnsafe(listView(first, entryView), {
              headers: { vary: "accept" }
            })
      }),
      listReconciliations: Effect.fn("reconciliations.listReconciliations")(function* ({ query }) {
        const { channel = null, ...page } = query
        return listView(yield* reconciliations.list(channel, pageOf(page)), viewOf)
      }),
      readReconciliation: Effect.fn("reconciliations.readReconciliation")(function* ({ params }) {
        return viewOf(yield* reconciliations.find(params.id))
      }),
      removeReconciliation: Effect.fn("reconciliations.removeReconciliation")(function* ({
        params
      }) {
        yield* reconciliations.remove(params.id)
        return { id: params.id, object: "reconciliation.deleted" as const, deleted: true }
      })
    })
  })
)
