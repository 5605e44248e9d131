/**
 * The facts of an order, which decide its price, are those of the request that its adapter writes:
 * the mode by the roles on the wire, and the sound by the field that switches it.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Predicate, Result, Struct } from "effect"
import { factsOf } from "../../src/domain/video/orderFacts.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { accountAt, layerOverSockets, orderOf, textBlock, videoAdapter } from "./support.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 120)
const SEED = Number(process.env.PRICE_SEED ?? Date.now() % 2 ** 31)

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
const modelsOf = { ...models, vp_b: models.vp_a }
const routes = Struct.keys(modelsOf).flatMap((listed) => [
  { protocol: listed, listed },
  { protocol: "vp_c" as const, listed }
])

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
    ...Array.from({ length: several(20, 2) }, () => ({ type: "video" as const, url })),
    ...Array.from({ length: several(20, 2) }, () => ({ type: "audio" as const, url }))
  ]
}

type Fields = Readonly<Record<string, unknown>>
const fieldsOf = (value: unknown): Fields => (Predicate.isReadonlyObject(value) ? value : {})
const itemsOf = (value: unknown): ReadonlyArray<Fields> =>
  Array.isArray(value) ? value.map(fieldsOf) : []

/** The roles of vendors' items, in the words of clients. */
const roleNames: Readonly<Record<string, string>> = {
  refer_image: "reference_image",
  feature_video: "reference_video",
  refer_audio: "reference_audio",
  driving_audio: "reference_audio"
}

/** The roles of the media in a request, by its form. */
const writtenRoles = (target: string, body: Fields): ReadonlyArray<string> => {
  const input = fieldsOf(body.input)
  if (body.content !== undefined) {
    return itemsOf(body.content).flatMap(({ type, role = "first_frame" }) =>
      type === "text" ? [] : [String(role)]
    )
  }
  const typed = [...itemsOf(body.contents), ...itemsOf(input.media)].map(({ type }) => String(type))
  if (typed.length > 0) return typed.map((type) => roleNames[type] ?? type)
  if (Array.isArray(input.reference_urls) && input.reference_urls.length > 0) {
    return ["reference_image"]
  }
  if (input.img_url !== undefined || body.image !== undefined) return ["first_frame"]
  if (target.includes("start-end2video")) return ["first_frame", "last_frame"]
  if (target.includes("img2video")) return ["first_frame"]
  return target.includes("reference2video") ? ["reference_image"] : []
}

const modeOf = (roles: ReadonlyArray<string>) => {
  if (roles.includes("reference_image") || roles.includes("reference_video")) return "reference"
  if (roles.includes("last_frame")) return "frames"
  return roles.includes("first_frame") ? "image" : "text"
}

/** The sound that a request orders; undefined where it has no field for it. */
const writtenSound = (body: Fields): boolean | undefined => {
  const values = [
    body.generate_audio,
    body.audio,
    body.sound,
    fieldsOf(body.settings).audio,
    fieldsOf(body.parameters).audio
  ].filter((value) => value !== undefined)
  return values.length === 0 ? undefined : [true, "native", "on"].some((on) => values[0] === on)
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
        const { facts, generateAudio } = factsOf(call, { blocks, generateAudio: ordered }, "720p")
        const order = orderOf({ upstreamModel, listedProtocol: listed, blocks, generateAudio })
        if (Result.isFailure(adapter.place?.(order) ?? Result.void)) continue
        yield* Effect.result(adapter.submit(accountAt(vendor.url), order))
        const [request] = (yield* vendor.requests).slice(-1)
        const body = fieldsOf(JSON.parse(request?.body ?? "{}"))
        const says = `seed ${SEED}: ${upstreamModel} ${JSON.stringify([blocks, ordered])}`
        assert.strictEqual(facts.mode, modeOf(writtenRoles(request?.target ?? "", body)), says)
        const sound = writtenSound(body)
        if (sound !== undefined) assert.strictEqual(facts.sound, sound, says)
        sent += 1
      }
      assert.isAbove(sent, CASES / 10)
    })
  )
})
