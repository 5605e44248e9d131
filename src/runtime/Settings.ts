/** Times and limits of the service, with their defaults. */
import { Context } from "effect"

export const defaultSettings = {
  /** Currency of every amount; one a deployment. */
  currency: "CNY",
  /** IANA time zone whose calendar months bound the members' caps. */
  timeZone: "UTC",
  /** No other gateway shares the database: all that is half done at the start was left by a crash. */
  soleGateway: false,
  /**
   * From the hold to the moment a video order without the vendor's answer is given up. The vendor has
   * three quarters of it, and 60 seconds at most.
   */
  submitDeadlineSeconds: 120,
  /**
   * From the hold to the moment an image order without an answer is given up. The vendor has three
   * quarters of it, and 180 seconds at most.
   */
  imageDeadlineSeconds: 240,
  /**
   * From the hold to the moment a text without an answer is given up. The vendor has three quarters of
   * it, and 675 seconds at most, also for the first piece of a stream.
   */
  textDeadlineSeconds: 900,
  /**
   * The slowest pace at which a vendor is taken to write. A text that is answered whole and may be longer
   * than a vendor writes in its time at this pace is refused.
   */
  textTokensPerHour: 128_000,
  /**
   * The same for a text that is answered while it is written. The vendor has three quarters of it, and
   * may be silent for 90 seconds between two pieces.
   */
  textStreamDeadlineSeconds: 3600,
  /**
   * From the hold to the moment a task is failed and refunded. Its vendor is asked once more then, and
   * has half a minute to answer.
   */
  taskDeadlineSeconds: 24 * 3600,
  /** From a task's deadline to the moment it is failed without waiting for its vendor's last answer. */
  lastQuestionSeconds: 30,
  /** How long a task the vendor does not know stays open. */
  unknownGraceSeconds: 600,
  /** Shortest time between two questions to a vendor about one task. */
  askIntervalSeconds: 2,
  /** Longest time between two of the poller's questions about one task. */
  maxAskIntervalSeconds: 15,
  /** How often the poller looks for due tasks, and the sweeper for what was left behind. */
  pollerSeconds: 1,
  /**
   * How long a claimed task belongs to the gateway that claimed it. The vendor has three quarters of it
   * to answer a question, and 20 seconds at most.
   */
  leaseSeconds: 30,
  /** How long an `Idempotency-Key` stands for its first request. */
  idempotencySeconds: 24 * 3600,
  /** How long a request waits for its hold while the database is away or crowded. */
  holdPatienceSeconds: 5,
  /** How long what was read is kept while changes of other gateways are heard, as a safety net. */
  cacheSeconds: 60,
  /** The same while they are not heard; with a look-up it must stay under a second. */
  unheardCacheSeconds: 0.5,
  /** Questions this gateway has open at one channel's vendor at a time, at most. */
  pollsPerChannel: 64,
  /** How often the books are audited, by one of the gateways that share them. */
  auditSeconds: 60,
  /** How often a gateway looks for months that are over and can be sealed. */
  sealSeconds: 300,
  /** How often a stream of events with nothing to tell says that it is still there. */
  heartbeatSeconds: 15,
  /** How often a gateway looks whether its database and its poller are well. */
  healthSeconds: 1,
  /** How often the totals of the database are counted for the metrics. */
  totalsSeconds: 5,
  /** From SIGTERM, when readiness says so, to the end of accepting. */
  drainSeconds: 0,
  /** From SIGTERM to the moment whatever is unanswered is cut; the drain is part of it. */
  shutdownSeconds: 28,
  /** How long calls to vendors are kept for the operator, but for those that an order's row tells of. */
  callLogDays: 30,
  /**
   * Requests a key may send to this gateway in a minute, where it has no rate of its own
   * (`requests_per_minute`); 0 is any number.
   */
  keyRequestsPerMinute: 600_000,
  /** The same for its quotes. */
  keyQuotesPerMinute: 600,
  /** The same for its lists of models. */
  keyModelsPerMinute: 600,
  /** The same for the files that it uploads. */
  keyUploadsPerMinute: 600,
  /**
   * The same for orders and quotes of it that are refused for a fault of their own (not for lack of
   * money, and not by a vendor) or left by their client.
   */
  keyRefusalsPerMinute: 1200,
  /**
   * Keys nobody has that one client address (of IPv6 its first 64 bits) may try on this gateway in a
   * minute. Beyond them its unknown keys are looked up one after another, and 429 answers those for
   * which 64 others wait. 0 is any number, looked up at once.
   */
  addressUnknownKeysPerMinute: 600,
  /**
   * Requests of one organisation this gateway handles at a time, and as many orders of it that run,
   * also without their client.
   */
  organizationInFlight: 2048,
  /** Requests of one organisation that only wait for a task to end. */
  organizationWaits: 1000,
  /**
   * Lists (every read of more than one thing by its id) this gateway makes at a time, of all
   * organisations and operators together, who take turns; and as many look-ups. Absent: a quarter of `DATABASE_POOL`, and 1
   * with the embedded database.
   */
  listsInFlight: 4,
  /** Lists of one organisation that this gateway makes at a time, and as many look-ups. */
  organizationLists: 2,
  /** Lists of one organisation that wait for their turn, and as many look-ups; more are answered 429. */
  organizationListQueue: 1000,
  /**
   * Paid calls this gateway has open at one channel's vendor at a time; one organisation has half of
   * them at most.
   */
  channelInFlight: 4096,
  /**
   * Bytes that have arrived of all bodies whose requests are not answered yet; one organisation may
   * have half of them. Memory may grow to about twice this.
   */
  bodyBudgetBytes: 512 * 1024 * 1024,
  /**
   * Bytes of all answers that are in memory: of vendors that were read and not passed on, and of all
   * that clients have not taken. One organisation may have half of them; it is answered 429 while it
   * has, before anything is ordered, and large answers of vendors are not read before there is room.
   */
  answerBudgetBytes: 384 * 1024 * 1024,
  /**
   * A client that takes nothing of its answer for so long is cut off, and charged all the same; while
   * answers wait for room, after an eighth of the time.
   */
  answerStallSeconds: 30,
  /**
   * Calls for a model of a channel within a minute before it may cool down, because most calls of several
   * organisations fail by its vendor's fault; as many of one organisation, half of which fail, before
   * its own orders there are refused for a while.
   */
  breakerCalls: 10,
  /** The first cooldown of either; each failed trial doubles it. */
  channelCooldownSeconds: 10,
  /** The same of a channel's key that the vendor refused. */
  keyCooldownSeconds: 30,
  /** The longest cooldown of either. */
  maxCooldownSeconds: 600,
  /**
   * Receivers of webhooks and the files of vendors may be at any address, also without encryption:
   * for a machine of one's own, as the demo's is where the variable is absent.
   */
  webhookAllowPrivate: false,
  /**
   * Where clients reach the gateway, such as `https://media.example.com`; absent: archived files are
   * told at the address that a request went to, and webhooks tell the vendors'.
   */
  publicUrl: "",
  /** There is a bucket that results of tasks are copied into. */
  hasArchive: false,
  /** `1`: clients are sent to the bucket for archived files, by an address that lives for minutes. */
  archiveRedirect: false,
  /** Days that archived files are kept; 0: until their owner deletes their tasks. */
  archiveDays: 0,
  /** Largest file of a vendor that is passed on, in bytes. */
  maxContentBytes: 4 * 1024 * 1024 * 1024,
  /** Largest file that a client may upload, in bytes; its form has to fit into `GATEWAY_MAX_BODY_BYTES`. */
  maxFileBytes: 64 * 1024 * 1024,
  /** Hours that uploaded files are kept, at most. */
  fileHours: 24,
  /** Bytes of all uploaded files of one organisation. */
  organizationFileBytes: 1024 * 1024 * 1024,
  /** Uploaded files of one organisation. */
  organizationFiles: 1000,
  /** From one attempt to deliver a webhook to the next one, before up to a fifth is added by chance. */
  webhookRetrySeconds: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  /** How long an attempt to deliver a webhook may take. */
  webhookTimeoutSeconds: 15,
  /** How long an endpoint may fail before it is disabled. */
  webhookPatienceDays: 5,
  /** Connections the gateway has open at a time; more are closed as soon as they are made. */
  maxConnections: 16_384,
  /**
   * Connections that one client address (of IPv6 its first 64 bits) has open at a time; more are closed
   * as soon as they are made. 0 is any number, as it should be behind a proxy, whose address all clients
   * have. Absent: a quarter of `GATEWAY_MAX_CONNECTIONS`.
   */
  addressConnections: 4096,
  /** From a request's first byte to the end of its head, before the connection is cut. */
  headSeconds: 20,
  /** From a request's first byte to its last one, before the connection is cut. */
  requestSeconds: 120,
  /** Largest body of the ordering routes and of the catalog, in bytes. */
  maxMediaBodyBytes: 64 * 1024 * 1024,
  /**
   * Largest answer of a vendor to an order, in bytes, beside what it repeats of the order. An order whose
   * answer might be larger is refused.
   */
  maxAnswerBytes: 256 * 1024 * 1024,
  /** Largest usage list of a vendor, in bytes. */
  maxListBytes: 256 * 1024 * 1024,
  /** Largest body of every other route, in bytes. */
  maxBodyBytes: 256 * 1024
}

export type Settings = Readonly<typeof defaultSettings>

export const Settings = Context.Reference<Settings>("gateway/runtime/Settings", {
  defaultValue: () => defaultSettings
})
