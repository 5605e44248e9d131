/** Charged units in memory; each order is one group. */
import { BigInt as BigIntOps, Effect, Layer, Option, Schema } from "effect"
import type { ImageQuote } from "../../domain/image/ImageQuote.ts"
import type { ImageTokenQuote } from "../../domain/image/ImageTokenQuote.ts"
import type { PartKind } from "../../domain/money/chargeParts.ts"
import { Quote, unitOf } from "../../domain/money/Quote.ts"
import type { TableVideoQuote, VideoQuote } from "../../domain/video/VideoQuote.ts"
import { ChargedUnits } from "../../features/catalog/ChargedUnits.ts"
import type { UnitGroup } from "../../features/catalog/replay.ts"
import type { UsageRecord } from "../../services/UsageLog.ts"
import { MemoryStore, type StoredOrder, usageOf } from "../memory/MemoryStore.ts"

const decodeQuote = Schema.decodeUnknownOption(Quote)

const emptyGroup = {
  resolution: null,
  withVideo: null,
  sound: null,
  mode: null,
  references: null,
  expectsOutput: false,
  quality: null,
  size: null,
  edit: false,
  videoTokens: null,
  seconds: null,
  inputSeconds: null,
  images: null,
  inputTokens: null,
  outputTokens: null,
  cachedTokens: null,
  imageInputTokens: null,
  mayCacheImages: false,
  audioInputTokens: null,
  audioOutputTokens: null,
  codePoints: null,
  hanCharacters: null,
  audioSeconds: null,
  stepSeconds: null,
  minimumSeconds: null,
  searches: null,
  documentsPerSearch: null,
  costUnits: null,
  costStepSeconds: null,
  costMinimumSeconds: null,
  costDocumentsPerSearch: null
}

const tokensOf = (
  charge: Quote,
  cost: Quote | null,
  outputUnits: bigint,
  costNano: bigint | null
) => {
  if (charge.kind === "token_video")
    return { withVideo: charge.withVideo, videoTokens: outputUnits }
  if (charge.kind === "video_table") {
    const { withVideo, resolution, sound, mode, unit } = charge
    return {
      withVideo,
      resolution,
      sound,
      mode,
      ...(unit === "token" ? { videoTokens: outputUnits } : {})
    }
  }
  if (cost?.kind !== "token_video" || costNano === null) return {}
  return { withVideo: cost.withVideo, videoTokens: costNano / cost.nanoPerToken }
}

/** The quote with the facts of the line that was charged, which may be a cheaper one. */
const asCharged = (quote: TableVideoQuote, unitPriceNano: bigint): TableVideoQuote => ({
  ...quote,
  ...quote.cheaperLines?.find(({ nanoPerUnit }) => nanoPerUnit === unitPriceNano)
})

/** The seconds of the reference videos; null where they were not measured for the hold. */
const inputSecondsOf = (
  quote: Exclude<VideoQuote, { readonly kind: "second_video" }>,
  input: bigint
): bigint | null => {
  if (input > 0n) return input
  return quote.withVideo && quote.inputSeconds === 0 ? null : BigInt(quote.inputSeconds)
}

/** The reference images by the quote; null where its price does not depend on them. */
const referencesOf = (quote: Quote | null): number | null =>
  quote?.kind === "video_table" ? (quote.surcharge?.references ?? null) : null

/** The seconds of the video; null where the model chose them and they were not charged. */
const secondsOf = (quote: VideoQuote, output: bigint): bigint | null => {
  const held = BigInt(quote.outputSeconds)
  if (unitOf(quote).unit === "second") return BigIntOps.min(output, held)
  return quote.kind !== "second_video" && quote.smart ? null : held
}

/** The units of a part; null where the order has no price of its own for them. */
const unitsOfPart = ({ usage }: StoredOrder, kind: PartKind, priceNano: bigint | undefined) =>
  priceNano === undefined ? null : (usage?.parts?.find((part) => part.kind === kind)?.units ?? 0n)

/** The ordered images, with the facts that their price can depend on. */
const imagesOf = ({ images, quality, size, edit }: ImageQuote | ImageTokenQuote) => ({
  images: BigInt(images),
  quality: quality ?? null,
  size: size ?? null,
  edit: edit ?? false
})

/** The units that the vendor bills, with how it rounds them; null where the cost is not known. */
const costUnitsOf = ({ cost, costNano }: StoredOrder): Partial<UnitGroup> => {
  const quote = Option.getOrNull(decodeQuote(cost))
  if (quote?.kind !== "audio_seconds" && quote?.kind !== "searches") return {}
  const costUnits = costNano === null ? null : costNano / quote.nanoPerUnit
  return quote.kind === "searches"
    ? { costUnits, costDocumentsPerSearch: quote.documentsPerSearch }
    : { costUnits, costStepSeconds: quote.stepSeconds, costMinimumSeconds: quote.minimumSeconds }
}

const unitsOf = (
  order: StoredOrder,
  { input, output, unitPriceNano }: UsageRecord
): Partial<UnitGroup> => {
  const ordered = Option.getOrNull(decodeQuote(order.request.quote))
  const quote = ordered?.kind === "video_table" ? asCharged(ordered, unitPriceNano) : ordered
  if (quote === null) return {}
  switch (quote.kind) {
    case "image":
      return imagesOf(quote)
    case "image_tokens": {
      const cachedTokens = unitsOfPart(order, "cached_input", quote.nanoPerCachedToken)
      const imageInputTokens = unitsOfPart(order, "image_input", quote.nanoPerImageInputToken)
      return {
        ...imagesOf(quote),
        expectsOutput: true,
        inputTokens: input,
        outputTokens: output,
        cachedTokens,
        imageInputTokens,
        mayCacheImages:
          quote.imageInputTokens > 0n &&
          cachedTokens !== null &&
          cachedTokens > 0n &&
          cachedTokens + (imageInputTokens ?? 0n) === input
      }
    }
    case "tokens":
      return {
        expectsOutput: quote.outputTokens !== 0n,
        inputTokens: input,
        outputTokens: output,
        cachedTokens: unitsOfPart(order, "cached_input", quote.nanoPerCachedToken),
        audioInputTokens: unitsOfPart(order, "audio_input", quote.nanoPerAudioInputToken),
        audioOutputTokens: unitsOfPart(order, "audio_output", quote.nanoPerAudioOutputToken)
      }
    case "characters":
      return {
        codePoints: BigInt(quote.codePoints),
        hanCharacters: BigInt(quote.hanCharacters)
      }
    case "audio_seconds": {
      const { stepSeconds, minimumSeconds } = quote
      return { audioSeconds: output, stepSeconds, minimumSeconds }
    }
    case "searches":
      return { searches: output, documentsPerSearch: quote.documentsPerSearch }
    default: {
      const cost = Option.getOrNull(decodeQuote(order.cost))
      return {
        resolution: quote.resolution,
        references: referencesOf(cost) ?? referencesOf(quote),
        seconds: secondsOf(quote, output),
        inputSeconds: quote.kind === "second_video" ? null : inputSecondsOf(quote, input),
        ...tokensOf(quote, cost, output, order.costNano)
      }
    }
  }
}

export const layerChargedUnitsMemory = Layer.effect(
  ChargedUnits,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const groupOf = (order: StoredOrder, month: string, priceListId: string | null) => {
      const record = order.month === `${month}-01` ? usageOf(order) : null
      if (record === null) return []
      const { model, chargeNano, costNano } = record
      return [
        {
          ...emptyGroup,
          priceListId,
          model,
          channelId: order.job.channelId,
          count: 1,
          chargeNano,
          costNano: costNano ?? 0n,
          withoutCost: costNano === null ? 1 : 0,
          ...unitsOf(order, record),
          ...costUnitsOf(order)
        }
      ]
    }

    const read = (month: string, organizationId: string | null) =>
      Effect.sync(() =>
        [...organizations.values()]
          .filter(({ id }) => organizationId === null || id === organizationId)
          .flatMap(({ orders, priceListId }) =>
            [...orders.values()].flatMap((order) => groupOf(order, month, priceListId))
          )
      )

    return ChargedUnits.of({
      readMonth: Effect.fn("ChargedUnits.readMonth")((month) => read(month, null)),
      readMonthOf: Effect.fn("ChargedUnits.readMonthOf")((organizationId, month) =>
        read(month, organizationId)
      )
    })
  })
)
