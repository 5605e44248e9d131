/** What clients saw: the truth outside, which the books are compared with. */

/** A member with a key of its own. Each client is one. */
export interface Customer {
  readonly organizationId: string
  readonly memberId: string
  readonly key: string
}

export interface Order {
  /** Unique in the run, and part of the prompt. */
  readonly id: string
  readonly customer: Customer
  readonly model: string
  readonly kind: "video" | "image"
  /** Seconds or images. */
  readonly units: number
  readonly prompt: string
  /** As the simulator's book has it. */
  readonly promptDigest: string
  readonly json: Readonly<Record<string, unknown>>
  readonly idempotencyKey: string | null
}

/** Times are milliseconds since 1970. */
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
      /** Null for images, which are answered whole. */
      readonly taskId: string | null
      readonly replayed: boolean
      readonly text: string
    }
  | { readonly _tag: "Refused"; readonly status: number; readonly code: string }
  /** The connection broke, or the answer never came. */
  | { readonly _tag: "Lost" }
  /** The client went away on purpose. */
  | { readonly _tag: "HungUp" }

/** A task as a GET showed it. */
export interface Sighting {
  readonly order: Order
  readonly taskId: string
  readonly startedAt: number
  readonly endedAt: number
  readonly status: number
  /** The task's state, or the code of an error. */
  readonly said: string
  readonly videoUrl: string | null
}

export interface Deposit {
  readonly organizationId: string
  readonly reference: string
  readonly amountNano: bigint
  /** Whether a 2xx was seen. */
  acknowledged: boolean
}

/** A message as the receiver of webhooks got it. */
export interface ReceivedWebhook {
  /** The same however often it comes. */
  readonly id: string
  readonly type: string
  readonly taskId: string
  readonly organizationId: string
}

export interface Moment {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly awake: boolean
}

/** Everything is only ever added. */
export interface Witness {
  /** A part of every prompt, which no log may hold. */
  readonly canary: string
  readonly orders: Map<string, Order>
  readonly attempts: Array<Attempt>
  readonly sightings: Array<Sighting>
  readonly deposits: Array<Deposit>
  readonly webhooks: Array<ReceivedWebhook>
  /** What the view of the books said in mid-run. */
  readonly audits: { read: number; readonly violations: Array<string> }
  /** Whether any gateway could have answered, every moment. */
  readonly moments: Array<Moment>
  /** How often what was done. */
  readonly counts: Map<string, number>
}

export const makeWitness = (canary: string): Witness => ({
  canary,
  orders: new Map(),
  attempts: [],
  sightings: [],
  deposits: [],
  webhooks: [],
  audits: { read: 0, violations: [] },
  moments: [],
  counts: new Map()
})

export const count = (witness: Witness, name: string, times = 1): void => {
  witness.counts.set(name, (witness.counts.get(name) ?? 0) + times)
}
