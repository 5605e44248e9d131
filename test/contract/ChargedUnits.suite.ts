/** What stores must tell of a month's orders, so that any catalog prices them again to the last unit. */
import { assert, type Vitest } from "@effect/vitest"
import { DateTime, Effect, Result, Schema } from "effect"
import type { CatalogDocument, Model, Mount } from "../../src/domain/catalog/CatalogDocument.ts"
import type { Prices as AllPrices, ImageTokenPrices } from "../../src/domain/catalog/Prices.ts"
import { quoteImages } from "../../src/domain/image/ImageQuote.ts"
import {
  chargeImageTokens,
  type DeliveredImages,
  quoteImageTokens
} from "../../src/domain/image/ImageTokenQuote.ts"
import { Quote, unitOf } from "../../src/domain/money/Quote.ts"
import type { CharacterCounts } from "../../src/domain/money/unitQuotes.ts"
import { type AnsweredWork, chargeWork, quoteWork } from "../../src/domain/money/workQuotes.ts"
import {
  chargeText,
  type ExpectedTokens,
  quoteText,
  type TokenCounts
} from "../../src/domain/text/TextQuote.ts"
import { lengthsOf } from "../../src/domain/transcription/transcriptionEstimate.ts"
import { chargeVideo, type VideoUsage } from "../../src/domain/video/VideoCharge.ts"
import { quoteByTable, quoteVideo } from "../../src/domain/video/VideoQuote.ts"
import type { VideoSku } from "../../src/domain/video/VideoSku.ts"
import type { VideoFacts } from "../../src/domain/video/videoFacts.ts"
import type { VideoTable } from "../../src/domain/video/videoPriceTable.ts"
import { ChargedUnits } from "../../src/features/catalog/ChargedUnits.ts"
import { type ReplaySum, replayUnder } from "../../src/features/catalog/replay.ts"
import { Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import { seedOfDay } from "../support/day.ts"
import { expectedTokens } from "../support/expectedTokens.ts"
import { organization, type Stores } from "../support/ledger.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const SEED = Number(process.env.REPLAY_SEED ?? seedOfDay)
const ORDERS = Number(process.env.REPLAYED_ORDERS ?? 150)

const resolutions = ["480p", "540p", "720p", "1080p", "4K"] as const
const CHANNELS = ["left", "right"] as const
const RICH = 4_000_000_000_000_000_000n

const billed = { left: "token_video", right: "second_video" } as const

const kinds = [
  "token_video",
  "second_video",
  "image",
  "image_tokens",
  "tokens",
  "characters",
  "audio_seconds",
  "searches"
] as const
type Kind = (typeof kinds)[number]
type Prices = Extract<AllPrices, { readonly kind: Kind }>

/** What is ordered, and what its vendor reported, before it is priced. */
interface Ordered {
  readonly model: string
  readonly channelId: string
  readonly sku: VideoSku
  readonly videos: number
  readonly videoUsage: VideoUsage
  readonly images: number
  readonly inputImages: number
  readonly delivered: DeliveredImages
  readonly expected: ExpectedTokens
  readonly used: TokenCounts
  readonly characters: CharacterCounts
  readonly milliseconds: number
  readonly documents: number
  /** The length of the sound as the vendor reported it. */
  readonly seconds: number | null
}

interface Catalog extends Pick<CatalogDocument, "models" | "mounts"> {
  readonly models: ReadonlyArray<Model & { readonly prices: Prices }>
  readonly mounts: ReadonlyArray<Mount & { readonly cost: Prices }>
}

const nano = (dice: Dice) => BigInt(1 + dice.roll(1_000_000))

/** Any price may be missing. */
const drawPrices = (dice: Dice, kind: Kind): Prices => {
  const maybe = <A extends object>(field: A) => (dice.chance(80) ? field : {})
  switch (kind) {
    case "token_video": {
      const tier = () => ({
        ...maybe({ without_video: nano(dice) }),
        ...maybe({ with_video: nano(dice) })
      })
      return {
        kind,
        per_million_tokens: {
          ...maybe({ base: tier() }),
          ...maybe({ "1080p": tier() }),
          ...maybe({ "4K": tier() })
        }
      }
    }
    case "second_video":
      return {
        kind,
        per_second: Object.fromEntries(
          resolutions.flatMap((name) => (dice.chance(80) ? [[name, nano(dice)] as const] : []))
        )
      }
    case "image":
      return { kind, ...maybe({ per_image: nano(dice) }) }
    case "image_tokens":
      return {
        kind,
        per_million_text_input: nano(dice),
        per_million_image_input: nano(dice),
        per_million_image_output: nano(dice),
        ...maybe({ per_million_cached_input: nano(dice) }),
        most_output_tokens: 1000
      }
    case "tokens":
      return {
        kind,
        ...maybe({ per_million_input: nano(dice) }),
        ...maybe({ per_million_output: nano(dice) })
      }
    case "characters":
      return {
        kind,
        per_million_characters: nano(dice),
        ...maybe({ counts: dice.pick(["code_points", "han_double"] as const) })
      }
    case "audio_seconds":
      return {
        kind,
        per_second: nano(dice),
        ...maybe({ step_seconds: dice.pick([1, 15]) }),
        ...maybe({ minimum_seconds: dice.pick([1, 30]) })
      }
    case "searches":
      return {
        kind,
        per_thousand_searches: nano(dice),
        ...maybe({ documents_per_search: dice.pick([100, 7]) })
      }
  }
}

const model = (id: string, prices: Prices): Model & { readonly prices: Prices } => ({
  id,
  modality: "video",
  protocol: "any",
  owned_by: "x",
  input_forms: [],
  prices
})
const mount = (
  model: string,
  channel: string,
  cost: Prices
): Mount & { readonly cost: Prices } => ({
  model,
  channel,
  protocol: null,
  upstream_model: null,
  priority: 0,
  weight: 1,
  cost,
  enabled: true
})

/** The kinds that count orders of one kind. */
const similarKinds = {
  token_video: ["token_video", "second_video"],
  second_video: ["token_video", "second_video"],
  image: ["image", "image_tokens"],
  image_tokens: ["image", "image_tokens"],
  tokens: ["tokens"],
  characters: ["characters"],
  audio_seconds: ["audio_seconds"],
  searches: ["searches"]
} as const satisfies Readonly<Record<Kind, ReadonlyArray<Kind>>>

/** The costs of a model's channels in its own catalog: they count what the model's price counts. */
const ownCost = (dice: Dice, prices: Prices, channel: (typeof CHANNELS)[number]): Prices => {
  const isVideo = prices.kind.endsWith("video")
  const cost = drawPrices(dice, isVideo ? billed[channel] : prices.kind)
  if (cost.kind !== "image_tokens" || prices.kind !== "image_tokens") return cost
  const { per_million_cached_input: _, ...others } = cost
  return prices.per_million_cached_input === undefined
    ? others
    : { ...others, per_million_cached_input: nano(dice) }
}

/**
 * At first each model is of its own kind, and of videos one channel bills tokens and the other seconds; in another
 * catalog all of that may be otherwise.
 */
const drawCatalog = (dice: Dice, prefix: string, isOther: boolean): Catalog => {
  const drawn = kinds.map((kind) => {
    const similar = similarKinds[kind]
    const prices = drawPrices(dice, isOther ? dice.pick<Kind>(similar) : kind)
    return {
      id: `${prefix}-${kind}`,
      prices,
      costs: CHANNELS.map((channel) => ({
        channel,
        cost: isOther
          ? drawPrices(dice, dice.pick<Kind>(dice.chance(85) ? similar : kinds))
          : ownCost(dice, prices, channel)
      }))
    }
  })
  const kept = drawn.filter(() => !isOther || dice.chance(80))
  return {
    models: kept.map(({ id, prices }) => model(id, prices)),
    mounts: kept.flatMap(({ id, costs }) =>
      costs.flatMap(({ channel, cost }) =>
        !isOther || dice.chance(80) ? [mount(id, channel, cost)] : []
      )
    )
  }
}

const drawOrder = (dice: Dice, prefix: string): Ordered => {
  const count = (below: number) => BigInt(dice.roll(below))
  const resolution = dice.pick(resolutions)
  const hasOutput = dice.chance(70)
  const images = 1 + dice.roll(10)
  const inputImages = dice.roll(3)
  const [textTokens, imageTokens] = [1n + count(30), BigInt(inputImages) * (1n + count(300))]
  const inputTokens = textTokens + imageTokens
  return {
    model: `${prefix}-${dice.pick(kinds)}`,
    channelId: dice.pick(CHANNELS),
    sku: {
      seconds: dice.chance(20) ? "smart" : 1 + dice.roll(15),
      resolution,
      billedResolution: resolution
    },
    videos: dice.roll(2),
    videoUsage: {
      completionTokens: dice.chance(70) ? 1n + count(300_000) : null,
      outputSeconds: dice.chance(50) ? 1 + dice.roll(15) : null
    },
    images,
    inputImages,
    delivered: {
      images,
      usage: {
        inputTokens,
        outputTokens: BigInt(images) * (64n + count(900)),
        imageTokens,
        // Often more than the text is.
        cachedTokens: dice.chance(70) ? count(Number(inputTokens) + 1) : 0n
      }
    },
    expected: expectedTokens(1n + count(1000), hasOutput ? 500n : 0n),
    used: { inputTokens: 1n + count(1000), outputTokens: hasOutput ? count(1000) : 0n },
    characters: { codePoints: 1 + dice.roll(4000), hanCharacters: dice.roll(2) * dice.roll(500) },
    milliseconds: 1 + dice.roll(90_000),
    documents: 1 + dice.roll(250),
    seconds: dice.chance(50) ? 0.5 + dice.roll(90) : null
  }
}

const quoteOf = (prices: Prices, ordered: Ordered): Quote | null => {
  switch (prices.kind) {
    case "image":
      return Result.getOrNull(quoteImages(prices, ordered.images))
    case "image_tokens": {
      const { images, inputImages } = ordered
      const tier = { quality: null, size: null, edit: inputImages > 0 }
      const facts = {
        images,
        inputImages,
        promptBytes: 4,
        textBytes: 4,
        calls: 1,
        partialImages: 0
      }
      return Result.getOrNull(quoteImageTokens(prices, { ...facts, tier }))
    }
    case "tokens":
      return Result.getOrNull(quoteText(prices, ordered.expected))
    case "characters":
    case "audio_seconds":
    case "searches": {
      const { characters, milliseconds, documents, expected } = ordered
      const quoted = quoteWork(prices, {
        ...expected,
        characters,
        documents,
        sound: lengthsOf(milliseconds)
      })
      return quoted === null ? null : Result.getOrNull(quoted)
    }
    case "second_video":
      // No protocol lets the model choose a length by which it is charged.
      if (ordered.sku.seconds === "smart") return null
      return Result.getOrNull(quoteVideo(prices, ordered.sku, { videos: 0, videoSeconds: null }))
    default:
      return Result.getOrNull(
        quoteVideo(prices, ordered.sku, { videos: ordered.videos, videoSeconds: 7 })
      )
  }
}

const kindsOf: Readonly<Record<AllPrices["kind"], string>> = {
  video_table: "video",
  token_video: "video",
  second_video: "video",
  image: "image",
  image_tokens: "image",
  tokens: "text",
  characters: "speech",
  audio_seconds: "transcription",
  searches: "ranking"
}

/** The quote by a price table of what is ordered; null where it has no price or is for something else. */
const pricedBy = (
  prices: Prices | undefined,
  kind: AllPrices["kind"],
  ordered: Ordered
): Quote | null =>
  prices === undefined || kindsOf[prices.kind] !== kindsOf[kind] ? null : quoteOf(prices, ordered)

const answerOf = ({ seconds }: Ordered): AnsweredWork => ({
  usage: null,
  outputBytes: 0,
  ...(seconds === null ? {} : { seconds })
})

const chargeOf = (quote: Quote, ordered: Ordered): bigint => {
  const { videoUsage, used, delivered } = ordered
  switch (quote.kind) {
    case "image_tokens":
      return chargeImageTokens(quote, delivered).chargeNano
    case "image":
      return quote.holdNano
    case "tokens":
      return chargeText(quote, used, { outputBytes: 0 }).chargeNano
    case "characters":
    case "audio_seconds":
    case "searches":
      return chargeWork(quote, answerOf(ordered)).chargeNano
    default:
      return chargeVideo(quote, videoUsage).chargeNano
  }
}

const usageOf = (quote: Quote, ordered: Ordered): UsageEntry => {
  switch (quote.kind) {
    case "image_tokens": {
      const { inputTokens, outputTokens, parts, basis } = chargeImageTokens(
        quote,
        ordered.delivered
      )
      return {
        input: inputTokens,
        output: outputTokens,
        ...unitOf(quote),
        inputUnitPriceNano: quote.nanoPerTextToken,
        parts,
        basis
      }
    }
    case "image":
      return {
        input: 0n,
        output: BigInt(quote.images),
        ...unitOf(quote),
        basis: "requested_images"
      }
    case "tokens": {
      const { inputTokens, outputTokens } = chargeText(quote, ordered.used, { outputBytes: 0 })
      const { nanoPerInputToken: inputUnitPriceNano, nanoPerOutputToken } = quote
      // Texts without output have its price where they have one.
      const unitPriceNano = nanoPerOutputToken === 0n ? inputUnitPriceNano : nanoPerOutputToken
      const prices = { unit: "token" as const, unitPriceNano, inputUnitPriceNano }
      return { input: inputTokens, output: outputTokens, ...prices, basis: "upstream_usage" }
    }
    case "characters":
    case "audio_seconds":
    case "searches": {
      const { chargeNano: _, implausible: __, ...usage } = chargeWork(quote, answerOf(ordered))
      return usage
    }
    default: {
      const { units } = chargeVideo(quote, ordered.videoUsage)
      return { input: 0n, output: units, ...unitOf(quote), basis: "upstream_usage" }
    }
  }
}

const encodeQuote = Schema.encodeSync(Quote)

const pricesIn = (catalog: Catalog, { model, channelId }: Ordered) => ({
  prices: catalog.models.find(({ id }) => id === model)?.prices,
  cost: catalog.mounts.find((one) => one.model === model && one.channel === channelId)?.cost
})

interface Placed {
  readonly ordered: Ordered
  readonly quote: Quote
  readonly cost: Quote | null
}

/** Whether the tokens of a charge by number or by tokens tell what a price by tokens counts. */
const hasImageTokens = (quote: Quote, table: ImageTokenPrices, ordered: Ordered): boolean => {
  const { delivered, inputImages } = ordered
  if (quote.kind !== "image_tokens") return false
  const { inputTokens = 0n, imageTokens = null, cachedTokens = 0n } = delivered.usage ?? {}
  if (table.per_million_cached_input !== undefined) return quote.nanoPerCachedToken !== undefined
  // Cached tokens are the text's first: where they are all of it or more, how many is not known.
  const isTextCached =
    inputImages > 0 && cachedTokens > 0n && cachedTokens >= inputTokens - (imageTokens ?? 0n)
  return quote.nanoPerCachedToken === undefined || !isTextCached
}

/** Whether a price rounds lengths or numbers of documents in another way than the charge did. */
const isRoundedOtherwise = (quote: Quote, table: Prices): boolean => {
  if (quote.kind === "audio_seconds" && table.kind === "audio_seconds") {
    return (
      quote.stepSeconds !== (table.step_seconds ?? 1) ||
      quote.minimumSeconds !== (table.minimum_seconds ?? 1)
    )
  }
  return (
    quote.kind === "searches" &&
    table.kind === "searches" &&
    quote.documentsPerSearch !== (table.documents_per_search ?? 100)
  )
}

/** What must come of the orders, reckoned one by one as they were when they were placed. */
const expectedOf = (placed: ReadonlyArray<Placed>, catalog: Catalog): ReplaySum => {
  const sum = {
    count: 0,
    unpriced: 0,
    withoutCost: 0,
    withoutCostBefore: 0,
    chargeBeforeNano: 0n,
    chargeAfterNano: 0n,
    costBeforeNano: 0n,
    costAfterNano: 0n
  }
  for (const { ordered, quote, cost } of placed) {
    sum.count += 1
    sum.chargeBeforeNano += chargeOf(quote, ordered)
    sum.costBeforeNano += cost === null ? 0n : chargeOf(cost, ordered)
    sum.withoutCostBefore += cost === null ? 1 : 0
    // Tokens are known where the charge or the cost was reckoned by them.
    const isCounted = [quote.kind, cost?.kind].includes("token_video")
    const known = (table: Prices | undefined) => {
      const isUnknown =
        (table?.kind === "token_video" && !isCounted) ||
        (table?.kind === "image_tokens" && !hasImageTokens(quote, table, ordered)) ||
        (table !== undefined &&
          isRoundedOtherwise(quote, table) &&
          (cost === null || isRoundedOtherwise(cost, table)))
      return isUnknown ? undefined : table
    }
    const { prices, cost: costs } = pricesIn(catalog, ordered)
    const after = pricedBy(known(prices), quote.kind, ordered)
    const costAfter = pricedBy(known(costs), quote.kind, ordered)
    if (after === null) {
      sum.unpriced += 1
      continue
    }
    sum.chargeAfterNano += chargeOf(after, ordered)
    sum.costAfterNano += costAfter === null ? 0n : chargeOf(costAfter, ordered)
    sum.withoutCost += costAfter === null ? 1 : 0
  }
  return sum
}

/** Null where the order has no price in the catalog. */
const quoteIn = (catalog: Catalog, ordered: Ordered): Placed | null => {
  const { prices, cost } = pricesIn(catalog, ordered)
  const quote = prices === undefined ? null : quoteOf(prices, ordered)
  return quote === null ? null : { ordered, quote, cost: pricedBy(cost, quote.kind, ordered) }
}

/** Holds, moves and mostly charges the order; null where it is left open or given back. */
const placeOrder = Effect.fnUntraced(function* (
  dice: Dice,
  { hold, close }: Effect.Success<ReturnType<typeof organization>>,
  { ordered, quote, cost }: Placed
) {
  const ledger = yield* Ledger
  const request = hold(quote.holdNano, {
    model: ordered.model,
    job: { channelId: "first", protocol: "any", upstreamModel: "u" },
    quote: encodeQuote(quote),
    cost: null
  })
  yield* ledger.hold(request)
  yield* ledger.reassign({
    organizationId: request.organizationId,
    holdId: request.id,
    job: { channelId: ordered.channelId, protocol: "any", upstreamModel: "u" },
    cost: cost === null ? null : encodeQuote(cost),
    refusal: { reason: "overloaded", status: 503 }
  })
  if (dice.chance(10)) return null
  if (dice.chance(10)) {
    yield* ledger.release({ ...close(request.id), orphan: null, forgetKey: false })
    return null
  }
  const knownCost = dice.chance(90) ? cost : null
  yield* ledger.capture({
    ...close(request.id),
    chargeNano: chargeOf(quote, ordered),
    costNano: knownCost === null ? null : chargeOf(knownCost, ordered),
    usage: usageOf(quote, ordered)
  })
  return { ordered, quote, cost: knownCost }
})

const assertModels = (
  sums: ReturnType<typeof replayUnder>["models"],
  placed: ReadonlyArray<Placed>,
  catalog: Catalog
): void => {
  for (const { model, ...sum } of sums) {
    const orders = placed.filter(({ ordered }) => ordered.model === model)
    assert.deepStrictEqual(sum, expectedOf(orders, catalog), model)
  }
}

const noPrices: Prices = { kind: "second_video", per_second: {} }

const present = Effect.map(DateTime.now, (now) => DateTime.formatIsoDateUtc(now).slice(0, 7))

export const chargedUnitsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect(
    `a month is priced again to the last unit, under its own catalog and another (REPLAY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const dice = diceOf(SEED)
        const charged = yield* ChargedUnits
        const owners = yield* Effect.all([organization(RICH), organization(RICH)])
        const prefix = owners[0].organizationId
        const own = drawCatalog(dice, prefix, false)
        const begun = yield* present
        const placed: Array<Placed> = []
        for (let index = 0; index < ORDERS; index++) {
          const owner = dice.pick(owners)
          const offer = quoteIn(own, drawOrder(dice, prefix))
          const charged = offer === null ? null : yield* placeOrder(dice, owner, offer)
          if (charged !== null) placed.push(charged)
        }
        const isOwn = ({ model }: { readonly model: string }) => model.startsWith(prefix)
        // A month may begin meanwhile.
        const months = [...new Set([begun, yield* present])]
        const groups = (yield* Effect.forEach(months, charged.readMonth)).flat().filter(isOwn)
        const under = (catalog: Catalog) => replayUnder(catalog, groups)

        const { models, totals } = under(own)
        assert.deepStrictEqual(totals, expectedOf(placed, own))
        assert.isAbove(totals.count, 0)
        assert.deepStrictEqual(
          [totals.chargeAfterNano, totals.unpriced],
          [totals.chargeBeforeNano, 0]
        )
        // What an order cost is as it was, wherever that was known.
        const costed = groups.filter(({ withoutCost }) => withoutCost === 0)
        assert.deepStrictEqual(
          costed.map((sum) => replayUnder(own, [sum]).totals.costAfterNano),
          costed.map(({ costNano }) => costNano)
        )
        assert.deepStrictEqual(
          models.map(({ model }) => model),
          [...new Set(placed.map(({ ordered }) => ordered.model))].toSorted()
        )
        for (let round = 0; round < 20; round++) {
          const other = drawCatalog(dice, prefix, true)
          assertModels(under(other).models, placed, other)
        }
      }),
    30_000
  )

  it.effect("references beyond a number are priced again, and orders that may have some", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const charged = yield* ChargedUnits
      const owner = yield* organization(RICH)
      const id = `${owner.organizationId}-surcharged`
      const tableOf = (beyond: number, price: bigint) =>
        ({
          kind: "video_table",
          unit: "second",
          lines: [{ price: 7n }],
          reference_surcharge: { beyond, price }
        }) as const
      const plain = { kind: "video_table", unit: "second", lines: [{ price: 7n }] } as const
      const catalogOf = (prices: AllPrices, cost: AllPrices) => ({
        models: [{ ...model(id, noPrices), prices }],
        mounts: [{ ...mount(id, "left", noPrices), cost }]
      })
      const begun = yield* present
      const place = Effect.fnUntraced(function* (
        prices: VideoTable,
        cost: VideoTable,
        mode: VideoFacts["mode"],
        referenceImages: number
      ) {
        const facts = { resolution: "720p", sound: false, withVideo: false, mode } as const
        const sku = { seconds: 5, resolution: "720p", billedResolution: "720p" } as const
        const inputs = { videos: 0, videoSeconds: null, referenceImages }
        const quoted = (table: VideoTable) =>
          Result.getOrThrow(quoteByTable(table, facts, sku, inputs))
        const quote = quoted(prices)
        const nothing = { completionTokens: null, outputSeconds: null }
        const { chargeNano, units, parts = [], basis } = chargeVideo(quote, nothing)
        const request = owner.hold(quote.holdNano, {
          model: id,
          job: { channelId: "left", protocol: "any", upstreamModel: "u" },
          quote: encodeQuote(quote),
          cost: encodeQuote(quoted(cost))
        })
        yield* ledger.hold(request)
        yield* ledger.capture({
          ...owner.close(request.id),
          chargeNano,
          costNano: chargeVideo(quoted(cost), nothing).chargeNano,
          usage: { input: 0n, output: units, ...unitOf(quote), parts, basis }
        })
      })
      const sumsUnder = Effect.fnUntraced(function* (prices: AllPrices, cost: AllPrices) {
        const months = [...new Set([begun, yield* present])]
        const groups = (yield* Effect.forEach(months, charged.readMonth)).flat()
        const own = groups.filter((group) => group.model === id)
        const { totals } = replayUnder(catalogOf(prices, cost), own)
        const { chargeBeforeNano, chargeAfterNano, costBeforeNano, costAfterNano } = totals
        return [chargeBeforeNano, chargeAfterNano, costBeforeNano, costAfterNano, totals.unpriced]
      })
      const [surcharged, vendor] = [tableOf(2, 100n), tableOf(1, 10n)]
      // 5 seconds at 7, and 0, 0, 1 and 3 references beyond the second.
      for (const references of [0, 2, 3, 5]) {
        yield* place(surcharged, vendor, "reference", references)
      }
      assert.deepStrictEqual(yield* sumsUnder(surcharged, vendor), [540n, 540n, 210n, 210n, 0])
      // Beyond the first there are 0, 1, 2 and 4, and beyond the fourth 1.
      const others = [tableOf(1, 1000n), tableOf(4, 1n)] as const
      assert.deepStrictEqual(yield* sumsUnder(...others), [540n, 7140n, 210n, 141n, 0])
      assert.deepStrictEqual(yield* sumsUnder(plain, plain), [540n, 140n, 210n, 140n, 0])
      // Where only the vendor's price depends on references, they are known by its cost.
      yield* place(plain, vendor, "reference", 3)
      assert.deepStrictEqual(yield* sumsUnder(...others), [575n, 9175n, 265n, 176n, 0])
      // A first frame is no reference, and of references without a surcharge the number is not known.
      yield* place(plain, plain, "image", 0)
      yield* place(plain, plain, "reference", 3)
      assert.deepStrictEqual(yield* sumsUnder(...others), [645n, 9210n, 335n, 211n, 1])
      assert.deepStrictEqual(yield* ledger.verifyOf([owner.organizationId]), [])
    })
  )

  it.effect("of another month there is nothing", () =>
    Effect.gen(function* () {
      const charged = yield* ChargedUnits
      assert.deepStrictEqual(yield* charged.readMonth("2020-02"), [])
    })
  )
}
