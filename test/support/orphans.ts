/** What is kept for the operator about jobs a vendor may have made and nobody paid for. */
import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Gateway } from "./gateway.ts"
import type { ways } from "./protocolCatalog.ts"

const Orphans = Schema.Array(
  Schema.Struct({
    upstream_id: Schema.NullOr(Schema.String),
    reason: Schema.String,
    job: Schema.Struct({
      channelId: Schema.String,
      protocol: Schema.String,
      upstreamModel: Schema.String
    })
  })
)

/** The task's orphan; null when it has none. */
export const orphanOf = Effect.fnUntraced(function* (taskId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Effect.orDie(
    sql`SELECT upstream_id, reason, job FROM orphans WHERE order_id = ${taskId}`
  )
  const [orphan, ...others] = yield* Effect.orDie(Schema.decodeUnknownEffect(Orphans)(rows))
  assert.deepStrictEqual(others, [])
  return orphan ?? null
})

/** The vendor's id of the task ordered with the prompt, as the gateway keeps it. */
export const upstreamIdOf = Effect.fnUntraced(function* (
  prompt: string,
  way: (typeof ways)[number]
) {
  const { simulator } = yield* Gateway
  const digest = createHash("sha256").update(prompt).digest("hex")
  const booked = (yield* simulator.book).find(
    (entry) => entry.event === "accepted" && entry.order.prompt_sha256 === digest
  )
  assert.isDefined(booked, `nobody booked ${prompt}`)
  const id = booked.upstream_id
  // This family knows a task only on the path it was ordered at.
  return way.model === "relay-d" ? `text2video/${id}` : id
})
