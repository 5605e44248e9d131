/**
 * Price tables of videos: a line is a price for orders with certain facts. The most specific line
 * that applies to an order is its price.
 */
import { Result, Schema } from "effect"
import { ANY, makeLineRules } from "../catalog/priceLines.ts"
import { BillingUnavailable } from "../Errors.ts"
import { PerMillionTokens, PositiveAmount } from "../money/Money.ts"
import { Resolution, tokensPerSecond } from "./tiers.ts"
import { FactName, InputMode, type VideoFacts } from "./videoFacts.ts"

const fact = <S extends Schema.Top>(schema: S, description: string) =>
  Schema.optionalKey(Schema.Union([schema, Schema.Literal(ANY)]).annotate({ description }))

const lineFacts = {
  resolution: fact(Resolution, "The resolution that is billed; * or left out is any"),
  sound: fact(Schema.Boolean, "Whether the video has sound; * or left out is either"),
  input_video: fact(
    Schema.Boolean,
    "Whether the order has a reference video; * or left out is either"
  ),
  mode: fact(
    InputMode,
    "What the video is made from: text alone, image (a first frame), frames (a first and a last one) or reference (reference images or videos); * or left out is any"
  )
}
const LineFacts = Schema.Struct(lineFacts)
type LineFacts = typeof LineFacts.Type

const factNames = FactName.literals

const soundInWords = (sound: LineFacts["sound"]): ReadonlyArray<string> =>
  typeof sound === "boolean" ? [sound ? "with sound" : "without sound"] : []
const inputInWords = (inputVideo: LineFacts["input_video"]): ReadonlyArray<string> =>
  typeof inputVideo === "boolean"
    ? [inputVideo ? "with a reference video" : "without a reference video"]
    : []
const modesInWords: Readonly<Record<InputMode, string>> = {
  text: "from a text",
  image: "from a first frame",
  frames: "from a first and a last frame",
  reference: "from references"
}

/** The facts of a line in words, such as `720p with sound`. */
export const lineInWords = ({ resolution, sound, input_video, mode }: LineFacts): string => {
  const parts = [
    ...(resolution === undefined || resolution === ANY ? [] : [resolution]),
    ...soundInWords(sound),
    ...inputInWords(input_video),
    ...(mode === undefined || mode === ANY ? [] : [modesInWords[mode]])
  ]
  return parts.length === 0 ? "any order" : parts.join(" ")
}

const rules = makeLineRules<FactName, LineFacts>({
  names: factNames,
  keyOf: (value) => value,
  inWords: lineInWords
})

const MAX_LINES = 64

const linesOf = <Price extends Schema.Top>(price: Price) =>
  Schema.NonEmptyArray(Schema.Struct({ ...lineFacts, price }))
    .check(
      Schema.isMaxLength(MAX_LINES, { expected: `at most ${MAX_LINES} lines` }),
      Schema.makeFilter(rules.faults)
    )
    .annotateKey({
      description: "The prices; of the lines that apply to an order, the most specific one counts"
    })

const common = {
  kind: Schema.Literal("video_table").annotate({ description: "What is counted" }),
  reference_surcharge: Schema.optionalKey(
    Schema.Struct({
      beyond: Schema.Int.check(
        Schema.isGreaterThanOrEqualTo(0, { expected: "a whole number from 0 on" })
      ).annotate({ description: "How many reference images of an order are free of it" }),
      price: PositiveAmount.annotate({
        description: "The price of each further reference image, whatever the unit of the table is"
      })
    }).annotate({
      description:
        "A surcharge for each reference image beyond a number. Only images that the vendor gets as references count: no frames, videos or sounds"
    })
  )
}

/** Prices of an output second, by the facts of the order. Prices are nano-units. */
const SecondTable = Schema.Struct({
  ...common,
  unit: Schema.Literal("second").annotate({ description: "Seconds are billed" }),
  lines: linesOf(PositiveAmount),
  input_seconds: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Whether the seconds of reference videos are billed like output seconds"
    })
  ),
  least_input_seconds: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: 3600 }, { expected: "a whole number from 1 to 3600" })
    ).annotate({
      description: "The least seconds in all that are billed for an order with a reference video"
    })
  )
})

/** Prices of a video of any length. */
const ClipTable = Schema.Struct({
  ...common,
  unit: Schema.Literal("clip").annotate({ description: "The video is billed as a whole" }),
  lines: linesOf(PositiveAmount)
})

/** Prices per million completion tokens; nano-units per token in the code. */
const TokenTable = Schema.Struct({
  ...common,
  unit: Schema.Literal("token").annotate({
    description: "Completion tokens are billed; the prices are per million"
  }),
  lines: linesOf(
    PerMillionTokens.check(Schema.isGreaterThanBigInt(0n, { expected: "a price greater than 0" }))
  ),
  least_input_tokens: Schema.optionalKey(
    Schema.Int.check(
      Schema.isBetween(
        { minimum: 1, maximum: 100_000_000 },
        { expected: "a whole number from 1 to 100000000" }
      )
    ).annotate({
      description: "The least tokens that the vendor bills for an order with a reference video"
    })
  )
})

export const videoTables = [SecondTable, ClipTable, TokenTable] as const
const VideoTable = Schema.Union(videoTables)
export type VideoTable = typeof VideoTable.Type

/** The facts that the table distinguishes. */
export const pricedFacts = ({ lines }: VideoTable): ReadonlyArray<FactName> =>
  factNames.filter((name) => lines.some((line) => rules.namedFacts(line).includes(name)))

/** The resolutions of orders to which a line applies; null if a line is for any resolution. */
export const pricedResolutions = ({ lines }: VideoTable): ReadonlyArray<Resolution> | null => {
  const resolutions = lines.map(({ resolution = ANY }) => resolution)
  return resolutions.includes(ANY)
    ? null
    : Resolution.literals.filter((resolution) => resolutions.includes(resolution))
}

/**
 * The price of a unit, in nano-units. If the sound is not known before the order is made, both
 * prices must exist, and the higher one counts.
 */
export const linePrice = (
  table: VideoTable,
  { resolution, sound, withVideo, mode }: VideoFacts
): Result.Result<bigint, BillingUnavailable> => {
  const sounds = sound === null ? [true, false] : [sound]
  return Result.map(
    Result.all(
      sounds.map((one) => {
        const facts = { resolution, sound: one, input_video: withVideo, mode }
        return Result.mapError(
          Result.fromOption(rules.lineFor(table.lines, facts), () => facts),
          () => noLine(table, facts)
        )
      })
    ),
    (lines) => lines.reduce((highest, { price }) => (price > highest ? price : highest), 0n)
  )
}

/** The number of reference images that a surcharge is billed for. */
export const surchargedReferences = (
  { beyond }: { readonly beyond: number },
  references: number
): bigint => BigInt(Math.max(references - beyond, 0))

/** A price that counts in place of a higher one if the vendor reports these facts of the video. */
export interface CheaperLine {
  readonly resolution: Resolution
  readonly sound: boolean
  readonly nanoPerUnit: bigint
}

/**
 * The lower prices that a vendor's report can lead to: those of a video with other sound, or of a
 * resolution below the ordered one.
 */
export const cheaperLines = (
  table: VideoTable,
  facts: VideoFacts,
  nanoPerUnit: bigint
): ReadonlyArray<CheaperLine> => {
  const priced = pricedFacts(table)
  const pixels = tokensPerSecond[facts.resolution]
  const resolutions = priced.includes("resolution")
    ? Resolution.literals.filter((resolution) => tokensPerSecond[resolution] <= pixels)
    : [facts.resolution]
  const sounds = priced.includes("sound") ? [true, false] : [facts.sound ?? true]
  return resolutions.flatMap((resolution) =>
    sounds.flatMap((sound) =>
      Result.match(linePrice(table, { ...facts, resolution, sound }), {
        onFailure: () => [],
        onSuccess: (price) =>
          price < nanoPerUnit ? [{ resolution, sound, nanoPerUnit: price }] : []
      })
    )
  )
}

const noLine = ({ lines }: VideoTable, facts: LineFacts) => {
  const priced = lines.map(lineInWords)
  return new BillingUnavailable({
    message: `No price is configured for ${lineInWords(facts)}, so this order cannot be billed. Priced are: ${priced.join("; ")}.`,
    param: "resolution",
    priced
  })
}
