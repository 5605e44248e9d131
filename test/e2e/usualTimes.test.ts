import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { VideoKind } from "../../src/domain/video/VideoQuote.ts"
import { layerUsualTimes, UsualTimes } from "../../src/polling/CompletionTimes.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { createVideo, finishVideo, orderVideo } from "../support/orders.ts"
import { quoteOf } from "../support/quotes.ts"

/** Milliseconds and seconds after which the answer asks to come back. */
const comeBack = ({ headers }: HttpAnswer) => [
  Number(headers.get("openai-poll-after-ms")),
  Number(headers.get("retry-after"))
]

/** Less than the second that the simulator takes, as the database's clock began it. */
const ABOUT_A_SECOND = 0.9

const kind: VideoKind = { model: "film-1", seconds: 5, resolution: "720p" }
const slow = "x sim:slow=100000"

for (const database of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(database), { excludeTestServices: true, timeout: "60 seconds" })(
    `when to come back (${database})`,
    (it) => {
      it.effect("is learnt from what such videos take, and known after a restart", () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const first = yield* orderVideo(who, { model: "film-1", prompt: slow })
          assert.deepStrictEqual(comeBack(first), [10, 1])

          const learnt = yield* createVideo(who, { model: "film-1", prompt: "x sim:takes=1" })
          assert.strictEqual((yield* finishVideo(who, learnt)).task_status, "succeeded")
          const failing = { model: "clip-1", prompt: "x sim:fail" }
          yield* finishVideo(who, yield* createVideo(who, failing))

          const created = yield* orderVideo(who, { model: "film-1", prompt: slow })
          const [millis = 0, seconds] = comeBack(created)
          // About the second it took: the question that told of the end began before it.
          assert.isAbove(millis, 100)
          assert.strictEqual(seconds, Math.ceil(millis / 1000))
          const location = created.headers.get("location") ?? ""
          const [left = 0] = comeBack(yield* gateway.call(location, { key: who.key }))
          assert.isBelow(left, millis)

          const quoted = { prompt: "x", duration: 5, resolution: "720p" }
          const usualOf = (json: object) =>
            Effect.map(quoteOf(who, { ...quoted, ...json }), ({ body }) => body)
          const known = yield* usualOf({ model: "film-1" })
          assert.isAtLeast(Object(known).usual_seconds, ABOUT_A_SECOND)
          assert.propertyVal(
            yield* usualOf({ model: "film-1", duration: 6 }),
            "usual_seconds",
            null
          )
          assert.notProperty(yield* usualOf({ model: "paint-1" }), "usual_seconds")

          const others = [
            { model: "film-1", prompt: slow, resolution: "1080p" },
            { model: "film-1", prompt: slow, duration: 6 },
            { model: "clip-1", prompt: slow }
          ]
          for (const order of others) {
            assert.deepStrictEqual(comeBack(yield* orderVideo(who, order)), [10, 1])
          }

          const restarted = yield* Effect.provide(UsualTimes, Layer.fresh(layerUsualTimes))
          assert.isAtLeast(restarted.usualSeconds(kind) ?? 0, ABOUT_A_SECOND)
          assert.isNull(restarted.usualSeconds({ ...kind, resolution: "1080p" }))
          assert.isNull(restarted.usualSeconds({ ...kind, model: "clip-1" }))
        })
      )
    }
  )
}
