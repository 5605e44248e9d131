/** Charged units in memory; each order is one group. */
import { Effect, Layer, Option, Schema } from "effect"
import type { PartKind } from "../../domain/money/chargeParts.ts"
import { Quote, unitOf } from "../../domain/money/Quote.ts"
import type { VideoQuote } from "../../domain/video/VideoQuote.ts"
import { ChargedUnits } from "../../features/catalog/ChargedUnits.ts"
import type { UnitGroup } from "../../features/catalog/replay.ts"
import { MemoryStore, type StoredOrder, usageOf } from "../memory/MemoryStore.ts"

const decodeQuote = Schema.decodeUnknownOption(Quote)

const emptyGroup = {
  resolution: null,
  withVideo: null,
  sound: null,
  mode: null,
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
  audioInputTokens: null,
  audioOutputTokens: null
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
    const { withVideo, sound, mode, unit } = charge
    return { withVideo, sound, mode, ...(unit === "token" ? { videoTokens: outputUnits } : {}) }
  }
  if (cost?.kind !== "token_video" || costNano === null) return {}
  return { withVideo: cost.withVideo, videoTokens: costNano / cost.nanoPerToken }
}

const isBySeconds = (quote: VideoQuote): boolean => unitOf(quote).unit === "second"

/** The units of a part; null where the order has no price of its own for them. */
const unitsOfPart = ({ usage }: StoredOrder, kind: PartKind, priceNano: bigint | undefined) =>
  priceNano === undefined ? null : (usage?.parts?.find((part) => part.kind === kind)?.units ?? 0n)

const unitsOf = (order: StoredOrder, input: bigint, output: bigint): Partial<UnitGroup> => {
  const quote = Option.getOrNull(decodeQuote(order.request.quote))
  if (quote === null) return {}
  switch (quote.kind) {
    case "image":
      return {
        images: output,
        quality: quote.quality ?? null,
        size: quote.size ?? null,
        edit: quote.edit ?? false
      }
    case "image_tokens":
      return {
        expectsOutput: true,
        inputTokens: input,
        outputTokens: output,
        cachedTokens: unitsOfPart(order, "cached_input", quote.nanoPerCachedToken),
        imageInputTokens: unitsOfPart(order, "image_input", quote.nanoPerImageInputToken)
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
    default:
      return {
        resolution: quote.resolution,
        seconds: isBySeconds(quote) ? output : BigInt(quote.outputSeconds),
        inputSeconds:
          quote.kind === "second_video" ? null : input > 0n ? input : BigInt(quote.inputSeconds),
        ...tokensOf(quote, Option.getOrNull(decodeQuote(order.cost)), output, order.costNano)
      }
  }
}

export const layerChargedUnitsMemory = Layer.effect(
  ChargedUnits,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    return ChargedUnits.of({
      readMonth: Effect.fn("ChargedUnits.readMonth")((month) =>
        Effect.sync(() =>
          [...organizations.values()]
            .flatMap(({ orders }) => [...orders.values()])
            .flatMap((order) => {
              const record = order.month === `${month}-01` ? usageOf(order) : null
              if (record === null) return []
              const { model, chargeNano, costNano, input, output } = record
              return {
                ...emptyGroup,
                model,
                channelId: order.job.channelId,
                count: 1,
                chargeNano,
                costNano: costNano ?? 0n,
                withoutCost: costNano === null ? 1 : 0,
                ...unitsOf(order, input, output)
              }
            })
        )
      )
    })
  })
)
