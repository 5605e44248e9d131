/**
 * Every metric of the gateway. Labels are route patterns, protocols, channels and other values from
 * closed lists; organisations, keys, prompts, tasks and addresses are never labels.
 */
import { Metric } from "effect"

/**
 * Histogram buckets in seconds, from half a millisecond to the longest response time of the
 * gateway.
 */
const requestBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300
]

/** Labels: `route` (a pattern, or `unmatched`), `method`, `status` (its class, or `aborted`). */
export const requests = Metric.counter("gateway_http_requests_total", {
  description: "Completed requests, including those whose client disconnected",
  incremental: true
})

export const requestsInFlight = Metric.gauge("gateway_http_requests_in_flight", {
  description: "Requests in flight"
})

export const answerBytes = Metric.gauge("gateway_answer_bytes", {
  description: "Bytes of answers in memory that clients have not received yet"
})

export const closedConnections = Metric.counter("gateway_connections_cut_total", {
  description: "Connections closed because the client did not read its answer",
  incremental: true
})

export const eventStreams = Metric.gauge("gateway_event_streams", {
  description: "Open event streams of tasks"
})

/** Label: `route`. */
export const requestSeconds = Metric.histogram("gateway_http_request_duration_seconds", {
  description: "Request duration in seconds, from the request headers to the answer",
  boundaries: requestBuckets
})

/** Label: `route`. */
export const overheadSeconds = Metric.histogram("gateway_http_request_overhead_seconds", {
  description:
    "Request duration in seconds without the wait for vendors, of requests that called a vendor",
  boundaries: requestBuckets
})

/**
 * Attributes, named as in OpenTelemetry's conventions for generative AI: `gen_ai.operation.name`,
 * `gen_ai.request.model` (the catalog's name of the model), and for failed orders `error.type` (an
 * error code of the API, `interrupted` or `defect`).
 */
export const orderSeconds = Metric.histogram("gen_ai.server.request.duration", {
  description:
    "Seconds of an order that was checked and priced, to its answer; of videos to the vendor's acceptance, of streams to their end",
  boundaries: requestBuckets
})

/**
 * Attributes: those of `orderSeconds`, and in addition `gen_ai.provider.name` (the protocol) and
 * the vendor's name of the model.
 */
export const vendorCallSeconds = Metric.histogram("gen_ai.client.operation.duration", {
  description: "Seconds of one paid call of a vendor, whatever its end",
  boundaries: requestBuckets
})

/** Label: `state`. */
export const openTasks = Metric.gauge("gateway_open_tasks", {
  description: "Video tasks that have not ended, in the whole database"
})

export const openHolds = Metric.gauge("gateway_open_holds", {
  description: "Holds that are not closed, in the whole database"
})

export const lateHolds = Metric.gauge("gateway_late_holds", {
  description: "Holds that are open a minute or more past their deadline, in the whole database"
})

export const oldestLateHoldSeconds = Metric.gauge("gateway_oldest_late_hold_seconds", {
  description: "Seconds since the oldest missed deadline of an open hold; 0 if no hold is late"
})

export const openOrphans = Metric.gauge("gateway_open_orphans", {
  description: "Unresolved orphans in the whole database; counted up to 10000"
})

export const waitingWebhooks = Metric.gauge("gateway_waiting_webhooks", {
  description: "Webhook messages that wait for delivery, in the whole database; counted up to 10000"
})

export const waitingArchives = Metric.gauge("gateway_waiting_archives", {
  description:
    "Tasks whose results are to be copied into the archive, in the whole database; at most 10000"
})

export const pollerSilenceSeconds = Metric.gauge("gateway_poller_silence_seconds", {
  description: "Seconds since the last heartbeat of this gateway's poller"
})

export const residentBytes = Metric.gauge("process_resident_memory_bytes", {
  description: "Resident memory of the process in bytes"
})

export const heapBytes = Metric.gauge("nodejs_heap_size_used_bytes", {
  description: "JavaScript objects of this gateway's process"
})

export const eventLoopDelaySeconds = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "99th percentile of the event loop delay since the previous measurement"
})

/** Label: `currency`. */
export const heldMoney = Metric.gauge("gateway_held_money", {
  description: "Currency units held by open holds, over all pools"
})

/** Label: `currency`. */
export const poolMoney = Metric.gauge("gateway_pool_money", {
  description: "Sum of the balances of all pools, including held amounts, in currency units"
})

/** Label: `channel`. */
export const completionLagSeconds = Metric.histogram("gateway_task_completion_lag_seconds", {
  description:
    "Seconds from the last poll that returned `processing` to the end of the task: upper bound of the completion lag",
  boundaries: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 900, 3600]
})

/** Label: `channel`. */
export const surplusImages = Metric.counter("gateway_surplus_images_total", {
  description: "Images beyond the ordered number, which were not delivered",
  incremental: true
})

/** Labels: `protocol`, `channel`. */
export const unknownStatuses = Metric.counter("gateway_vendor_strange_status_total", {
  description: "Polls with an unknown status, which is treated as processing",
  incremental: true
})

/**
 * Labels: `protocol`, `channel`. The vendor may bill these orders although they were given up and
 * refunded.
 */
export const lateSuccesses = Metric.counter("gateway_late_success_total", {
  description: "Vendor successes that arrived after the hold was released",
  incremental: true
})

/** Labels: `channel`, and `end` (`made`, or the reason of the failure). */
export const channelCalls = Metric.counter("gateway_channel_calls_total", {
  description: "Completed paid calls to vendors",
  incremental: true
})

/** Label: `channel`. */
export const channelCallSeconds = Metric.histogram("gateway_channel_call_duration_seconds", {
  description: "Duration in seconds of successful paid calls, accurate to 10 %",
  boundaries: requestBuckets
})

/** Label: `channel`. */
export const channelState = Metric.gauge("gateway_channel_state", {
  description:
    "0: the channel takes orders; 1: half-open, one order is the trial of it or of a model; 2: it or a model of it cools down"
})

/** Label: `channel`. */
export const modelsInCooldown = Metric.gauge("gateway_channel_models_at_rest", {
  description: "Models of a channel that are in cooldown"
})

/** Label: `channel`. */
export const slowedOrganizations = Metric.gauge("gateway_channel_slowed_organizations", {
  description:
    "Organisations, by model, whose orders alone fail at a channel and are refused for a while"
})

/** Label: `channel`. */
export const keysInCooldown = Metric.gauge("gateway_channel_keys_at_rest", {
  description: "Keys of a channel that are in cooldown after the vendor refused them"
})

/** Label: `channel`. */
export const channelTasks = Metric.gauge("gateway_channel_open_tasks", {
  description: "Video tasks that have not ended, in the whole database"
})

export const unusableCatalog = Metric.gauge("gateway_catalog_unusable", {
  description:
    "1 while the newest catalog cannot be used by this gateway, and an older one stays in force"
})

/** Label: `channel`. */
export const waitingOrders = Metric.gauge("gateway_channel_waiting_orders", {
  description: "Orders that wait for a place at a channel with max_tasks, in the whole database"
})

/** Label: `channel`. */
export const oldestWaitingSeconds = Metric.gauge("gateway_channel_oldest_waiting_seconds", {
  description: "Seconds for which the oldest of these orders has waited; 0 if none waits"
})

/** Labels: `channel`, `model`, `amount` (`estimated` or `used`). */
export const vendorUsage = Metric.counter("gateway_vendor_usage_total", {
  description: "Estimated charge (hold) and charge by vendor-reported usage, in currency units",
  incremental: true
})

/** Labels: `channel` (the channel that produced nothing), `reason`. */
export const failovers = Metric.counter("gateway_failovers_total", {
  description: "Failovers: orders moved to another channel after a channel that produced nothing",
  incremental: true
})

/** Label: `end` (kept, again or failed). */
export const archiveTries = Metric.counter("gateway_archive_tries_total", {
  description: "Attempts to copy results into the archive",
  incremental: true
})

export const archivedBytes = Metric.counter("gateway_archived_bytes_total", {
  description: "Bytes that were copied into the archive",
  incremental: true
})

/** Label: `end` (delivered, again, failed or gone). */
export const webhookAttempts = Metric.counter("gateway_webhook_attempts_total", {
  description: "Attempts to deliver a webhook",
  incremental: true
})

/**
 * Labels: `protocol`, `channel`. The outcome of a task whose claim was stale is written by the
 * gateway that claimed the task next.
 */
export const staleClaims = Metric.counter("gateway_stale_claims_total", {
  description: "Answers without a verdict whose claim had run out: they wrote nothing",
  incremental: true
})

export const ledgerBatchSize = Metric.histogram("gateway_ledger_batch_size", {
  description: "Holds and closes that shared one call of the database",
  boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256]
})

export const ledgerViolations = Metric.gauge("gateway_ledger_violations", {
  description: "Broken invariants the last audit of the books found, at most 1000"
})

export const ledgerAuditTime = Metric.gauge("gateway_ledger_audit_timestamp_seconds", {
  description: "When the books were last audited, in Unix seconds; 0 before the first time"
})

export const stoppedOrganizations = Metric.gauge("gateway_stopped_organizations", {
  description: "Organisations that take no new orders because their books are broken"
})

/** Label: `signal` (traces, metrics, logs). */
export const droppedTelemetry = Metric.counter("gateway_telemetry_dropped_total", {
  description:
    "Exports that the collector did not take, or that others before them left no place for",
  incremental: true
})
