/** Books of one video and one image, for tests of the judges of a chaos run. */
import { createHash } from "node:crypto"
import type { Books, Hold, Job, Task, Usage } from "../../scripts/chaos/books.ts"
import type { Order } from "../../scripts/chaos/witness.ts"

const customer = { organizationId: "org", memberId: "mem", key: "mg_key" }

const orderOf = (kind: Order["kind"], idempotencyKey: string | null): Order => {
  const prompt = `a ${kind}`
  const promptDigest = createHash("sha256").update(prompt).digest("hex")
  const model = kind === "video" ? "clip-1" : "paint-1"
  return {
    id: kind,
    customer,
    model,
    kind,
    isLater: false,
    units: 5,
    prompt,
    promptDigest,
    json: {},
    idempotencyKey,
    maxWait: null
  }
}
export const clip = orderOf("video", "k")
export const paint = orderOf("image", null)

export const jobOf = (order: Order, id: string): Job => {
  const subject = { kind: order.kind, upstream_id: id, model: order.model, seq: 1 }
  const protocol = order.kind === "video" ? "vp_d" : "ip_a"
  return {
    accepted: {
      ...subject,
      protocol,
      event: "accepted",
      at: "2026-01-01T00:00:01.000Z",
      key_hint: "",
      client_token: null,
      switches: {},
      echo: {},
      order: {
        seconds: order.units,
        resolution: null,
        ratio: null,
        n: null,
        size: null,
        inputs: { images: 0, videos: 0, audios: 0 },
        generate_audio: null,
        prompt_sha256: order.promptDigest
      }
    },
    ended: {
      ...subject,
      protocol,
      event: "succeeded",
      at: "2026-01-01T00:00:02.000Z",
      reason: null,
      produced: { seconds: order.units, images: null, completion_tokens: null }
    }
  }
}

const own = { organization_id: "org", member_id: "mem" }
const holdOf = (id: string, upstreamModel: string, amount: bigint): Hold => ({
  ...own,
  id,
  amount,
  captured: amount,
  overage: 0n,
  state: "captured",
  month: "2026-01-01",
  upstream_model: upstreamModel,
  prompt_digest: null,
  created_at: new Date("2026-01-01T00:00:00Z"),
  closed_at: new Date("2026-01-01T00:00:03Z"),
  closed_by: "poll"
})
export const usageOf = (holdId: string, model: string, charge: bigint): Usage => ({
  ...own,
  hold_id: holdId,
  task_id: null,
  model,
  output: 5n,
  charge
})
const transfer = { organization_id: "org", debit: "pool", credit: "revenue", reference: null }
const capture = (holdId: string, amount: bigint) => ({
  ...transfer,
  kind: "capture",
  amount,
  hold_id: holdId
})

export const task: Task = {
  ...own,
  id: "vt_1",
  model: "clip-1",
  protocol: "vp_d",
  state: "succeeded",
  error_code: null,
  upstream_id: "job-v",
  video_url: "http://v",
  is_archived: false,
  accepted_at: new Date("2026-01-01T00:00:01Z"),
  finished_at: new Date("2026-01-01T00:00:03Z")
}
export const videoHold = holdOf("vt_1", "kling-v3-omni", 3_000_000_000n)
export const imageHold = holdOf("im_1", "sim-paint-1", 1_000_000_000n)

/** One video and one image, each ordered, made, charged and answered once. */
export const sound: Books = {
  pools: [{ organization_id: "org", balance: 6_000_000_000n, held: 0n, highest_overdraft: 0n }],
  transfers: [
    {
      ...transfer,
      kind: "deposit",
      debit: "external",
      credit: "pool",
      amount: 10_000_000_000n,
      hold_id: null,
      reference: "first"
    },
    capture("vt_1", 3_000_000_000n),
    capture("im_1", 1_000_000_000n)
  ],
  holds: [videoHold, imageHold],
  months: [{ ...own, month: "2026-01-01", held: 0n, captured: 4_000_000_000n, cap: null }],
  usage: [usageOf("vt_1", "clip-1", 3_000_000_000n), usageOf("im_1", "paint-1", 1_000_000_000n)],
  tasks: [task],
  orphans: [],
  deliveries: [],
  catalogs: [],
  jobs: [jobOf(clip, "job-v"), jobOf(paint, "job-i")]
}
