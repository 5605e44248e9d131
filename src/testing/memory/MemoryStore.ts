/** The state that all stores in memory share, as stores in PostgreSQL share one database. */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { AppliedPriceList, PriceList } from "../../domain/catalog/PriceList.ts"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Quote } from "../../domain/money/Quote.ts"
import type { VendorBill } from "../../domain/money/vendorBill.ts"
import type { OrderFailure } from "../../domain/VendorOutcome.ts"
import type { VideoStills } from "../../domain/video/videoStills.ts"
import type { SealedMonth } from "../../features/statements/Statements.ts"
import { cutPage, type Page, type PageRequest, unknownCursor } from "../../runtime/Page.ts"
import type { AnsweredCall, CallSubject, VendorCall } from "../../services/CallLog.ts"
import { type CatalogSnapshot, emptySnapshot } from "../../services/Catalog.ts"
import type {
  CallEnds,
  ChannelCount,
  ChannelFailure,
  Cooldown,
  CooldownTarget
} from "../../services/channels/ChannelRecords.ts"
import type { RequestKey, StoredAnswer } from "../../services/IdempotencyKeys.ts"
import type { HoldRequest, Pool, RefusedJob, UsageEntry, VendorJob } from "../../services/Ledger.ts"
import type { OrphanRecord } from "../../services/Orphans.ts"
import type { AuditEntry } from "../../services/operators/AdminAudit.ts"
import type { ArchivedFile } from "../../services/results/ArchiveBucket.ts"
import type { LoggedCall } from "../../services/TaskHistory.ts"
import type { NewTask, Task } from "../../services/TaskRepo.ts"
import { type UsageRecord, usageId } from "../../services/UsageLog.ts"
import type {
  StoredArchive,
  StoredEndpoint,
  StoredFile,
  StoredMessage
} from "../delivery/storedWebhooks.ts"
import type { BudgetUse, StoredBudget } from "../money/storedBudgets.ts"
import type { StoredReconciliation } from "../money/storedReconciliations.ts"
import type { StoredTransfer } from "../money/storedTransfers.ts"
import type { StoredApiKey, StoredMember, StoredOperator } from "../operators/storedAccounts.ts"

/** A point in time. `turn` is a sequence number that orders moments of the same millisecond. */
export interface Moment {
  readonly at: Date
  readonly turn: number
}

/** A task in memory. All times are in milliseconds since 1970. */
export interface StoredTask {
  readonly ordered: NewTask
  submitDeadline: number
  deadline: number
  state: Task["state"]
  upstreamId: string | null
  accountVersion: number | null
  keyName: string | null
  videoUrl: string | null
  stills: VideoStills | null
  /** The result as JSON text. */
  result: string | null
  files: ReadonlyArray<ArchivedFile> | null
  completionTokens: bigint | null
  errorCode: string | null
  errorMessage: string | null
  acceptedAt: number | null
  askedAt: number | null
  nextPollAt: number | null
  unknownSince: number | null
  cancelSentAt: number | null
  finishedAt: number | null
  erasedAt: number | null
  lease: bigint
}

/** An order is one row: its hold, its task if it has one, its end, and its charge. */
export interface StoredOrder {
  readonly request: HoldRequest
  /** The job on the current channel; at first the job of the request. */
  job: VendorJob
  cost: unknown
  costNano: bigint | null
  vendorBill: VendorBill | null
  reportedCostNano: bigint | null
  refusals: Array<RefusedJob>
  failure: OrderFailure | null
  /** The first day of the order's month, such as `2026-01-01`. */
  readonly month: string
  readonly countsIn: Array<BudgetUse>
  readonly held: Moment
  readonly expiresAt: number
  readonly task: StoredTask | null
  state: "open" | "captured" | "released"
  chargeNano: bigint
  usage: UsageEntry | null
  call: AnsweredCall | null
  ended: Moment | null
  closedBy: string | null
}

interface StoredPool {
  balanceNano: bigint
  heldNano: bigint
  /** The total amount by which the charges of open orders may exceed their holds. */
  uncoveredNano: bigint
  creditNano: bigint
  /** Whether holds may use the credit, and the highest credit that they could ever use. */
  holdsOnCredit: boolean
  highestOverdraftNano: bigint
  stoppedReason: string | null
  lowNano: bigint | null
  isLowNotified: boolean
}

export interface StoredMonth {
  heldNano: bigint
  capturedNano: bigint
}

interface StoredRequestKey extends RequestKey {
  readonly holdId: string
  readonly expiresAt: number
  answer: StoredAnswer | null
}

/** An organisation with its members, its money and its orders. */
export interface Books {
  readonly id: string
  name: string
  readonly createdAt: Date
  disabledAt: Date | null
  watermark: boolean | null
  priceListId: string | null
  readonly members: Map<string, StoredMember>
  readonly pool: StoredPool
  /** The monthly sums of members, by `monthKey`. */
  readonly months: Map<string, StoredMonth>
  readonly budgets: Map<string, StoredBudget>
  readonly orders: Map<string, StoredOrder>
  readonly transfers: Array<StoredTransfer>
  readonly requestKeys: Map<string, StoredRequestKey>
  /** The sealed months, oldest first. */
  readonly sealedMonths: Array<SealedMonth>
}

export interface StoredPriceList {
  readonly list: PriceList
  readonly createdAt: Date
  readonly removedAt: Date | null
}

export interface StoredAccount {
  readonly version: number
  readonly baseUrl: string
  /** The origin of the base address; null where the address is not valid. */
  readonly origin: string | null
  readonly appId: string | null
  /** When a newer version superseded this one; null for the current version. */
  supersededAt: number | null
  /** The keys of the account, by name. */
  readonly keys: Map<string, { readonly apiKey: Redacted.Redacted; readonly enabled: boolean }>
}

export interface StoredCooldown extends Omit<Cooldown, "secondsLeft"> {
  until: number | null
  triedUntil: number | null
  triedBy: string | null
  failedBy: string | null
  endedAt: number | null
}

export const cooldownName = ({
  channelId,
  keyName,
  model,
  organizationId
}: CooldownTarget): string => JSON.stringify([channelId, keyName, model, organizationId])

export interface StoredEnds extends CallEnds {
  readonly at: number
}

export interface StoredCount extends ChannelCount {
  readonly at: number
}

export interface StoredCall extends LoggedCall {
  readonly subject: CallSubject
  readonly outcome: VendorCall["outcome"]
}

export interface MemoryState {
  readonly organizations: Map<string, Books>
  readonly apiKeys: Map<string, StoredApiKey>
  readonly operators: Map<string, StoredOperator>
  /** All versions of the catalog, the current one last. */
  readonly catalogs: Array<CatalogSnapshot>
  /** The price lists by id, oldest first, with those that were removed. */
  readonly priceLists: Map<string, StoredPriceList>
  /** The versions of each channel's account, by channel, the newest first. */
  readonly accounts: Map<string, ReadonlyArray<StoredAccount>>
  /** The cooldowns, by `cooldownName`. */
  readonly cooldowns: Map<string, StoredCooldown>
  channelCounts: ReadonlyArray<StoredCount>
  callEnds: ReadonlyArray<StoredEnds>
  /** The last failure of each channel. */
  readonly channelFailures: Map<string, ChannelFailure>
  /** The end of each pause of polling, by channel. */
  readonly pauses: Map<string, number>
  /** The orphans by organisation and id of their order, oldest first. */
  readonly orphans: Map<string, OrphanRecord>
  readonly calls: Array<StoredCall>
  /**
   * The id of the order of each vendor job. The key is channel, origin and the vendor's id as JSON.
   */
  readonly vendorJobs: Map<string, string>
  readonly webhookEndpoints: Map<string, StoredEndpoint>
  /** The webhook messages by id, oldest first. */
  readonly webhookMessages: Map<string, StoredMessage>
  /** The archived results, by task. */
  readonly archives: Map<string, StoredArchive>
  readonly files: Map<string, StoredFile>
  /** The reconciliations by id, oldest first. */
  readonly reconciliations: Map<string, StoredReconciliation>
  readonly adminWrites: Array<AuditEntry>
  readonly audit: {
    begunAt: number | null
    endedAt: number | null
    auditedAt: number | null
    violations: number
  }
  /** The number of moments created so far, which is the `turn` of the next one. */
  turns: number
}

/**
 * The shared state of the stores in memory. Tests use it to read data that no service returns, or
 * to break invariants that the services maintain. Each layer that is built has its own state.
 */
export class MemoryStore extends Context.Service<MemoryStore, MemoryState>()(
  "gateway/testing/MemoryStore"
) {}

export const layerMemoryStore = Layer.sync(
  MemoryStore,
  (): MemoryState => ({
    organizations: new Map(),
    apiKeys: new Map(),
    operators: new Map(),
    catalogs: [emptySnapshot],
    priceLists: new Map(),
    accounts: new Map(),
    cooldowns: new Map(),
    channelCounts: [],
    callEnds: [],
    channelFailures: new Map(),
    pauses: new Map(),
    orphans: new Map(),
    calls: [],
    vendorJobs: new Map(),
    webhookEndpoints: new Map(),
    webhookMessages: new Map(),
    archives: new Map(),
    files: new Map(),
    reconciliations: new Map(),
    adminWrites: [],
    audit: { begunAt: null, endedAt: null, auditedAt: null, violations: 0 },
    turns: 0
  })
)

export const makeBooks = (id: string, name: string, createdAt: Date): Books => ({
  id,
  name,
  createdAt,
  disabledAt: null,
  watermark: null,
  priceListId: null,
  members: new Map(),
  pool: {
    balanceNano: 0n,
    heldNano: 0n,
    uncoveredNano: 0n,
    creditNano: 0n,
    holdsOnCredit: false,
    highestOverdraftNano: 0n,
    stoppedReason: null,
    lowNano: null,
    isLowNotified: false
  },
  months: new Map(),
  budgets: new Map(),
  orders: new Map(),
  transfers: [],
  requestKeys: new Map(),
  sealedMonths: []
})

/** The pool as the ledger shows it. */
export const poolOf = ({ pool }: Books): Pool => ({
  balanceNano: pool.balanceNano,
  heldNano: pool.heldNano,
  uncoveredNano: pool.uncoveredNano,
  creditNano: pool.creditNano,
  ...(pool.holdsOnCredit ? { overdraftNano: pool.creditNano } : {})
})

export const monthKey = (memberId: string, month: string): string => `${memberId} ${month}`

export const dateOrNull = (millis: number | null): Date | null =>
  millis === null ? null : new Date(millis)

export const momentOf = (state: MemoryState, nowMillis: number): Moment => ({
  at: new Date(nowMillis),
  turn: state.turns++
})

const uuidOf = (id: string): string => id.slice(id.lastIndexOf("_") + 1)

/** Compares ids by creation time. It compares only their UUIDs, because prefixes differ. */
export const byCreation = (one: { readonly id: string }, other: { readonly id: string }): number =>
  uuidOf(one.id) < uuidOf(other.id) ? -1 : 1

/** The part of the charge above the hold. */
export const overageOf = ({ chargeNano, request }: StoredOrder): bigint =>
  chargeNano > request.amountNano ? chargeNano - request.amountNano : 0n

/** The price list of an order; null where it has none. */
export const appliedPriceList = (
  priceLists: MemoryState["priceLists"],
  id: string | null
): AppliedPriceList | null => {
  const stored = priceLists.get(id ?? "")
  return stored === undefined ? null : { id: stored.list.id, name: stored.list.name }
}

export const decodeQuote = Schema.decodeUnknownSync(Quote)

/** The usage record of an order; null where nothing was charged. */
/** Whether a task was ordered with the vendor's mark, by its summary. */
export const isMarkedSummary = Schema.is(Schema.Struct({ marked: Schema.Literal(true) }))

export const usageOf = ({
  request,
  usage,
  ended,
  chargeNano,
  costNano,
  vendorBill,
  reportedCostNano,
  month
}: StoredOrder): UsageRecord | null => {
  if (usage === null || ended === null) return null
  const { inputUnitPriceNano = null, parts = [], ...detail } = usage
  const { id, memberId, model, modality, task } = request
  return {
    ...detail,
    model,
    modality,
    taskId: task === null ? null : id,
    inputUnitPriceNano,
    parts: parts.length === 0 ? null : parts,
    id: usageId(id),
    memberId,
    metadata: request.metadata ?? null,
    chargeNano,
    costNano,
    vendorBill,
    reportedCostNano,
    priceListId: request.priceList ?? null,
    month: month.slice(0, 7),
    createdAt: ended.at
  }
}

/**
 * Cuts a page, newest first, from entries that are sorted oldest first. The cursor may be the id of
 * any entry, including an entry that `isShown` filters out.
 */
export const pageOf = <A extends { readonly id: string }>(
  entries: ReadonlyArray<A>,
  { after, limit }: PageRequest,
  isShown: (entry: A) => boolean = () => true
): Effect.Effect<Page<A>, InvalidRequest> => {
  const newest = entries.toReversed()
  const last = after === null ? -1 : newest.findIndex(({ id }) => id === after)
  if (after !== null && last < 0) return Effect.fail(unknownCursor)
  const visibleOrders = newest.slice(last + 1).filter(isShown)
  return Effect.succeed(cutPage(visibleOrders.slice(0, limit + 1), limit))
}
