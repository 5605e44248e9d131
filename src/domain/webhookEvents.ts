/** The webhook events, by receiver. */

/** Events of organisations. */
export const organizationEvents = [
  "video.completed",
  "video.failed",
  "image.completed",
  "image.failed",
  "speech.completed",
  "speech.failed",
  "balance.low",
  "cap.reached",
  "budget.threshold"
] as const

/** Events for operators. */
export const operatorEvents = [
  "channel.down",
  "channel.up",
  "orphan.created",
  "ledger.violation"
] as const

export type EventType = (typeof organizationEvents)[number] | (typeof operatorEvents)[number]

/**
 * The id of an organisation's endpoint for callbacks. It has no address, as each order names the
 * address.
 */
export const callbacksOf = (organizationId: string): string => `callback_${organizationId}`

/** Example data of each event, which a test delivery to an endpoint contains. */
export const sampleData = {
  "video.completed": {
    id: "vt_00000000-0000-7000-8000-000000000000",
    task_status: "succeeded",
    content: { video_url: "https://example.com/video.mp4" },
    usage: {}
  },
  "video.failed": {
    id: "vt_00000000-0000-7000-8000-000000000000",
    task_status: "failed",
    error: { code: "upstream_error", message: "The vendor could not make it" }
  },
  "image.completed": {
    id: "im_00000000-0000-7000-8000-000000000000",
    task_status: "succeeded",
    created: 1767225600,
    data: [{ url: "https://example.com/image.png" }]
  },
  "image.failed": {
    id: "im_00000000-0000-7000-8000-000000000000",
    task_status: "failed",
    error: { code: "upstream_error", message: "The vendor could not make them" }
  },
  "speech.completed": {
    id: "sp_00000000-0000-7000-8000-000000000000",
    task_status: "succeeded",
    content: { audio_url: "https://example.com/v1/audio/speech/sp_1/content" }
  },
  "speech.failed": {
    id: "sp_00000000-0000-7000-8000-000000000000",
    task_status: "failed",
    error: { code: "upstream_error", message: "The vendor could not make it" }
  },
  "balance.low": { balance: "9.5", threshold: "10" },
  "cap.reached": {
    member_id: "mem_00000000-0000-7000-8000-000000000000",
    member_name: "a member",
    month: "2026-01",
    cap: "100",
    used: "99.8"
  },
  "budget.threshold": {
    budget_id: "bg_00000000-0000-7000-8000-000000000000",
    scope: "key",
    subject_id: "key_00000000-0000-7000-8000-000000000000",
    period: "month",
    threshold: 80,
    amount: "100",
    used: "80.2"
  },
  "channel.down": { id: "ch-a", model: "model-a", reason: "timeout", status: null },
  "channel.up": { id: "ch-a", model: "model-a", reason: "timeout", status: null },
  "orphan.created": {
    id: "vt_00000000-0000-7000-8000-000000000000",
    organization_id: "org_00000000-0000-7000-8000-000000000000",
    channel: "ch-a",
    protocol: "vp_a",
    upstream_model: "vendor-film-1",
    upstream_id: null,
    reason: "timeout"
  },
  "ledger.violation": {
    organization_id: "org_00000000-0000-7000-8000-000000000000",
    reason: "an invariant and where it is broken"
  }
} as const satisfies Record<EventType, object>
