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
  description: "Requests that were answered, or whose client went away",
  incremental: true
})

export const requestsInFlight = Metric.gauge("gateway_http_requests_in_flight", {
  description: "Requests that are being handled"
})

export const answerBytes = Metric.gauge("gateway_answer_bytes", {
  description: "Bytes of answers that are in memory and not with their clients"
})

export const connectionsCut = Metric.counter("gateway_connections_cut_total", {
  description: "Connections that were cut because their client took nothing of its answer",
  incremental: true
})

export const eventStreams = Metric.gauge("gateway_event_streams", {
  description: "Clients that listen to the events of a task"
})

/** Label: `route`. */
export const requestSeconds = Metric.histogram("gateway_http_request_duration_seconds", {
  description: "From the head of a request to its answer",
  boundaries: requestBuckets
})

/** Label: `route`. */
export const overheadSeconds = Metric.histogram("gateway_http_request_overhead_seconds", {
  description: "Of requests that waited for a vendor: their duration less that wait",
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
  description: "How long the first deadline of those holds has passed; 0 when nothing is late"
})

export const openOrphans = Metric.gauge("gateway_open_orphans", {
  description:
    "Jobs that a vendor may have made and nobody has looked into, in the whole database; at most 10000"
})

export const waitingWebhooks = Metric.gauge("gateway_waiting_webhooks", {
  description:
    "Messages that are neither delivered nor given up, in the whole database; at most 10000"
})

export const waitingArchives = Metric.gauge("gateway_waiting_archives", {
  description:
    "Tasks whose results are to be copied into the archive, in the whole database; at most 10000"
})

export const pollerSilenceSeconds = Metric.gauge("gateway_poller_silence_seconds", {
  description: "Since this gateway's poller last asked the database for due tasks"
})

export const residentBytes = Metric.gauge("process_resident_memory_bytes", {
  description: "Memory of this gateway's process"
})

export const heapBytes = Metric.gauge("nodejs_heap_size_used_bytes", {
  description: "JavaScript objects of this gateway's process"
})

export const eventLoopDelaySeconds = Metric.gauge("nodejs_eventloop_lag_p99_seconds", {
  description: "How late one of a hundred turns of the event loop came since the last look"
})

/** Label: `currency`. */
export const heldMoney = Metric.gauge("gateway_held_money", {
  description: "Currency units held by open holds, over all pools"
})

/** Label: `currency`. */
export const poolMoney = Metric.gauge("gateway_pool_money", {
  description: "Currency units on all pools together, held ones included"
})

/** Label: `channel`. */
export const completionLagSeconds = Metric.histogram("gateway_task_completion_lag_seconds", {
  description:
    "From the last question the vendor answered with processing to the task's end: how late it was noticed at most",
  boundaries: [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 900, 3600]
})

/** Label: `channel`. */
export const surplusImages = Metric.counter("gateway_surplus_images_total", {
  description: "Images that vendors made beyond those ordered, and that were not delivered",
  incremental: true
})

/** Labels: `protocol`, `channel`. */
export const strangeStatusWords = Metric.counter("gateway_vendor_strange_status_total", {
  description: "Vendor answers with a status word that is not documented; taken as processing",
  incremental: true
})

/**
 * Labels: `protocol`, `channel`. The vendor may bill these orders although they were given up and
 * refunded.
 */
export const lateSuccesses = Metric.counter("gateway_late_success_total", {
  description: "Vendor successes that came after their order had been given up and refunded",
  incremental: true
})

/** Labels: `channel`, and `end` (`made`, or the reason of the failure). */
export const channelCalls = Metric.counter("gateway_channel_calls_total", {
  description: "Paid calls of channels that ended",
  incremental: true
})

/** Label: `channel`. */
export const channelCallSeconds = Metric.histogram("gateway_channel_call_duration_seconds", {
  description: "How long paid calls took that brought what was ordered, within a tenth",
  boundaries: requestBuckets
})

/** Label: `channel`. */
export const channelState = Metric.gauge("gateway_channel_state", {
  description:
    "0: the channel takes orders; 1: half-open, one order is the trial of it or of a model; 2: it or a model of it cools down"
})

/** Label: `channel`. */
export const modelsInCooldown = Metric.gauge("gateway_channel_models_at_rest", {
  description: "Models that a channel takes no orders for, as its vendor fails them"
})

/** Label: `channel`. */
export const slowedOrganizations = Metric.gauge("gateway_channel_slowed_organizations", {
  description:
    "Organisations, by model, whose orders alone fail at a channel and are refused for a while"
})

/** Label: `channel`. */
export const keysInCooldown = Metric.gauge("gateway_channel_keys_at_rest", {
  description: "Keys of a channel that its vendor refused and that are left alone for a while"
})

/** Label: `channel`. */
export const channelTasks = Metric.gauge("gateway_channel_open_tasks", {
  description: "Video tasks that have not ended, in the whole database"
})

/** Labels: `channel`, `model`, `amount` (`estimated` or `used`). */
export const vendorUsage = Metric.counter("gateway_vendor_usage_total", {
  description:
    "Currency units that orders were held for, and what they came to by the usage their vendors told",
  incremental: true
})

/** Labels: `channel` (the channel that produced nothing), `reason`. */
export const failovers = Metric.counter("gateway_failovers_total", {
  description: "Orders that went on to another channel, after one that made nothing",
  incremental: true
})

/** Label: `end` (kept, again or failed). */
export const archiveTries = Metric.counter("gateway_archive_tries_total", {
  description: "Tries to copy the results of a task into the archive",
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
