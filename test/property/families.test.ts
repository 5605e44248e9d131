/**
 * Orders of any media and roles at every model that the tables know: an order has its place at the vendor
 * or is refused before anything is sent, a role that the client wrote goes out as that role, and what the
 * vendor takes is what was ordered. PROPERTY_CASES sets how many, PROPERTY_SEED repeats a run.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { doubtOf } from "../../src/domain/VendorOutcome.ts"
import type { InputRole } from "../../src/domain/video/families/VideoFamily.ts"
import type { ImageRole } from "../../src/domain/video/VideoBody.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import type { VideoOrder } from "../../src/services/ProtocolAdapter.ts"
import type { AcceptedEntry } from "../../src/simulator/Book.ts"
import { type SeenRequest, Simulator } from "../../src/simulator/Simulator.ts"
import {
  accountAt,
  layerWithSimulator,
  orderOf,
  seenDuring,
  videoAdapter
} from "../adapters/support.ts"
import { seedOfDay } from "../support/day.ts"
import { type KnownProtocol, knownModels } from "../support/knownModels.ts"
import { diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 400)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

interface Case {
  readonly protocol: KnownProtocol
  readonly order: VideoOrder
  readonly seed: number
}

type Dice = ReturnType<typeof diceOf>

const pick = <A>(dice: Dice, all: ReadonlyArray<A>): A | undefined => all[dice.roll(all.length)]

const roles: ReadonlyArray<ImageRole | null> = [
  null,
  null,
  "first_frame",
  "last_frame",
  "reference_image"
]

/** An address, or the bytes for a vendor that loads no address. */
const drawUrl = (dice: Dice, protocol: KnownProtocol) => (name: string) => {
  const address = `https://media.example/${dice.roll(1e9)}.${name}`
  return protocol === "veo" && name === "png"
    ? `data:image/png;base64,${Buffer.from(address).toString("base64")}`
    : address
}

const drawBlocks = (dice: Dice, protocol: KnownProtocol): ReadonlyArray<VideoBlock> => {
  const url = drawUrl(dice, protocol)
  const images = Array.from(
    { length: dice.chance(30) ? 0 : 1 + dice.roll(3) },
    (): VideoBlock => ({ type: "image", role: pick(dice, roles) ?? null, url: url("png") })
  )
  return [
    { type: "text", text: "a lighthouse at dusk" },
    ...images,
    ...(dice.chance(15) ? [{ type: "video", url: url("mp4") } as const] : []),
    ...(dice.chance(15) ? [{ type: "audio", url: url("mp3") } as const] : [])
  ]
}

const drawCase = (seed: number): Case => {
  const dice = diceOf(seed)
  const known = pick(dice, knownModels)
  if (known === undefined) throw new Error("the demo has no model that the tables know")
  const { protocol, upstreamModel, family } = known
  const [min, max] = family.seconds
  const between = min + dice.roll(max - min + 1)
  const order = orderOf({
    upstreamModel,
    listedProtocol: protocol,
    blocks: drawBlocks(dice, protocol),
    seconds: pick(dice, family.onlySeconds ?? []) ?? between,
    resolution: pick(dice, family.resolutions) ?? "720p",
    ratio: pick(dice, [null, "16:9", "9:16", "1:1"]) ?? null,
    generateAudio: pick(dice, [null, null, true, false]) ?? null,
    parameters: dice.chance(20) ? { watermark: true } : {}
  })
  return { protocol, order, seed }
}

type Json = Readonly<Record<string, unknown>>

/** Where in a request the vendor finds a medium, by what its interface calls the places. */
const places: Readonly<Record<string, InputRole>> = {
  first_frame: "first_frame",
  last_frame: "last_frame",
  img_url: "first_frame",
  refer_image: "reference_image",
  reference_image: "reference_image",
  feature_video: "reference_video",
  reference_video: "reference_video",
  driving_audio: "reference_audio",
  audio_url: "reference_audio",
  reference_audio: "reference_audio",
  image: "first_frame",
  lastFrame: "last_frame",
  referenceImages: "reference_image"
}

const tierRoles: Readonly<Record<string, ReadonlyArray<InputRole>>> = {
  img2video: ["first_frame"],
  "start-end2video": ["first_frame", "last_frame"]
}

type SentRole = InputRole | null | undefined

/** The role that an address goes out with; undefined where it stands nowhere. */
const sentRole = ({ path, body }: SeenRequest, medium: string): SentRole => {
  const mode = path.split("/").at(-1) ?? ""
  const url = medium.replace(/^data:[^,]*,/, "")

  const roleAt = (place: string, index: number): InputRole | null => {
    if (place === "images") return tierRoles[mode]?.[index] ?? "reference_image"
    if (place === "reference_urls") {
      return url.endsWith("mp4") ? "reference_video" : "reference_image"
    }
    return places[place] ?? null
  }

  const placeOf = (item: Json, field: string, place: string): string => {
    if (field === "bytesBase64Encoded" || place === "referenceImages") return place
    const type = typeof item.role === "string" ? item.role : item.type
    return field === "url" && typeof type === "string" ? type : field
  }

  const roleInField = (item: Json, field: string, place: string, index: number): SentRole => {
    const value = item[field]
    if (field.endsWith("_url") && typeof value === "object") {
      const isHere = JSON.stringify(value).includes(url)
      return isHere ? (places[String(item.role ?? "")] ?? null) : undefined
    }
    return roleIn(value, placeOf(item, field, place), index)
  }

  const roleIn = (value: unknown, place: string, index: number): SentRole => {
    if (value === url) return roleAt(place, index)
    if (Array.isArray(value)) {
      return value.map((item, at) => roleIn(item, place, at)).find((role) => role !== undefined)
    }
    if (typeof value !== "object" || value === null) return undefined
    const item: Json = { ...value }
    return Object.keys(item)
      .map((field) => roleInField(item, field, place, index))
      .find((role) => role !== undefined)
  }
  return roleIn(body, "", 0)
}

/** Every medium goes out in the role that it was ordered with. */
const assertRoles = (order: Case["order"], request: SeenRequest, label: string): void => {
  for (const block of order.blocks) {
    if (block.type === "text") continue
    const sent = sentRole(request, block.url)
    assert.isDefined(sent, label)
    const expected = block.type === "image" ? block.role : `reference_${block.type}`
    if (expected !== null) assert.strictEqual(sent, expected, label)
  }
}

/** What the vendor has booked is what was ordered. */
const assertBooked = (
  order: Case["order"],
  booked: AcceptedEntry["order"],
  label: string
): void => {
  const count = (type: string) => order.blocks.filter((block) => block.type === type).length
  assert.deepStrictEqual(
    { ...booked.inputs },
    { images: count("image"), videos: count("video"), audios: count("audio") },
    label
  )
  assert.strictEqual(booked.seconds, order.seconds, label)
  assert.strictEqual(
    String(booked.resolution ?? "720p").toLowerCase(),
    order.resolution?.toLowerCase(),
    label
  )
  if (order.generateAudio !== null) {
    assert.strictEqual(booked.generate_audio, order.generateAudio, label)
  }
  if (order.ratio !== null && booked.ratio !== null) {
    assert.strictEqual(booked.ratio, order.ratio, label)
  }
}

const judge = Effect.fnUntraced(function* ({ protocol, order, seed }: Case) {
  const simulator = yield* Simulator
  const adapter = yield* videoAdapter(protocol)
  const booked = (yield* simulator.book).length
  const account = accountAt(`${simulator.url}/${protocol}`, "sk-simulated")
  const { result, requests } = yield* seenDuring(adapter.submit(account, order))
  const label = `seed ${seed}: ${JSON.stringify({ protocol, order, requests, result })}`
  const placed = adapter.checkOrder?.(order) ?? Result.void
  assert.strictEqual(Result.isSuccess(placed), requests.length === 1, label)
  const [request] = requests
  if (request === undefined) return "unplaced"
  if (Result.isFailure(result)) {
    assert.isNull(doubtOf(result.failure), label)
    assert.strictEqual((yield* simulator.book).length, booked, label)
    return "refused"
  }
  assertRoles(order, request, label)
  const entry = (yield* simulator.book).at(-1)
  assert.isTrue(entry !== undefined && "order" in entry, label)
  if (entry === undefined || !("order" in entry)) return "refused"
  assertBooked(order, entry.order, label)
  return "made"
})

layer(layerWithSimulator)(`orders at models that are known, seed ${SEED}`, (it) => {
  it.effect(
    "go where their model has a place, as they were ordered",
    () =>
      Effect.gen(function* () {
        const ends = { made: 0, refused: 0, unplaced: 0 }
        for (let index = 0; index < CASES; index++) {
          ends[yield* judge(drawCase((SEED + index * 7919) % 2 ** 31))] += 1
        }
        yield* Effect.logInfo(JSON.stringify(ends))
        assert.isAbove(ends.made, CASES / 10)
        assert.isAbove(ends.unplaced, 0)
      }),
    600_000
  )
})
