/** What an operator reads of channels. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChannelCheckView, ChannelView } from "../../src/features/catalog/ChannelsApi.ts"
import { bodyAs, Gateway } from "./gateway.ts"

const Channels = Schema.Struct({ data: Schema.Array(ChannelView), has_more: Schema.Boolean })
const Checks = Schema.Struct({ data: Schema.Array(ChannelCheckView) })

/** One channel as the list tells it. */
export const channelNow = Effect.fnUntraced(function* (id: string) {
  const gateway = yield* Gateway
  const { data } = yield* bodyAs(Channels, yield* gateway.admin("/channels?limit=100"))
  const found = data.find((channel) => channel.id === id)
  return found ?? assert.fail(`no channel is called ${id}`)
})

/** Waits until the channel is told like that, as gateways hear of each other once a second. */
export const channelUntil = (id: string, isLike: (channel: ChannelView) => boolean) =>
  channelNow(id).pipe(
    Effect.delay("50 millis"),
    Effect.repeat({ until: isLike }),
    Effect.timeout("20 seconds"),
    Effect.orDie
  )

export const testOf = Effect.fnUntraced(function* (id: string) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(`/channels/${id}/test`, { method: "POST" })
  assert.strictEqual(answer.status, 200, answer.text)
  return (yield* bodyAs(Checks, answer)).data
})

/** The time of every rest passes. */
export const passRests = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`UPDATE rests SET until = now(), tried_until = NULL WHERE until > now()`)
})
