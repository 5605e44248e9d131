/** Request bodies that say everything twice, in every place and in the words of every vendor. */

/** A source of numbers that the same seed repeats. */
export interface Dice {
  /** From 0 up to but not including `below`. */
  readonly roll: (below: number) => number
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A
  readonly chance: (percent: number) => boolean
}

/** Mulberry32: small, and good enough to choose test cases. */
export const diceOf = (seed: number): Dice => {
  let state = seed >>> 0
  const roll = (below: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
  return {
    roll,
    pick: ([first, ...rest]) => rest[roll(rest.length + 1) - 1] ?? first,
    chance: (percent) => roll(100) < percent
  }
}

const goodSeconds = [3, 4, 5, 6, 8, 9, 10, 12] as const
const oddSeconds = [-2, -1, 0, 1, 2, 13, 15, 16, 17, 100] as const
const goodTiers = ["720p", "1080p", "720P", "1080P"] as const
const oddTiers = ["480p", "540p", "4K", "4k", "8K", "360p", ""] as const

const secondsOf = (dice: Dice) => (dice.chance(75) ? dice.pick(goodSeconds) : dice.pick(oddSeconds))
const tierOf = (dice: Dice) => (dice.chance(75) ? dice.pick(goodTiers) : dice.pick(oddTiers))

const flagOf = (dice: Dice): string => {
  const dashes = dice.chance(80) ? "--" : dice.pick(["—", "－－", "–-"])
  const gap = dice.pick([" ", "=", " = ", "  ", "\n", "：", "＝", "\u3000", "\u200b"])
  switch (dice.roll(10)) {
    case 0:
    case 1:
      return `${dashes}${dice.pick(["duration", "dur", "DURATION"])}${gap}${secondsOf(dice)}`
    case 2:
    case 3:
      return `${dashes}${dice.pick(["resolution", "rs", "Resolution"])}${gap}${tierOf(dice)}`
    case 4:
      return `${dashes}${dice.pick(["ratio", "rt"])}${gap}${dice.pick(["16:9", "9:16", "1:1"])}`
    case 5:
      return dice.pick(["--duration", "--rs=", "--duration=--duration 15", "-- duration of 15"])
    case 6:
      return dice.pick(["--seconds 15", "--durations 15", "--seed 7", "--wm false", "--cf true"])
    case 7:
      return dice.chance(80)
        ? "--dur15"
        : dice.pick(["--frames 361", "--fps60", "--draft true", "--ｄｕｒ 15", "--d\u200bur 15"])
    default:
      return dice.pick(["--duration five", "--dur 5.5", "--rs --dur 15", "x--duration 15"])
  }
}

const textOf = (dice: Dice): string => {
  const words = ["a lighthouse", "黄昏", "in the rain", "8", "1080p", "duration", ""] as const
  return Array.from({ length: 1 + dice.roll(5) }, () =>
    dice.chance(30) ? flagOf(dice) : dice.pick(words)
  ).join(dice.pick([" ", "\n", "  ", "，", "(", "\u200b", "\u0085"]))
}

const files = { image: "png", audio: "mp3", video: "mp4" } as const
type Kind = keyof typeof files

const urlOf = (dice: Dice, kind: Kind) => `https://files.test/${dice.roll(9)}.${files[kind]}`

const mediaOf = (dice: Dice, kind: Kind): unknown => {
  const one = () => (dice.chance(50) ? urlOf(dice, kind) : { url: urlOf(dice, kind) })
  switch (dice.roll(5)) {
    case 0:
      return null
    case 1:
      return []
    case 2:
      return [one(), one()]
    default:
      return one()
  }
}

const blockOf = (dice: Dice): object => {
  const kind = dice.pick(["text", "text", "image", "image", "audio", "video"] as const)
  if (kind === "text") return { type: "text", text: textOf(dice) }
  const role = { image: "reference_image", audio: "reference_audio", video: "reference_video" }[
    kind
  ]
  const frame = kind === "image" && dice.chance(30)
  return {
    type: `${kind}_url`,
    ...(frame ? { role: dice.pick(["first_frame", "last_frame"]) } : {}),
    ...(!frame && dice.chance(60) ? { role } : {}),
    [`${kind}_url`]: dice.chance(30) ? urlOf(dice, kind) : { url: urlOf(dice, kind) },
    ...(dice.chance(5) ? { duration: 15, seconds: 15 } : {})
  }
}

/** Fields that some vendor reads and that no client of ours can order by; an order with one is refused. */
const foreign: readonly [readonly [string, unknown], ...ReadonlyArray<readonly [string, unknown]>] =
  [
    ["frames", 361],
    ["seconds", 15],
    ["seconds", "15"],
    ["duration_seconds", 15],
    ["Duration", 15],
    ["parameters", { duration: 15, resolution: "1080P", size: "1920*1080", n: 4 }],
    ["settings", { duration: 15, resolution: "4k", audio: "native", multi_shot: true }],
    ["input", { prompt: "another", duration: 15 }],
    ["options", { external_task_id: "mine" }],
    ["size", "1920*1080"],
    ["mode", "pro"],
    ["service_tier", "flex"],
    ["draft", false],
    ["upscale", true],
    ["off_peak", true],
    ["camera_control", true],
    ["model_name", "another-model"],
    ["upstream_model", "another-model"],
    ["num_videos", 4],
    ["n", 4]
  ]

/** Fields that some vendors have; a value may be out of bounds, or hold what another could read. */
const vendorFields: typeof foreign = [
  ["seed", 7],
  ["return_last_frame", true],
  ["seed", -1],
  ["watermark", true],
  ["camera_fixed", true],
  ["multi_shot", true],
  ["prompt_extend", false],
  ["shot_type", "multi"],
  ["negative_prompt", "rain"],
  ["negative_prompt", "rain --dur 15 --rs 1080p"]
]

/** JSON of an object whose fields may repeat: the last one of a name is the one that counts. */
const objectText = (fields: ReadonlyArray<readonly [string, unknown]>): string =>
  `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`

const shuffled = <A>(dice: Dice, values: ReadonlyArray<A>): ReadonlyArray<A> =>
  values
    .map((value) => [dice.roll(1_000_000), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value)

const mediaFields = [
  ["image", "image"],
  ["images", "image"],
  ["image_url", "image"],
  ["audio", "audio"],
  ["audio_url", "audio"],
  ["audios", "audio"],
  ["video", "video"],
  ["video_url", "video"],
  ["videos", "video"]
] as const

/** The JSON text of a video order; not every one is valid. */
export const randomVideoBody = (dice: Dice, model: string): string => {
  const sometimes = (percent: number, name: string, value: () => unknown) =>
    dice.chance(percent) ? [[name, value()] as const] : []
  return objectText(
    shuffled(dice, [
      ["model", model],
      ...sometimes(90, "prompt", () => textOf(dice)),
      ...sometimes(20, "content", () =>
        dice.chance(15) ? null : Array.from({ length: dice.roll(4) }, () => blockOf(dice))
      ),
      ...mediaFields.flatMap(([name, kind]) => sometimes(6, name, () => mediaOf(dice, kind))),
      ...[1, 2].flatMap(() => [
        ...sometimes(40, "duration", () =>
          dice.chance(10) ? dice.pick([null, "8", 5.5]) : secondsOf(dice)
        ),
        ...sometimes(40, "resolution", () => (dice.chance(10) ? null : tierOf(dice)))
      ]),
      ...sometimes(20, "ratio", () => dice.pick(["16:9", "9:16", "1:1", "4:3", "3:4", null])),
      ...sometimes(20, "generate_audio", () => dice.pick([true, false, null])),
      ...sometimes(20, "user", () => textOf(dice)),
      ...sometimes(20, "metadata", () => ({ note: "x".repeat(dice.roll(40)) })),
      ...(dice.chance(10) ? [dice.pick(foreign)] : []),
      ...(dice.chance(15) ? [dice.pick(vendorFields)] : [])
    ])
  )
}

/** The JSON text of an image order; not every one is valid. */
export const randomImageBody = (dice: Dice, model: string): string => {
  const count = () =>
    dice.chance(15) ? dice.pick([null, 0, 11, "3", 2.5]) : 1 + dice.roll(dice.chance(70) ? 4 : 10)
  return objectText(
    shuffled(dice, [
      ["model", model],
      ["prompt", `a lighthouse ${dice.pick(["", "--n 4", "n=4", "x4"])}`],
      ...[1, 2].flatMap(() => (dice.chance(60) ? [["n", count()] as const] : [])),
      ...(dice.chance(40) ? [["size", dice.pick(["512x512", "512*512", "1K"])] as const] : []),
      ...(dice.chance(20) ? [["image", urlOf(dice, "image")] as const] : []),
      ...[1, 2].flatMap(() =>
        dice.chance(40)
          ? [
              dice.pick<readonly [string, unknown]>([
                ["num_images", 4],
                ["N", 4],
                ["batch_size", 4],
                ["quality", "high"],
                ["parameters", { n: 4, size: "2K" }],
                ["input", { messages: [] }],
                ["watermark", true]
              ])
            ]
          : []
      )
    ])
  )
}
