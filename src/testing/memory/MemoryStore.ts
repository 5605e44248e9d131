/** Everything the stores in memory keep: one such state behind all of them, as one database would be. */
import { Context, Layer, type Redacted } from "effect"
import type { Doubt } from "../../domain/VendorOutcome.ts"
import type { NewKey } from "../../services/Access.ts"
import type { AuditEntry } from "../../services/AdminAudit.ts"
import type { CallSubject, VendorCall } from "../../services/CallLog.ts"
import { type CatalogSnapshot, emptySnapshot } from "../../services/Catalog.ts"
import type { RequestKey, StoredAnswer } from "../../services/IdempotencyKeys.ts"
import type { HoldRequest, JournalEntry } from "../../services/Ledger.ts"
import type { OrphanRecord } from "../../services/Orphans.ts"
import type { LoggedCall } from "../../services/TaskHistory.ts"
import type { NewTask, Task } from "../../services/TaskRepo.ts"
import type { UsageRecord } from "../../services/UsageLog.ts"

/** Times are milliseconds since 1970 throughout. */
export interface StoredHold {
  readonly request: HoldRequest
  /** The first day of the month it counts in, as `2026-01-01`. */
  readonly month: string
  readonly createdAt: number
  expiresAt: number
  state: "open" | "captured" | "released"
  capturedNano: bigint
  closedAt: number | null
  closedBy: string | null
}

export interface StoredTask {
  /** Hold of the same id. */
  readonly id: string
  readonly ordered: NewTask
  readonly createdAt: number
  readonly submitDeadline: number
  readonly deadline: number
  state: Task["state"]
  upstreamId: string | null
  videoUrl: string | null
  completionTokens: bigint | null
  errorCode: string | null
  errorMessage: string | null
  acceptedAt: number | null
  askedAt: number | null
  nextPollAt: number | null
  unknownSince: number | null
  finishedAt: number | null
  lease: bigint
}

export interface StoredMonth {
  readonly memberId: string
  readonly month: string
  heldNano: bigint
  capturedNano: bigint
}

export interface StoredUsage {
  readonly holdId: string
  readonly keyId: string
  readonly record: UsageRecord
}

export interface StoredRequestKey extends RequestKey {
  readonly holdId: string
  readonly expiresAt: number
  answer: StoredAnswer | null
}

/** An organisation with its members and its books. */
export interface Books {
  readonly id: string
  readonly name: string
  readonly members: Map<
    string,
    { readonly id: string; readonly name: string; monthlyCapNano: bigint | null }
  >
  readonly pool: { balanceNano: bigint; heldNano: bigint; stoppedReason: string | null }
  /** By member and month, which `monthKey` writes. */
  readonly months: Map<string, StoredMonth>
  readonly holds: Map<string, StoredHold>
  readonly tasks: Map<string, StoredTask>
  /** Oldest first. */
  readonly journal: Array<JournalEntry>
  /** Oldest first. */
  readonly usage: Array<StoredUsage>
  readonly requestKeys: Map<string, StoredRequestKey>
}

export interface StoredApiKey {
  readonly id: string
  readonly organizationId: string
  readonly memberId: string
  /** Keyed hash of the key's text, in hexadecimal digits. */
  readonly hash: string
  readonly options: NewKey
  revoked: boolean
}

export interface StoredAccount {
  readonly baseUrl: string
  readonly appId: string | null
  readonly apiKey: Redacted.Redacted | null
}

export interface StoredCall extends LoggedCall {
  readonly subject: CallSubject
  readonly outcome: VendorCall["outcome"]
}

export interface MemoryState {
  readonly organizations: Map<string, Books>
  readonly apiKeys: Map<string, StoredApiKey>
  /** Every version there was, the one in force last. */
  readonly catalogs: Array<CatalogSnapshot>
  readonly accounts: Map<string, StoredAccount>
  /** Until when nobody asks a channel's vendor. */
  readonly pauses: Map<string, number>
  /** Oldest first, of all organisations. */
  readonly orphans: Array<OrphanRecord>
  readonly calls: Array<StoredCall>
  readonly adminWrites: Array<AuditEntry>
  readonly audit: {
    begunAt: number | null
    endedAt: number | null
    auditedAt: number | null
    violations: number
  }
  /** Transfers made so far, of all organisations. */
  transfers: number
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
    catalogs: [emptySnapshot],
    accounts: new Map(),
    pauses: new Map(),
    orphans: [],
    calls: [],
    adminWrites: [],
    audit: { begunAt: null, endedAt: null, auditedAt: null, violations: 0 },
    transfers: 0
  })
)

export const makeBooks = (id: string, name: string): Books => ({
  id,
  name,
  members: new Map(),
  pool: { balanceNano: 0n, heldNano: 0n, stoppedReason: null },
  months: new Map(),
  holds: new Map(),
  tasks: new Map(),
  journal: [],
  usage: [],
  requestKeys: new Map()
})

export const monthKey = (memberId: string, month: string): string => `${memberId} ${month}`

export const dateOrNull = (millis: number | null): Date | null =>
  millis === null ? null : new Date(millis)

/** What was charged above the hold. */
export const overageOf = ({ capturedNano, request }: StoredHold): bigint =>
  capturedNano > request.amountNano ? capturedNano - request.amountNano : 0n

/** Keeps the orphan of a hold, unless there is one. */
export const addOrphan = (
  state: MemoryState,
  { request }: StoredHold,
  orphan: Doubt,
  nowMillis: number
): void => {
  if (findOrphan(state, request.organizationId, request.id) !== undefined) return
  state.orphans.push({
    id: request.id,
    organizationId: request.organizationId,
    job: request.job,
    upstreamId: orphan.upstreamId,
    reason: orphan.reason,
    answer: orphan.answer ?? null,
    heldNano: request.amountNano,
    createdAt: new Date(nowMillis),
    resolvedAt: null,
    note: null
  })
}

export const findOrphan = (
  { orphans }: MemoryState,
  organizationId: string,
  id: string
): OrphanRecord | undefined =>
  orphans.find((orphan) => orphan.organizationId === organizationId && orphan.id === id)

/** Puts a changed record in the place of its former self. */
export const replaceOrphan = (
  { orphans }: MemoryState,
  before: OrphanRecord,
  after: OrphanRecord
) => {
  orphans[orphans.indexOf(before)] = after
}
