/**
 * The settings of the service with their defaults. The comments become the table of variables in
 * `src/operations/README.md`.
 */
import { Context } from "effect"

const noOrigins: ReadonlyArray<string> = []

export const defaultSettings = {
  /** The currency of all amounts; one per deployment. */
  currency: "CNY",
  /** The IANA time zone of the calendar months of members' monthly caps. */
  timeZone: "UTC",
  /**
   * Whether no other gateway shares the database. Unfinished work found at the start was then left
   * by a crash.
   */
  soleGateway: false,
  /**
   * Deadline in seconds, counted from the hold, after which a video order without an answer from
   * the vendor is abandoned. The vendor has three quarters of this time, but at most 60 seconds.
   */
  submitDeadlineSeconds: 120,
  /**
   * Deadline in seconds, counted from the hold, after which an image order without an answer is
   * abandoned. The vendor has three quarters of this time, but at most 180 seconds.
   */
  imageDeadlineSeconds: 240,
  /**
   * Deadline in seconds, counted from the hold, after which a text order without an answer is
   * abandoned. The vendor has three quarters of this time, but at most 675 seconds; the same limit
   * applies to the first chunk of a stream.
   */
  textDeadlineSeconds: 900,
  /**
   * Assumed minimum speed of a vendor's output in tokens per hour. A text order without streaming
   * is refused if its output may take longer at this speed than the vendor's time-out.
   */
  textTokensPerHour: 128_000,
  /**
   * Deadline in seconds, counted from the hold, of a streamed text. The vendor has three quarters
   * of this time, and may be silent for 90 seconds between two chunks.
   */
  textStreamDeadlineSeconds: 3600,
  /**
   * Deadline in seconds, counted from the hold, after which a task fails and its hold is released.
   * The vendor is then polled once more and has half a minute to answer.
   */
  taskDeadlineSeconds: 24 * 3600,
  /**
   * Seconds after a task's deadline after which the task fails without waiting for the last poll's
   * answer.
   */
  lastQuestionSeconds: 30,
  /** Seconds that a task unknown to its vendor stays open. */
  unknownGraceSeconds: 600,
  /** Minimum interval in seconds between two polls of one task at its vendor. */
  askIntervalSeconds: 2,
  /** Maximum interval in seconds between two polls of one task by the poller. */
  maxAskIntervalSeconds: 15,
  /**
   * Interval in seconds at which the poller looks for due tasks and the sweeper for abandoned
   * orders.
   */
  pollerSeconds: 1,
  /**
   * Lease in seconds of a task that a gateway has claimed. The vendor has three quarters of this
   * time to answer a poll, but at most 20 seconds.
   */
  leaseSeconds: 30,
  /** Seconds that an `Idempotency-Key` is stored after its first request. */
  idempotencySeconds: 24 * 3600,
  /**
   * Maximum seconds that a request waits for its hold while the database is unavailable or
   * overloaded.
   */
  holdPatienceSeconds: 5,
  /** TTL in seconds of cached reads while notifications of other gateways arrive; a safety net. */
  cacheSeconds: 60,
  /**
   * TTL in seconds of cached reads while notifications of other gateways do not arrive; together
   * with a look-up it must stay under a second.
   */
  unheardCacheSeconds: 0.5,
  /** Maximum number of concurrent polls of this gateway at one channel's vendor. */
  pollsPerChannel: 64,
  /**
   * Interval in seconds between audits of the ledger; each is run by one of the gateways that share
   * it.
   */
  auditSeconds: 60,
  /** Interval in seconds at which a gateway looks for past months that can be sealed. */
  sealSeconds: 300,
  /** Interval in seconds between heartbeats of an event stream that has no events. */
  heartbeatSeconds: 15,
  /** Interval in seconds between health checks of the database and the poller. */
  healthSeconds: 1,
  /** Interval in seconds at which the totals of the database are counted for the metrics. */
  totalsSeconds: 5,
  /** Seconds between SIGTERM (readiness turns 503) and closing the listener. */
  drainSeconds: 0,
  /**
   * Seconds between SIGTERM and the moment when all unanswered requests are cut off; includes the
   * drain.
   */
  shutdownSeconds: 28,
  /**
   * Days that the log of calls to vendors is kept for operators, except calls stored in an order's
   * row.
   */
  callLogDays: 30,
  /**
   * Maximum number of requests per minute of a key at this gateway, unless the key has its own
   * limit (`requests_per_minute`); 0: unlimited.
   */
  keyRequestsPerMinute: 600_000,
  /** Maximum number of quotes per minute of a key at this gateway; 0: unlimited. */
  keyQuotesPerMinute: 600,
  /**
   * Maximum number of requests per minute of a key for lists of models at this gateway; 0:
   * unlimited.
   */
  keyModelsPerMinute: 600,
  /** Maximum number of file uploads per minute of a key at this gateway; 0: unlimited. */
  keyUploadsPerMinute: 600,
  /**
   * Maximum number of refused or abandoned orders and quotes per minute of a key at this gateway;
   * 0: unlimited. Only refusals for a fault in the request count, not those for lack of money or by
   * a vendor.
   */
  keyRefusalsPerMinute: 1200,
  /**
   * Maximum number of unknown keys per minute that one client address (an IPv6 /64) may try at this
   * gateway. Above it, further look-ups of the address run one at a time, and are answered 429 if
   * 64 others already wait. 0: unlimited, without waiting.
   */
  addressUnknownKeysPerMinute: 600,
  /**
   * Maximum number of concurrent requests of one organisation at this gateway; also the maximum
   * number of its running orders, including those whose client has disconnected.
   */
  organizationInFlight: 2048,
  /** Maximum number of concurrent requests of one organisation that only wait for a task to end. */
  organizationWaits: 1000,
  /**
   * Maximum number of concurrent lists (every read of more than a single object by its id) at this
   * gateway, for all organisations and operators together, served round-robin; a separate limit of
   * the same size applies to look-ups. Absent: a quarter of `DATABASE_POOL`, and 1 with the
   * embedded database.
   */
  listsInFlight: 4,
  /**
   * Maximum number of concurrent lists of one organisation at this gateway; a separate limit of the
   * same size applies to look-ups.
   */
  organizationLists: 2,
  /**
   * Maximum number of queued lists of one organisation, and as many look-ups; further ones are
   * answered 429.
   */
  organizationListQueue: 1000,
  /**
   * Maximum number of concurrent paid calls of this gateway at one channel's vendor; at most half
   * of them for one organisation.
   */
  channelInFlight: 4096,
  /**
   * Maximum number of received bytes of the bodies of all unanswered requests; at most half of them
   * for one organisation. Files and stored conversations within orders may have half of this number
   * in addition, and a quarter of it for one organisation. Memory may grow to about twice this.
   */
  bodyBudgetBytes: 512 * 1024 * 1024,
  /**
   * Maximum number of bytes of all answers in memory: vendors' answers that are not forwarded yet,
   * and answers that clients have not read yet. At most half of them for one organisation; above
   * that, the organisation is answered 429 before anything is ordered, and large answers of vendors
   * are not read until there is room.
   */
  answerBudgetBytes: 384 * 1024 * 1024,
  /**
   * Seconds after which a client that reads nothing of its answer is disconnected; its order is
   * still charged. While answers wait for room, an eighth of this time applies.
   */
  answerStallSeconds: 30,
  /**
   * Minimum number of calls for a model of a channel within a minute before the model may cool
   * down, because most calls of several organisations fail by the vendor's fault; also the minimum
   * for one organisation, half of whose calls fail, before its own orders there are refused for a
   * while.
   */
  breakerCalls: 10,
  /**
   * First cooldown in seconds, both for a channel and for one organisation's orders there; each
   * failed trial doubles it.
   */
  channelCooldownSeconds: 10,
  /**
   * First cooldown in seconds of a channel's key that the vendor refused; each failed trial doubles
   * it.
   */
  keyCooldownSeconds: 30,
  /** Maximum cooldown in seconds of a channel or a key. */
  maxCooldownSeconds: 600,
  /**
   * Whether webhook receivers and vendors' files may have any address, including private ones and
   * unencrypted HTTP: for a local machine. Absent: `true` in the demo.
   */
  webhookAllowPrivate: false,
  /**
   * URL at which clients reach the gateway, such as `https://media.example.com`. Absent: links to
   * archived files use the address of the request, and webhooks contain the vendors' URLs.
   */
  publicUrl: "",
  /**
   * Origins whose pages may call the client routes `/v1/...` from a browser (CORS), with commas in
   * between, such as `https://app.example.com`; `*`: every origin. Absent: none. Routes of operators
   * are never opened.
   */
  corsOrigins: noOrigins,
  /** Whether there is a bucket that results of tasks are copied into. */
  hasArchive: false,
  /**
   * `1`: clients are redirected to the bucket for archived files, by a URL that is valid for
   * minutes.
   */
  archiveRedirect: false,
  /** Days that archived files are kept; 0: until the owner deletes the task. */
  archiveDays: 0,
  /**
   * `1`: orders without `watermark` ask the vendor for its mark "made by AI", if the model has a
   * field for it, and neither the organisation nor its price list has a setting.
   */
  watermark: false,
  /** Maximum number of bytes of a vendor's file that is proxied. */
  maxContentBytes: 4 * 1024 * 1024 * 1024,
  /**
   * Maximum number of bytes of a file that a client may upload; its form must fit into
   * `GATEWAY_MAX_BODY_BYTES`.
   */
  maxFileBytes: 64 * 1024 * 1024,
  /** Maximum number of hours that uploaded files are kept. */
  fileHours: 24,
  /** Number of hours for which responses are stored. */
  responseHours: 720,
  /** Maximum number of bytes of all uploaded files of one organisation. */
  organizationFileBytes: 1024 * 1024 * 1024,
  /** Maximum number of uploaded files of one organisation. */
  organizationFiles: 1000,
  /**
   * Backoff in seconds between the delivery attempts of a webhook, before a jitter of up to a fifth
   * is added.
   */
  webhookRetrySeconds: [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
  /** Time-out in seconds of an attempt to deliver a webhook. */
  webhookTimeoutSeconds: 15,
  /** Days that an endpoint may fail before it is disabled. */
  webhookPatienceDays: 5,
  /** Seconds after which a session of a person who signed in ends, if it is not used. */
  sessionIdleSeconds: 3600,
  /** Seconds after which a session of a person who signed in ends in any case. */
  sessionSeconds: 12 * 3600,
  /** Maximum number of open connections of the gateway; further ones are closed immediately. */
  maxConnections: 16_384,
  /**
   * Maximum number of open connections of one client address (an IPv6 /64); further ones are closed
   * immediately. 0: unlimited, for use behind a proxy, whose address all clients share. Absent: a
   * quarter of `GATEWAY_MAX_CONNECTIONS`.
   */
  addressConnections: 4096,
  /**
   * Seconds from a request's first byte to the end of its head, after which the connection is cut.
   */
  headSeconds: 20,
  /** Seconds from a request's first byte to its last one, after which the connection is cut. */
  requestSeconds: 120,
  /** Maximum number of bytes of a body on the ordering routes and for the catalog. */
  maxMediaBodyBytes: 64 * 1024 * 1024,
  /**
   * Maximum number of bytes of a vendor's answer to an order, in addition to a repetition of the
   * order. An order whose answer might be larger is refused.
   */
  maxAnswerBytes: 256 * 1024 * 1024,
  /** Maximum number of bytes of a vendor's usage list. */
  maxListBytes: 256 * 1024 * 1024,
  /** Maximum number of bytes of a body on every other route. */
  maxBodyBytes: 256 * 1024
}

export type Settings = Readonly<typeof defaultSettings>

export const Settings = Context.Reference<Settings>("gateway/runtime/Settings", {
  defaultValue: () => defaultSettings
})
