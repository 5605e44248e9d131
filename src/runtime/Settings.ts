/** The service's own times and limits, with the values it is run with by default. */
import { Context } from "effect"

export interface Settings {
  /** Currency of every amount; one a deployment. */
  readonly currency: string
  /** IANA time zone whose calendar months bound the members' caps. */
  readonly timeZone: string
  /** No other gateway shares the database: whatever is half done at the start was left by a crash. */
  readonly soleGateway: boolean
  /**
   * From the hold to the moment a video order without the vendor's answer is given up. The vendor has
   * three quarters of it, and 60 seconds at most.
   */
  readonly submitDeadlineSeconds: number
  /**
   * From the hold to the moment an image order without an answer is given up. The vendor has three
   * quarters of it, and 180 seconds at most.
   */
  readonly imageDeadlineSeconds: number
  /**
   * From the hold to the moment a text without an answer is given up. The vendor has three quarters of
   * it, and 450 seconds at most, also for the first piece of a stream.
   */
  readonly textDeadlineSeconds: number
  /**
   * The same for a text that is answered while it is written. The vendor has three quarters of it, and
   * may be silent for 90 seconds between two pieces.
   */
  readonly textStreamDeadlineSeconds: number
  /**
   * From the hold to the moment a task is failed and refunded. Its vendor is asked once more then, and
   * has half a minute to answer.
   */
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
  /**
   * How long a claimed task belongs to the gateway that claimed it. The vendor has three quarters of it
   * to answer a question, and 20 seconds at most.
   */
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
  /** From SIGTERM, when readiness says so, to the end of accepting. */
  readonly drainSeconds: number
  /** From SIGTERM to the moment whatever is unanswered is cut; the drain is part of it. */
  readonly shutdownSeconds: number
  /** How long the calls to vendors are kept for the operator. */
  readonly callLogDays: number
  /**
   * Requests a key may send to this gateway in a minute, where it has no rate of its own
   * (`requests_per_minute`); 0 is any number.
   */
  readonly keyRequestsPerMinute: number
  /** The same for its quotes. */
  readonly keyQuotesPerMinute: number
  /** The same for its lists of models. */
  readonly keyModelsPerMinute: number
  /**
   * The same for orders and quotes of it that are refused for a fault of their own (not for lack of
   * money, and not by a vendor) or left by their client.
   */
  readonly keyRefusalsPerMinute: number
  /**
   * Keys nobody has that one client address (of IPv6 its first 64 bits) may try on this gateway in a
   * minute. Beyond them its unknown keys are looked up one after another, and 429 answers those for
   * which 64 others wait. 0 is any number, looked up at once.
   */
  readonly addressUnknownKeysPerMinute: number
  /**
   * Requests of one organisation this gateway handles at a time, and as many orders of it that run,
   * also without their client.
   */
  readonly organizationInFlight: number
  /** Requests of one organisation that only wait for a task to end. */
  readonly organizationWaits: number
  /**
   * Paid calls this gateway has open at one channel's vendor at a time; one organisation has half of
   * them at most.
   */
  readonly channelInFlight: number
  /**
   * Bytes that have arrived of all bodies whose requests are not answered yet; one organisation may
   * have half of them. Memory may grow to about twice this.
   */
  readonly bodyBudgetBytes: number
  /** Connections the gateway has open at a time; more are closed as soon as they are made. */
  readonly maxConnections: number
  /** From a request's first byte to the end of its head, before the connection is cut. */
  readonly headSeconds: number
  /** From a request's first byte to its last one, before the connection is cut. */
  readonly requestSeconds: number
  /** Largest body of the ordering routes and of the catalog, in bytes. */
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
