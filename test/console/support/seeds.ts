/** A gateway that has been used for a while, so that its pages have something to show. */
import { Effect, Schema } from "effect"
import type { Session } from "../../../src/console/gateway/session.ts"
import { ADMIN_TOKEN } from "../../support/cluster.ts"
import { bodyAs, Gateway } from "../../support/gateway.ts"

const Created = Schema.Struct({ id: Schema.String })
const Keyed = Schema.Struct({ id: Schema.String, key: Schema.String })

export interface Seeded {
  readonly session: Session
  readonly organizationId: string
  readonly memberId: string
  readonly done: string
  readonly failed: string
  readonly running: string
  readonly image: string
  readonly endpoint: string
  readonly channel: string
  readonly month: string
}

const PROMPTS = ["a lighthouse at dusk", "rain on a tin roof", "a paper boat in a storm drain"]

export const seed = Effect.gen(function* () {
  const gateway = yield* Gateway
  const make = (path: string, json: unknown, schema: typeof Created = Created) =>
    Effect.flatMap(gateway.admin(path, { json }), (answer) => bodyAs(schema, answer))
  const organization = yield* make("/organizations", { name: "Harbour Films" })
  yield* make("/organizations", { name: "Quiet Street Studio" })
  const at = `/organizations/${organization.id}`
  yield* gateway.admin(`${at}/deposits`, {
    json: { amount: "1000", reference: "invoice 2026-118" }
  })
  const member = yield* make(`${at}/members`, { name: "editing room", monthly_cap: "400" })
  const { id: keyId, key } = yield* bodyAs(
    Keyed,
    yield* gateway.admin(`/members/${member.id}/keys`, {
      json: {
        name: "storyboards",
        scopes: [
          "models",
          "videos",
          "images",
          "chat",
          "embeddings",
          "rerank",
          "audio",
          "usage",
          "webhooks",
          "statements"
        ]
      }
    })
  )
  yield* gateway.admin(`${at}/budgets`, {
    json: {
      scope: "key",
      subject_id: keyId,
      period: "day",
      amount: "60",
      thresholds: [50, 80, 100]
    }
  })

  const order = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    Effect.flatMap(gateway.call(path, { key, json, headers }), (answer) => bodyAs(Created, answer))
  const video = (prompt: string, more: Record<string, unknown> = {}) =>
    order("/v1/videos/generations", {
      model: "film-1",
      prompt,
      metadata: { project: "lighthouse", scene: "12" },
      ...more
    })
  const ended = (id: string) =>
    gateway.call(`/v1/${id.startsWith("vt_") ? "videos" : "images"}/${id}?wait=30`, { key })

  const endpoint = yield* order("/v1/webhook_endpoints", {
    name: "editing room",
    url: "http://127.0.0.1:9/ends",
    event_types: ["video.completed", "video.failed"]
  })

  const done = yield* video(PROMPTS[0] ?? "")
  for (const prompt of PROMPTS) yield* ended((yield* video(prompt, { model: "clip-1" })).id)
  const failed = yield* video(`${PROMPTS[1]} sim:fail`)
  const running = yield* video(`${PROMPTS[2]} sim:slow=100000`)
  const image = yield* order(
    "/v1/images/generations",
    { model: "paint-1", prompt: PROMPTS[0], n: 2 },
    { prefer: "respond-async" }
  )
  for (const id of [done.id, failed.id, image.id]) yield* ended(id)
  yield* gateway.call("/v1/images/generations", {
    key,
    json: { model: "paint-1", prompt: `${PROMPTS[1]} sim:lost` }
  })
  yield* gateway.admin(`${at}/adjustments`, {
    json: {
      kind: "credit",
      amount: "12.5",
      reason: "The spring offer",
      reference: "offer 3"
    }
  })
  yield* gateway.admin("/operators", { json: { name: "Lin", role: "finance" } })
  return {
    session: {
      apiKey: key,
      operator: { token: ADMIN_TOKEN, name: "GATEWAY_ADMIN_TOKEN", role: "owner" }
    },
    organizationId: organization.id,
    memberId: member.id,
    done: done.id,
    failed: failed.id,
    running: running.id,
    image: image.id,
    endpoint: endpoint.id,
    channel: "demo-vp_a",
    month: new Date().toISOString().slice(0, 7)
  } satisfies Seeded
})
