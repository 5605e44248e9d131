/**
 * The facts of an order, which decide its price, are those of the request that its adapter writes:
 * the mode by the roles on the wire, and the sound by the field that switches it.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Result, Struct } from "effect"
import { factsOf } from "../../src/domain/video/orderFacts.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { readFacts } from "../support/wireReading.ts"
import { accountAt, layerOverSockets, orderOf, textBlock, videoAdapter } from "./support.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 120)
const SEED = Number(process.env.PRICE_SEED ?? seedOfDay)

const models = {
  vp_a: [
    "ep-20260101-unknown",
    "doubao-seedance-1-0-pro",
    "doubao-seedance-1-5-pro",
    "doubao-seedance-2-0",
    "doubao-seedance-2-5"
  ],
  vp_d: ["kling-v4", "kling-v3", "kling-v3-turbo", "kling-v3-omni", "kling-o1", "kling-v2-6"],
  vp_e: ["viduq9", "viduq3", "viduq3-pro", "viduq3-turbo", "viduq3-pro-fast"],
  vp_f: [
    "film",
    "wan9.1-t2v",
    "wan9.1-i2v",
    "wan9.1-i2v-flash",
    "wan9.1-r2v",
    "wan2.5-i2v",
    "wan2.5-r2v",
    "wan2.6-t2v",
    "wan2.6-i2v-flash",
    "wan2.6-r2v",
    "wan2.7-i2v",
    "wan2.7-r2v",
    "wan3.0-video"
  ]
} as const
/** Models of protocols that no relay serves. */
const ownModels = { minimax: ["MiniMax-H3", "MiniMax-H3-Max", "minimax-h9"] } as const
const modelsOf = { ...models, vp_b: models.vp_a, ...ownModels }
const routes = [
  ...Struct.keys({ ...models, vp_b: models.vp_a }).flatMap((listed) => [
    { protocol: listed, listed },
    { protocol: "vp_c" as const, listed }
  ]),
  ...Struct.keys(ownModels).map((listed) => ({ protocol: listed, listed }))
]

const drawBlocks = (dice: Dice): ReadonlyArray<VideoBlock> => {
  const url = "https://files.test/1"
  const roles = [null, null, "first_frame", "last_frame", "reference_image"] as const
  const several = (chance: number, most: number) => (dice.chance(chance) ? dice.roll(most) : 0)
  return [
    textBlock("a"),
    ...Array.from({ length: several(70, 3) }, () => ({
      type: "image" as const,
      role: dice.pick(roles),
      url
    })),
    // Some requests distinguish images and videos by the extension alone.
    ...Array.from({ length: several(20, 2) }, () => ({
      type: "video" as const,
      url: `${url}.mp4`
    })),
    ...Array.from({ length: several(20, 2) }, () => ({ type: "audio" as const, url }))
  ]
}

layer(layerOverSockets)("the facts of an order are those of its request", (it) => {
  it.effect.each(routes)("$protocol as $listed", ({ protocol, listed }) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: {} })
      const adapter = yield* videoAdapter(protocol)
      const dice = diceOf(SEED)
      let sent = 0
      for (let index = 0; index < CASES; index++) {
        const upstreamModel = dice.pick<string>(modelsOf[listed])
        const blocks = drawBlocks(dice)
        const ordered = dice.pick([null, true, false])
        const call = {
          row: videoProtocols[protocol],
          listed: videoProtocols[listed],
          upstreamModel
        }
        const { facts, referenceImages, generateAudio } = factsOf(
          call,
          { blocks, generateAudio: ordered },
          "720p"
        )
        const order = orderOf({ upstreamModel, listedProtocol: listed, blocks, generateAudio })
        if (Result.isFailure(adapter.checkOrder?.(order) ?? Result.void)) continue
        yield* Effect.result(adapter.submit(accountAt(vendor.url), order))
        const [request] = (yield* vendor.requests).slice(-1)
        const written = readFacts(request?.target ?? "", JSON.parse(request?.body ?? "{}"))
        const says = `seed ${SEED}: ${upstreamModel} ${JSON.stringify([blocks, ordered])}`
        assert.strictEqual(facts.mode, written.mode, says)
        assert.strictEqual(referenceImages, written.references, says)
        if (written.sound !== null) assert.strictEqual(facts.sound, written.sound, says)
        sent += 1
      }
      assert.isAbove(sent, CASES / 10)
    })
  )
})
