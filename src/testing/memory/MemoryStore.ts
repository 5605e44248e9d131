/** Everything the stores in memory keep: one such state behind all of them, as one database would be. */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import type { InvalidRequest } from "../../domain/Errors.ts"
import { Quote } from "../../domain/money/Quote.ts"
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
import type { HoldRequest, RefusedJob, UsageEntry, VendorJob } from "../../services/Ledger.ts"
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
import type { Counted, StoredBudget } from "../money/storedBudgets.ts"
import type { StoredReconciliation } from "../money/storedReconciliations.ts"
import type { StoredTransfer } from "../money/storedTransfers.ts"
import type { StoredApiKey, StoredMember, StoredOperator } from "../operators/storedAccounts.ts"

/** When something happened. Of one moment, `turn` tells what came first. */
export interface Moment {
  readonly at: Date
  readonly turn: number
}

/** Times are milliseconds since 1970 throughout. */
export interface StoredTask {
  readonly ordered: NewTask
  readonly submitDeadline: number
  readonly deadline: number
  state: Task["state"]
  upstreamId: string | null
  accountVersion: number | null
  keyName: string | null
  videoUrl: string | null
  /** JSON. */
  result: string | null
  files: ReadonlyArray<ArchivedFile> | null
  completionTokens: bigint | null
  errorCode: string | null
  errorMessage: string | null
  acceptedAt: number | null
  askedAt: number | null
  nextPollAt: number | null
  unknownSince: number | null
  finishedAt: number | null
  erasedAt: number | null
  lease: bigint
}

/** An order is one row: its hold, its task if it has one, its end and its charge. */
export interface StoredOrder {
  readonly request: HoldRequest
  /** Where it is; that of the request at first. */
  job: VendorJob
  cost: unknown
  costNano: bigint | null
  readonly refusals: Array<RefusedJob>
  /** The first day of the month it counts in, as `2026-01-01`. */
  readonly month: string
  readonly countsIn: Array<Counted>
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
  /** What open orders can come to above their holds. */
  uncoveredNano: bigint
  creditNano: bigint
  stoppedReason: string | null
  lowNano: bigint | null
  lowTold: boolean
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

/** An organisation with its members and its books. */
export interface Books {
  readonly id: string
  name: string
  readonly createdAt: Date
  disabledAt: Date | null
  readonly members: Map<string, StoredMember>
  readonly pool: StoredPool
  /** By member and month, which `monthKey` writes. */
  readonly months: Map<string, StoredMonth>
  readonly budgets: Map<string, StoredBudget>
  readonly orders: Map<string, StoredOrder>
  readonly transfers: Array<StoredTransfer>
  readonly requestKeys: Map<string, StoredRequestKey>
  /** Oldest first. */
  readonly sealedMonths: Array<SealedMonth>
}

export interface StoredAccount {
  readonly version: number
  readonly baseUrl: string
  /** Of the base address; null where it leads nowhere. */
  readonly origin: string | null
  readonly appId: string | null
  /** When another one took its place. */
  supersededAt: number | null
  /** By name. */
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
  /** Every version there was, the one in force last. */
  readonly catalogs: Array<CatalogSnapshot>
  /** By channel, the newest first. */
  readonly accounts: Map<string, ReadonlyArray<StoredAccount>>
  /** By `cooldownName`. */
  readonly cooldowns: Map<string, StoredCooldown>
  channelCounts: ReadonlyArray<StoredCount>
  callEnds: ReadonlyArray<StoredEnds>
  /** The last one by channel. */
  readonly channelFailures: Map<string, ChannelFailure>
  /** Until when a channel's vendor is not asked. */
  readonly pauses: Map<string, number>
  /** By order, the oldest first. */
  readonly orphans: Map<string, OrphanRecord>
  readonly calls: Array<StoredCall>
  /** The order of each job that a vendor told, by channel, origin and the vendor's id, as JSON. */
  readonly vendorJobs: Map<string, string>
  /** By id. */
  readonly webhookEndpoints: Map<string, StoredEndpoint>
  /** By id, the oldest first. */
  readonly webhookMessages: Map<string, StoredMessage>
  /** By task. */
  readonly archives: Map<string, StoredArchive>
  /** By id. */
  readonly files: Map<string, StoredFile>
  /** By id, the oldest first. */
  readonly reconciliations: Map<string, StoredReconciliation>
  readonly adminWrites: Array<AuditEntry>
  readonly audit: {
    begunAt: number | null
    endedAt: number | null
    auditedAt: number | null
    violations: number
  }
  /** How many moments there were. */
  turns: number
}

/**
 * The state itself, for tests that have to look where no service lets them, or to break what a
 * service would not. Each layer that is built has a state of its own.
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
  members: new Map(),
  pool: {
    ...{ balanceNano: 0n, heldNano: 0n, uncoveredNano: 0n, creditNano: 0n },
    ...{ stoppedReason: null, lowNano: null, lowTold: false }
  },
  months: new Map(),
  budgets: new Map(),
  orders: new Map(),
  transfers: [],
  requestKeys: new Map(),
  sealedMonths: []
})

export const monthKey = (memberId: string, month: string): string => `${memberId} ${month}`

export const dateOrNull = (millis: number | null): Date | null =>
  millis === null ? null : new Date(millis)

export const momentOf = (state: MemoryState, nowMillis: number): Moment => ({
  at: new Date(nowMillis),
  turn: state.turns++
})

const uuidOf = (id: string): string => id.slice(id.lastIndexOf("_") + 1)

/** Orders and transfers stand in the order of the UUIDs of their ids. */
export const byCreation = (one: { readonly id: string }, other: { readonly id: string }): number =>
  uuidOf(one.id) < uuidOf(other.id) ? -1 : 1

/** What was charged above the hold. */
export const overageOf = ({ chargeNano, request }: StoredOrder): bigint =>
  chargeNano > request.amountNano ? chargeNano - request.amountNano : 0n

export const decodeQuote = Schema.decodeUnknownSync(Quote)

/** Null unless something was charged. */
export const usageOf = ({
  request,
  usage,
  ended,
  chargeNano,
  costNano,
  month
}: StoredOrder): UsageRecord | null => {
  if (usage === null || ended === null) return null
  const { inputUnitPriceNano = null, ...detail } = usage
  const { id, memberId, model, modality, task } = request
  return {
    ...detail,
    ...{ model, modality },
    taskId: task === null ? null : id,
    inputUnitPriceNano,
    id: usageId(id),
    memberId,
    metadata: request.metadata ?? null,
    chargeNano,
    costNano,
    month: month.slice(0, 7),
    createdAt: ended.at
  }
}

/**
 * One page of a list that is kept oldest first, newest first. The cursor may be any entry of the
 * list, also one that is not shown.
 */
export const pageOf = <A extends { readonly id: string }>(
  entries: ReadonlyArray<A>,
  { after, limit }: PageRequest,
  isShown: (entry: A) => boolean = () => true
): Effect.Effect<Page<A>, InvalidRequest> => {
  const newest = entries.toReversed()
  const last = after === null ? -1 : newest.findIndex(({ id }) => id === after)
  if (after !== null && last < 0) return Effect.fail(unknownCursor)
  const shown = newest.slice(last + 1).filter(isShown)
  return Effect.succeed(cutPage(shown.slice(0, limit + 1), limit))
}
