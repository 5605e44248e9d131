/** The observations of the clients, with which the ledger is compared. */

/** A member with its own key. Each client is one customer. */
export interface Customer {
  readonly organizationId: string
  readonly memberId: string
  readonly key: string
}

export interface Order {
  /** An id that is unique in the run, and a part of the prompt. */
  readonly id: string
  readonly customer: Customer
  readonly model: string
  readonly kind: "video" | "image" | "text"
  /** Whether images are read later, as a task; false for all other orders. */
  readonly isLater: boolean
  /** The number of seconds, of images, or of the most output tokens. */
  readonly units: number
  readonly prompt: string
  /** The digest of the prompt, in the form of the simulator's book. */
  readonly promptDigest: string
  readonly json: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | null
  /** The seconds for which the order may wait for a place at its channel; null if it does not. */
  readonly maxWait: number | null
  /** The hold, where it is not that of the product and its units. */
  readonly holdNano?: bigint
}

/** One request for an order, with times in milliseconds since 1970. */
export interface Attempt {
  readonly order: Order
  readonly gateway: string
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
}

export type Outcome =
  | {
      readonly _tag: "Accepted"
      /** The id of the task; null for images and texts, which the response contains. */
      readonly taskId: string | null
      readonly replayed: boolean
      readonly text: string
    }
  | { readonly _tag: "Refused"; readonly status: number; readonly code: string }
  /** The connection broke, or no response arrived. */
  | { readonly _tag: "Lost" }
  /** The client disconnected on purpose. */
  | { readonly _tag: "HungUp" }

/** A task as a GET request returned it. */
export interface Sighting {
  readonly order: Order
  readonly taskId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly status: number
  /** The state of the task, or the code of an error. */
  readonly said: string
  readonly videoUrl: string | null
}

/** A request to cancel a task, with times in milliseconds since 1970. */
export interface Cancel {
  readonly order: Order
  readonly taskId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly answer: CancelAnswer
}

export type CancelAnswer =
  /** The task as it has ended; `code` is that of its failure, null where it succeeded. */
  | {
      readonly _tag: "Ended"
      readonly state: "succeeded" | "failed"
      readonly code: string | null
    }
  /** The task goes on; `status` is the vendor's answer to the request. */
  | { readonly _tag: "GoesOn"; readonly status: "requested" | "refused" | "unknown" }
  /** An error, or no answer. */
  | { readonly _tag: "Unanswered"; readonly code: string }

export interface Deposit {
  readonly organizationId: string
  readonly reference: string
  readonly amountNano: bigint
  /** Whether a 2xx response arrived. */
  acknowledged: boolean
}

/** A budget of an organisation or a member, which counts the orders of all time. */
export interface Budget {
  readonly id: string
  readonly organizationId: string
  /** The member whose orders count; null where those of the whole organisation do. */
  readonly memberId: string | null
  /** The amount with which it was created, in whole units. */
  readonly firstAmount: bigint
  readonly changes: Array<BudgetChange>
}

export interface BudgetChange {
  readonly amountNano: bigint
  readonly startedAt: number
  /** The time of the answer; null before it. */
  endedAt: number | null
}

/** A key that an operator created for a while. */
export interface RevokedKey {
  readonly id: string
  readonly key: string
  /** The time at which its revocation was first requested, and that of the answer. */
  readonly revokedFrom: number
  revokedAt: number | null
}

/** A request with such a key that got an answer. */
export interface KeyUse {
  readonly keyId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly status: number
}

/** A change of one field of the catalog, which no other operator changes. */
export interface CatalogChange {
  readonly desk: "name" | "cost"
  readonly value: string
  /** Whether a 2xx response arrived. */
  acknowledged: boolean
}

export const financeRules = {
  F1: "a transfer is done once for its reference, and no further than money reaches",
  F2: "a pool has what was paid in less what was taken out, and holds what is open",
  F3: "an order is taken exactly as far as the balance and the credit reach",
  F4: "an order is taken exactly as far as its budgets reach, and the narrowest refuses",
  F5: "a budget counts what its own orders of its period hold and were charged",
  F6: "an order is taken exactly as far as open orders leave money, whatever they come to",
  F7: "each percent of a budget is told once"
} as const
export type FinanceRule = keyof typeof financeRules

/** An answer to the finance desk beside the one that its books let it expect. */
export interface FinanceNote {
  readonly rule: FinanceRule
  readonly what: string
  readonly expected: string
  readonly answer: string
}

/** A message as the receiver of webhooks got it. */
export interface ReceivedWebhook {
  /** The id of the message, which is the same for all its deliveries. */
  readonly id: string
  readonly type: string
  readonly taskId: string
  readonly organizationId: string
  /** Whether the receiver answered that it has the message. */
  readonly isTaken: boolean
}

export interface Moment {
  /** The time in milliseconds since 1970. */
  readonly at: number
  readonly awake: boolean
}

/** All observations of a run. Records are only ever added. */
export interface Witness {
  /** A part of every prompt, which no log may contain. */
  readonly canary: string
  readonly orders: Map<string, Order>
  readonly attempts: Array<Attempt>
  readonly sightings: Array<Sighting>
  readonly cancels: Array<Cancel>
  readonly deposits: Array<Deposit>
  readonly budgets: Array<Budget>
  readonly keys: Array<RevokedKey>
  readonly keyUses: Array<KeyUse>
  readonly catalogChanges: Array<CatalogChange>
  /** One entry for each answer to an operator: its refusal, or null where it was done. */
  readonly office: Array<string | null>
  readonly finance: Array<FinanceNote>
  readonly webhooks: Array<ReceivedWebhook>
  /** The organisations that have no receiver of webhooks. */
  readonly untold: Set<string>
  /** The violations that the audit view reported during the run. */
  readonly audits: { read: number; readonly violations: Array<string> }
  /** Samples, taken at regular times, of whether any gateway was able to respond. */
  readonly moments: Array<Moment>
  /** The number of events by name. */
  readonly counts: Map<string, number>
}

export const makeWitness = (canary: string): Witness => ({
  canary,
  orders: new Map(),
  attempts: [],
  sightings: [],
  cancels: [],
  deposits: [],
  budgets: [],
  keys: [],
  keyUses: [],
  catalogChanges: [],
  office: [],
  finance: [],
  webhooks: [],
  untold: new Set(),
  audits: { read: 0, violations: [] },
  moments: [],
  counts: new Map()
})

export const count = (witness: Witness, name: string, times = 1): void => {
  witness.counts.set(name, (witness.counts.get(name) ?? 0) + times)
}
