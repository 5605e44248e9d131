/**
 * Films whose parts say one length or several: what is measured is never shorter than the longest that
 * any part says, and is known where they all say the same. PROPERTY_CASES sets how many films,
 * PROPERTY_SEED repeats a run.
 */
import { assert, describe, it } from "@effect/vitest"
import { uploadedSeconds } from "../../src/domain/video/length/knownSeconds.ts"
import { seedOfDay } from "../support/day.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { bigEndian, box, brand, words } from "../support/videoFiles.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 4000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

/** Boxes count in units of their own, and seconds that do not come out even are cut. */
const ROUNDING = 0.1

/** A film, and the length in seconds that each part of it says. */
interface Film {
  readonly bytes: Buffer
  readonly says: Readonly<Record<string, number>>
}

/** The seconds that a part says, by its name; 0 where it says nothing. */
type Saying = (part: string) => number

const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

const scales = [24, 600, 1000, 12_800, 90_000] as const

const mp4 = (dice: Dice, say: Saying): Film => {
  const says: Record<string, number> = {}
  const unitsOf = (part: string, scale: number): number => {
    const units = Math.round(say(part) * scale)
    says[part] = units / scale
    return units
  }
  const movieScale = dice.pick(scales)
  const isFragmented = dice.chance(40)
  /** With the fields of a header in 4 or 8 bytes. */
  const timed = (type: string, fields: (long: boolean) => ReadonlyArray<Uint8Array>) => {
    const long = dice.chance(30)
    return box(type, words(long ? 0x01000000 : 0), ...fields(long))
  }
  const time = (long: boolean, units: number) => (long ? u64(units) : words(units))
  const dates = (long: boolean) => Buffer.alloc(long ? 16 : 8)

  const tracks = Array.from({ length: 1 + dice.roll(2) }, (_, index) => {
    const id = index + 1
    const scale = dice.pick(scales)
    const name = (part: string) => `${part} of track ${id}`
    const header = unitsOf(name("tkhd"), movieScale)
    const media = unitsOf(name("mdhd"), scale)
    const edits = unitsOf(name("elst"), movieScale)
    const first = Math.floor(edits / 3)
    const frames = unitsOf(name(isFragmented ? "first stts" : "stts"), scale)
    const pieces = [frames - Math.floor(frames / 2), Math.floor(frames / 2)]
    const box_ = box(
      "trak",
      timed("tkhd", (long) => [dates(long), words(id, 0), time(long, header), Buffer.alloc(60)]),
      ...(edits === 0
        ? []
        : [
            box(
              "edts",
              timed("elst", (long) => [
                words(2),
                ...[first, edits - first].map((units) =>
                  Buffer.concat([time(long, units), time(long, 0), words(0x10000)])
                )
              ])
            )
          ]),
      box(
        "mdia",
        timed("mdhd", (long) => [dates(long), words(scale), time(long, media), words(0)]),
        box("minf", box("stbl", box("stts", words(0, 2, 1, pieces[0] ?? 0, 1, pieces[1] ?? 0))))
      )
    )
    return { id, scale, frames, box: box_ }
  })

  const moof = (id: number, scale: number, inMovie: number) => {
    const own = unitsOf(`trun of track ${id}`, scale)
    says[`trun of track ${id}`] = (own + inMovie) / scale
    const end = unitsOf(`tfdt of track ${id}`, scale)
    const begin = Math.max(0, end - own)
    if (begin > 0) says[`tfdt of track ${id}`] = (begin + own) / scale
    const half = Math.floor(own / 2)
    return box(
      "moof",
      box("mfhd", words(0, 1)),
      box(
        "traf",
        box("tfhd", words(0, id)),
        ...(begin > 0 ? [timed("tfdt", (long) => [time(long, begin)])] : []),
        box("trun", words(0x100, 2, own - half, half))
      )
    )
  }
  const index = () => {
    const units = unitsOf("sidx", 1000)
    const half = Math.floor(units / 2)
    return timed("sidx", (long) => [
      words(1, 1000),
      time(long, 0),
      time(long, 0),
      words(2, 100, units - half, 0, 100, half, 0)
    ])
  }
  const mehd = isFragmented ? unitsOf("mehd", movieScale) : 0
  const moov = () =>
    box(
      "moov",
      timed("mvhd", (long) => [
        dates(long),
        words(movieScale),
        time(long, unitsOf("mvhd", movieScale)),
        Buffer.alloc(80)
      ]),
      ...tracks.map((track) => track.box),
      ...(isFragmented
        ? [
            box(
              "mvex",
              ...(mehd > 0 ? [timed("mehd", (long) => [time(long, mehd)])] : []),
              ...tracks.map(({ id }) => box("trex", words(0, id, 1, 1, 0, 0)))
            )
          ]
        : [])
    )
  const parts = [brand, box("mdat", Buffer.alloc(30)), moov()]
  if (isFragmented) {
    if (dice.chance(50)) parts.push(index())
    for (const { id, scale, frames } of tracks) parts.push(moof(id, scale, frames))
  }
  if (say("second moov") > 0) {
    says["second moov"] = Math.round(say("second moov") * 1000) / 1000
    const header = words(0, 0, 0, 1000, Math.round(say("second moov") * 1000))
    const second = box("moov", box("mvhd", header, Buffer.alloc(80)))
    parts.splice(1 + dice.roll(parts.length), 0, second)
  }
  return { bytes: Buffer.concat(parts), says }
}

const element = (id: string, body: Uint8Array): Buffer => {
  const size = u64(body.length)
  size[0] = 1
  return Buffer.concat([Buffer.from(id, "hex"), size, body])
}

const webm = (dice: Dice, say: Saying): Film => {
  const says: Record<string, number> = {}
  const nanos = dice.pick([100_000, 1_000_000, 10_000_000])
  const ticksOf = (part: string): number => {
    const ticks = Math.round((say(part) * 1e9) / nanos)
    says[part] = (ticks * nanos) / 1e9
    return ticks
  }
  const float = Buffer.alloc(8)
  float.writeDoubleBE(ticksOf("Duration"))
  const scale = element("2ad7b1", bigEndian(nanos, 4))
  const duration = element("4489", float)
  const block = (ticks: number) => Buffer.concat([Buffer.from([0x81]), bigEndian(ticks, 2)])
  const clusters = ["Cluster", "another Cluster"].map((part) => {
    const ticks = ticksOf(part)
    const own = Math.min(ticks, dice.roll(30_000))
    const last = dice.chance(50)
      ? element("a3", block(own))
      : element(
          "a0",
          Buffer.concat([
            element("a1", block(0)),
            ...(own > 0 ? [element("9b", bigEndian(own, 2))] : [])
          ])
        )
    return element("1f43b675", Buffer.concat([element("e7", bigEndian(ticks - own, 5)), last]))
  })
  const info = element(
    "1549a966",
    Buffer.concat(dice.chance(50) ? [scale, duration] : [duration, scale])
  )
  const segment = (...parts: ReadonlyArray<Buffer>) => element("18538067", Buffer.concat(parts))
  const parts = [
    element("1a45dfa3", element("4282", Buffer.from("webm"))),
    segment(info, ...clusters)
  ]
  if (say("second Segment") > 0) {
    const other = Buffer.alloc(8)
    other.writeDoubleBE(ticksOf("second Segment"))
    parts.push(segment(element("1549a966", Buffer.concat([scale, element("4489", other)]))))
  }
  return { bytes: Buffer.concat(parts), says }
}

/** Every part says the same, a little less or more, or nothing. */
const honest = (dice: Dice, seconds: number): Saying => {
  const nothing = dice.roll(60)
  return (part) => {
    if (part.startsWith("second") || part.startsWith("first")) return 0
    const silent = /^(?:tfdt|mehd|sidx|elst|tkhd|Duration)/.test(part) && dice.chance(nothing)
    return silent ? 0 : seconds + (dice.roll(5) - 2) / 10
  }
}

/** Any part says anything. */
const hostile =
  (dice: Dice, seconds: number): Saying =>
  (part) => {
    if (part.startsWith("second") && dice.chance(80)) return 0
    if (dice.chance(15)) return 0
    return dice.chance(60) ? seconds : dice.pick([0.1, 1, seconds / 2, seconds * 3, dice.roll(900)])
  }

const toldOf = ({ says }: Film, seed: number, measured: number | null): string =>
  `PROPERTY_SEED=${seed} measured ${measured} of ${JSON.stringify(says)}`

describe(`the length of a film (PROPERTY_SEED=${SEED})`, () => {
  it.each([
    ["mvhd", mp4],
    ["mdhd of track 1", mp4],
    ["tkhd of track 1", mp4],
    ["elst of track 1", mp4],
    ["stts of track 1", mp4],
    ["trun of track 1", mp4],
    ["tfdt of track 1", mp4],
    ["mehd", mp4],
    ["sidx", mp4],
    ["second moov", mp4],
    ["Duration", webm],
    ["Cluster", webm],
    ["another Cluster", webm],
    ["second Segment", webm]
  ] as const)("a %s that says more than all others", (long, make) => {
    let hits = 0
    for (let seed = 0; seed < 60; seed++) {
      const dice = diceOf(seed)
      const film = make(dice, (part) => (part === long ? 60 : part.startsWith("second") ? 0 : 4))
      if (film.says[long] === undefined) continue
      hits++
      const measured = uploadedSeconds(film.bytes)
      if (measured !== null) assert.isAtLeast(measured, 60 - ROUNDING, toldOf(film, seed, measured))
    }
    assert.isAbove(hits, 5)
  })

  it("is never shorter than any part says", () => {
    const seen = { known: 0, unknown: 0 }
    for (let seed = SEED; seed < SEED + CASES; seed++) {
      const dice = diceOf(seed)
      const film = dice.pick([mp4, webm])(dice, hostile(dice, 1 + dice.roll(600)))
      const measured = uploadedSeconds(film.bytes)
      const longest = Math.max(...Object.values(film.says))
      if (measured !== null) {
        assert.isAtLeast(measured, longest - ROUNDING, toldOf(film, seed, measured))
      }
      seen[measured === null ? "unknown" : "known"]++
    }
    assert.isAbove(seen.unknown, CASES / 20)
  })

  it("is known where all parts say the same", () => {
    for (let seed = SEED; seed < SEED + CASES; seed++) {
      const dice = diceOf(seed)
      const seconds = 5 + dice.roll(600)
      const film = dice.pick([mp4, webm])(dice, honest(dice, seconds))
      const measured = uploadedSeconds(film.bytes)
      const told = toldOf(film, seed, measured)
      assert.isNotNull(measured, told)
      assert.closeTo(measured ?? 0, seconds, 0.3, told)
    }
  })
})
