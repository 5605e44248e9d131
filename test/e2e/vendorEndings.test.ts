import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { orphanOf, upstreamIdOf } from "../support/orphans.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"

/** Long enough to see a task open that the vendor does not know, short enough to wait for its end. */
const settings = { ...quickSettings, unknownGraceSeconds: 0.2 }

type Said = readonly [code: string, message: string]

const lost: Said = ["task_lost", "The vendor no longer knows the task"]

const contentTasks: readonly [cancelled: Said, expired: Said] = [
  ["cancelled", "The vendor cancelled the task"],
  ["expired", "The task expired at the vendor"]
]
const unified: readonly [cancelled: Said, expired: Said] = [
  ["failed", "the task was cancelled"],
  ["failed", "the task took too long"]
]
const thirdGeneration: readonly [cancelled: Said, expired: Said] = [
  ["cancelled", "The vendor failed to make the video: UserCancelled"],
  ["Canceled", "The vendor failed to make the video: Canceled"]
]
/** An expired task is one this vendor has forgotten. */
const cloud: readonly [cancelled: Said, expired: Said] = [
  ["cancelled", "The vendor cancelled the task"],
  lost
]

/** By the protocol a model is listed under: the relay answers as that vendor does. */
const endings = new Map([
  ["vp_a", contentTasks],
  ["vp_b", contentTasks],
  ["vp_d", unified],
  ["vp_e", thirdGeneration],
  ["vp_f", cloud]
])

const named = ways
  .filter(({ modality }) => modality === "video")
  .map((way) => [way.model, way] as const)
type Way = (typeof ways)[number]

const channelOf = ({ mounted, listed }: Way) => mounted ?? listed

/** The task ends failed with these words, the money is back, and an operator hears of a lost one. */
const checkEnding = Effect.fnUntraced(function* (way: Way, word: string, [code, message]: Said) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  const { model } = way
  const prompt = `${model} ${word} sim:slow=1`
  const id = yield* createVideo(who, { model, prompt, ...leastInput(model) })
  const done = yield* finishVideo(who, id)
  assert.deepStrictEqual(done, { id, task_status: "failed", error: { code, message } }, prompt)
  assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" }, prompt)
  assert.deepStrictEqual(
    yield* orphanOf(id),
    code === "task_lost"
      ? {
          upstream_id: yield* upstreamIdOf(prompt, way),
          reason: "task_lost",
          job: {
            channelId: `ch-${channelOf(way)}`,
            protocol: channelOf(way),
            upstreamModel: way.upstream
          }
        }
      : null,
    prompt
  )
})

layer(layerTestGateway("embedded", settings, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("how tasks end at their vendors", (it) => {
  it.effect.each(named)(
    "%s: a task that is cancelled, expired or forgotten fails and returns the whole hold",
    ([, way]) =>
      Effect.gen(function* () {
        const [cancelled, expired] = endings.get(way.listed) ?? [lost, lost]
        yield* Effect.all(
          [
            checkEnding(way, "sim:cancel", cancelled),
            checkEnding(way, "sim:expire", expired),
            checkEnding(way, "sim:forget", lost)
          ],
          { concurrency: "unbounded" }
        )
      })
  )

  it.effect.each(named)(
    "%s: questions the vendor fails to answer leave the task open, and it succeeds all the same",
    ([, way]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* gateway.simulator.clearRequests
        const { model, listed } = way
        const prompt = `${model} sim:poll500=3 sim:slow=1`
        const id = yield* createVideo(who, { model, prompt, ...leastInput(model) })
        const done = yield* finishVideo(who, id)
        assert.strictEqual(done.task_status, "succeeded")
        assert.isNotEmpty(done.content?.video_url)
        const upstreamId = (yield* upstreamIdOf(prompt, way)).replace("text2video/", "")
        const questions = (yield* gateway.simulator.requests).filter(
          ({ method, path, query }) =>
            method === "GET" && (path.includes(upstreamId) || query.task_ids === upstreamId)
        )
        // Three times nothing, once in the works, and the end, which two may ask for at a time.
        assert.isAtLeast(questions.length, 5)
        const charge = listed === "vp_a" || listed === "vp_b" ? "5.0094" : "3"
        const { held, month } = yield* gateway.balance(who)
        assert.deepStrictEqual({ held, used: month.used }, { held: "0", used: charge })
        assert.isNull(yield* orphanOf(id))
      })
  )

  it.effect("the books hold after all of this", () =>
    Effect.flatMap(Gateway, (gateway) => gateway.verify)
  )
})
