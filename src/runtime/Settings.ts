/** The service's own times and limits, with the values it is run with by default. */
import { Context } from "effect"

export interface Settings {
  /** Currency of every amount; one per deployment. */
  readonly currency: string
  /** IANA zone whose calendar months bound the members' caps. */
  readonly timeZone: string
  /** No other gateway shares the database: whatever is half done at the start was left by a crash. */
  readonly soleGateway: boolean
  /** From the hold to the moment a submit without an answer is given up. */
  readonly submitDeadlineSeconds: number
  /** From the hold to the moment an image without an answer is given up. */
  readonly imageDeadlineSeconds: number
  /** From the hold to the moment a text without an answer is given up. */
  readonly textDeadlineSeconds: number
  /** The same for a text that is answered while it is written. */
  readonly textStreamDeadlineSeconds: number
  /** From the hold to the moment a task is failed and refunded. */
  readonly taskDeadlineSeconds: number
  /** From a task's deadline to the moment it is failed without waiting for its vendor's last answer. */
  readonly lastQuestionSeconds: number
  /** How long a task the vendor does not know stays open. */
  readonly unknownGraceSeconds: number
  /** Shortest time between two questions to a vendor about one task. */
  readonly askIntervalSeconds: number
  /** Longest time between two of the poller's questions about one task. */
  readonly maxAskIntervalSeconds: number
  /** How often the poller looks for due tasks, and the sweeper for what was left behind. */
  readonly pollerSeconds: number
  /** How long a claimed task belongs to the gateway that claimed it. */
  readonly leaseSeconds: number
  /** How long an `Idempotency-Key` stands for its first request. */
  readonly idempotencySeconds: number
  /** How long a request waits for its hold while the database is away or crowded. */
  readonly holdPatienceSeconds: number
  /** How long what was read is kept while changes of other gateways are heard, as a safety net. */
  readonly cacheSeconds: number
  /** The same while they are not heard; with a look-up it must stay under a second. */
  readonly unheardCacheSeconds: number
  /** Questions this gateway has open at one channel's vendor at a time, at most. */
  readonly pollsPerChannel: number
  /** How often the books are audited, by one of the gateways that share them. */
  readonly auditSeconds: number
  /** How often a stream of events with nothing to tell says that it is still there. */
  readonly heartbeatSeconds: number
  /** How often a gateway looks whether its database and its poller are well. */
  readonly healthSeconds: number
  /** How often the totals of the database are counted for the metrics. */
  readonly totalsSeconds: number
  /** From "not ready" to the end of accepting, when the process is asked to stop. */
  readonly drainSeconds: number
  /** From that ask to the moment whatever still runs is interrupted; the drain is part of it. */
  readonly shutdownSeconds: number
  /** How long the calls to vendors are kept for the operator. */
  readonly callLogDays: number
  /** Requests a key may send this gateway in a minute, where it has no rate of its own; 0 is any number. */
  readonly keyRequestsPerMinute: number
  /** The same for its quotes, and for its lists of models: calls that cost their sender nothing. */
  readonly keyQuotesPerMinute: number
  readonly keyModelsPerMinute: number
  /** The same for requests of it that are refused before anything is held. */
  readonly keyRefusalsPerMinute: number
  /** API keys nobody has that come here from one client address in a minute; 0 is any number. */
  readonly addressUnknownKeysPerMinute: number
  /** Requests of one organisation this gateway handles at a time, and orders of it that run. */
  readonly organizationInFlight: number
  /** The same for requests that only wait for something to happen, which are counted apart. */
  readonly organizationWaits: number
  /** Paid calls this gateway has open at one channel's vendor at a time; half for one organisation. */
  readonly channelInFlight: number
  /**
   * Bytes of all the bodies of requests in flight, so far as they have arrived; one organisation may
   * have half of them. A body counts until its request is answered, also while a vendor works on it,
   * so that this bounds how many large orders run at a time.
   */
  readonly bodyBudgetBytes: number
  /** Connections the gateway has open at a time; more are closed as soon as they are made. */
  readonly maxConnections: number
  /** From a request's first byte to the end of its head, before the connection is cut. */
  readonly headSeconds: number
  /** From a request's first byte to its last one. */
  readonly requestSeconds: number
  /** Largest body of the media routes, in bytes. */
  readonly maxMediaBodyBytes: number
  /** Largest body of every other route, in bytes. */
  readonly maxBodyBytes: number
}

export const defaultSettings: Settings = {
  currency: "CNY",
  timeZone: "UTC",
  soleGateway: false,
  submitDeadlineSeconds: 120,
  imageDeadlineSeconds: 240,
  textDeadlineSeconds: 600,
  textStreamDeadlineSeconds: 3600,
  taskDeadlineSeconds: 24 * 3600,
  lastQuestionSeconds: 30,
  unknownGraceSeconds: 600,
  askIntervalSeconds: 2,
  maxAskIntervalSeconds: 15,
  pollerSeconds: 1,
  leaseSeconds: 30,
  idempotencySeconds: 24 * 3600,
  holdPatienceSeconds: 5,
  cacheSeconds: 60,
  unheardCacheSeconds: 0.5,
  pollsPerChannel: 64,
  auditSeconds: 60,
  heartbeatSeconds: 15,
  healthSeconds: 1,
  totalsSeconds: 5,
  drainSeconds: 0,
  shutdownSeconds: 28,
  callLogDays: 30,
  keyRequestsPerMinute: 600_000,
  keyQuotesPerMinute: 600,
  keyModelsPerMinute: 600,
  keyRefusalsPerMinute: 1200,
  addressUnknownKeysPerMinute: 600,
  organizationInFlight: 2048,
  organizationWaits: 1000,
  channelInFlight: 4096,
  bodyBudgetBytes: 512 * 1024 * 1024,
  maxConnections: 16_384,
  headSeconds: 20,
  requestSeconds: 120,
  maxMediaBodyBytes: 64 * 1024 * 1024,
  maxBodyBytes: 256 * 1024
}

export const Settings = Context.Reference<Settings>("gateway/services/Settings", {
  defaultValue: () => defaultSettings
})
