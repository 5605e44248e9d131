import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { orphanOf, upstreamIdOf } from "../support/orphans.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"

/** Long enough for a vendor to accept an order, short enough to wait for. */
const settings = { ...quickSettings, taskDeadlineSeconds: 0.25 }

const videos = ways.filter(({ modality }) => modality === "video")
type Way = (typeof ways)[number]

/** The task stays open as long as it may, and an operator hears of what became of it. */
const checkGivenUp = Effect.fnUntraced(function* (way: Way, word: string) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  const { model } = way
  const prompt = `${model} ${word}`
  const id = yield* createVideo(who, { model, prompt, ...leastInput(model) })
  const expected = {
    id,
    task_status: "failed",
    error: { code: "deadline_exceeded", message: "The vendor did not finish in time" }
  }
  assert.deepStrictEqual(yield* finishVideo(who, id), expected, word)
  assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" }, word)
  const protocol = way.mounted ?? way.listed
  const orphan = {
    upstream_id: yield* upstreamIdOf(prompt, way),
    reason: "deadline_exceeded",
    job: { channelId: `ch-${protocol}`, protocol, upstreamModel: way.upstream }
  }
  assert.deepStrictEqual(yield* orphanOf(id), orphan, word)
})

layer(layerTestGateway("embedded", settings, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("tasks past their deadline", (it) => {
  it.effect.each(videos.map((way) => [way.model, way] as const))(
    "%s: a task in a status nobody knows, or within its time of grace, is open until its deadline",
    ([, way]) =>
      Effect.all([checkGivenUp(way, "sim:unknown-status"), checkGivenUp(way, "sim:forget")], {
        concurrency: "unbounded"
      })
  )

  it.effect("the books hold after all of this", () =>
    Effect.flatMap(Gateway, (gateway) => gateway.verify)
  )
})
