/** A quarter of business, ordered and paid through the ledger by a clock of its own, and what it came to. */
import { randomUUID } from "node:crypto"
import { Effect, Redacted, Result, Schema } from "effect"
import { CatalogDocument, type CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { isBilledByInput } from "../../src/domain/catalog/Modality.ts"
import type { PriceListTerms } from "../../src/domain/catalog/PriceList.ts"
import type { Prices } from "../../src/domain/catalog/Prices.ts"
import { priceModel } from "../../src/domain/catalog/priceLists.ts"
import { quoteImages } from "../../src/domain/image/ImageQuote.ts"
import { Quote, unitOf } from "../../src/domain/money/Quote.ts"
import {
  type AnsweredWork,
  chargeWork,
  type ExpectedWork,
  quoteWork
} from "../../src/domain/money/workQuotes.ts"
import { chargeVideo } from "../../src/domain/video/VideoCharge.ts"
import { quoteVideo } from "../../src/domain/video/VideoQuote.ts"
import { Access, allScopes } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import { Transfers } from "../../src/services/money/Transfers.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { usageId } from "../../src/services/UsageLog.ts"
import { setClock } from "./databaseClock.ts"
import { expectedTokens } from "./expectedTokens.ts"
import type { Dice } from "./randomOrders.ts"

/** Later than any id that the gateway has minted at its start: ids only go forward. */
export const months = ["2051-07", "2051-08", "2051-09"] as const
const DAYS = 92
const FIRST_DAY = Date.UTC(2051, 6, 1)
const DAY_MILLIS = 86_400_000

/** What one organisation's month came to, as its orders were made: the measure for all else. */
export interface Tally {
  readonly deposits: Array<bigint>
  readonly credits: Array<bigint>
  readonly withdrawals: Array<bigint>
  readonly returned: Array<bigint>
  readonly charges: Array<{
    readonly usageId: string
    readonly nano: bigint
    readonly costNano: bigint | null
    readonly model: string
    readonly memberId: string
    readonly tag: string | null
    /** What was counted, to reckon the charge by other prices. */
    readonly counted: Counted
  }>
  failed: number
}

/** The units of a charge, and whether a film had a reference video. */
export interface Counted extends Pick<UsageEntry, "input" | "output"> {
  readonly withVideo: boolean
}

/** A price list as the gateway has it. */
export interface QuarterList {
  readonly id: string
  readonly terms: PriceListTerms
}

export interface Customer {
  readonly organizationId: string
  /** The list that its orders are priced by; null for the catalog's prices. */
  readonly list: QuarterList | null
  readonly members: ReadonlyArray<{
    readonly memberId: string
    readonly keyId: string
    readonly key: string
  }>
  readonly months: ReadonlyMap<string, Tally>
}

const encodeQuote = Schema.encodeSync(Quote)
const ok = Result.getOrThrow

/** The models whose orders are answered at once, in every unit in which they are billed. */
const answeredAtOnce = [
  {
    id: "talk-1",
    modality: "chat",
    prices: { kind: "tokens", per_million_input: "2", per_million_output: "8" }
  },
  {
    id: "see-1",
    modality: "vlm",
    prices: { kind: "tokens", per_million_input: "3", per_million_output: "12" }
  },
  {
    id: "embed-1",
    modality: "embedding",
    prices: { kind: "tokens", per_million_input: "0.5" }
  },
  {
    id: "rank-1",
    modality: "rerank",
    protocol: "jina",
    prices: { kind: "searches", per_thousand_searches: "2" }
  },
  {
    id: "rank-2",
    modality: "rerank",
    protocol: "jina",
    prices: { kind: "tokens", per_million_input: "0.8" }
  },
  {
    id: "voice-1",
    modality: "tts",
    prices: { kind: "characters", per_million_characters: "100", counts: "han_double" }
  },
  {
    id: "listen-1",
    modality: "asr",
    prices: { kind: "audio_seconds", per_second: "0.0001", step_seconds: 15, minimum_seconds: 30 }
  }
] as const

/** The catalog by which all is ordered, as it is written. */
export const quarterCatalogText: typeof CatalogWrite.Encoded = {
  channels: [],
  mounts: [],
  models: [
    {
      id: "film-1",
      modality: "video",
      protocol: "vp_a",
      prices: {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "46", with_video: "28" } }
      }
    },
    {
      id: "clip-1",
      modality: "video",
      protocol: "vp_d",
      prices: { kind: "second_video", per_second: { "720p": "0.6" } }
    },
    {
      id: "paint-1",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: "0.2" }
    },
    ...answeredAtOnce.map((model) => ({ protocol: "openai", ...model }))
  ]
}

export const quarterCatalog = Schema.decodeUnknownSync(CatalogDocument)(quarterCatalogText)

/** The prices of a model under a list, and whether they are the list's. */
const pricesUnder = (list: Pick<QuarterList, "terms"> | null, id: string) => {
  const model = quarterCatalog.models.find((one) => one.id === id)
  if (model === undefined) throw new Error(`no model is called ${id}`)
  return list === null ? { model, isListed: false } : priceModel(list.terms, model)
}

const noPrice = (model: string) => new Error(`${model} has no price for what is ordered`)

/** What a charge of a model comes to by the prices of a list, written down a second time. */
export const chargeUnder = (
  list: Pick<QuarterList, "terms"> | null,
  model: string,
  { input, output, withVideo }: Counted
): bigint => {
  const { prices } = pricesUnder(list, model).model
  switch (prices?.kind) {
    case "token_video": {
      const { base } = prices.per_million_tokens
      const price = withVideo ? base?.with_video : base?.without_video
      if (price === undefined) throw noPrice(model)
      return output * price
    }
    case "second_video":
      return output * (prices.per_second["720p"] ?? 0n)
    case "image":
      if (typeof prices.per_image !== "bigint") throw noPrice(model)
      return output * prices.per_image
    case "tokens":
      return input * (prices.per_million_input ?? 0n) + output * (prices.per_million_output ?? 0n)
    case "characters":
      return output * prices.per_million_characters
    case "audio_seconds":
      return output * prices.per_second
    case "searches":
      return output * prices.per_thousand_searches
    default:
      throw noPrice(model)
  }
}

const kindOf = <K extends Prices["kind"]>(
  kind: K,
  prices: Prices | undefined
): Extract<Prices, { readonly kind: K }> => {
  const isKind = (one: Prices): one is Extract<Prices, { readonly kind: K }> => one.kind === kind
  if (prices === undefined || !isKind(prices)) throw noPrice(kind)
  return prices
}

interface Ordered {
  readonly model: string
  readonly modality: string
  readonly prefix: "vt" | "im" | "tx"
  readonly quote: Quote
  readonly chargeNano: bigint
  readonly usage: UsageEntry
  readonly priceList: string | null
  readonly counted: Counted
}

/** What an order that is answered at once is held for, and what its vendor reports. */
const workOf = (dice: Dice, modality: (typeof answeredAtOnce)[number]["modality"]) => {
  const hasOutput = modality === "chat" || modality === "vlm"
  const milliseconds = 500 + dice.roll(200_000)
  const codePoints = 1 + dice.roll(4000)
  const expected: ExpectedWork = {
    ...expectedTokens(500n, hasOutput ? 1000n : 0n),
    documents: 1 + dice.roll(250),
    sound: { milliseconds, mostMilliseconds: milliseconds + 2000 },
    ...(modality === "tts"
      ? { characters: { codePoints, hanCharacters: dice.roll(codePoints) } }
      : {})
  }
  const answered: AnsweredWork = {
    usage: {
      inputTokens: BigInt(1 + dice.roll(900)),
      outputTokens: hasOutput ? BigInt(1 + dice.roll(2000)) : 0n
    },
    outputBytes: 0,
    ...(dice.chance(50) ? { seconds: (milliseconds + dice.roll(2000)) / 1000 } : {})
  }
  return { expected, answered }
}

/** An order of any kind with what it is charged: also above its hold where tokens are counted. */
const orderOf = (dice: Dice, list: QuarterList | null): Ordered => {
  const priced = (id: string) => {
    const { model, isListed } = pricesUnder(list, id)
    return { prices: model.prices, priceList: isListed ? (list?.id ?? null) : null }
  }
  const seconds = 3 + dice.roll(10)
  const sku = { seconds, resolution: "720p", billedResolution: "720p" } as const
  const videos = { videos: dice.roll(2), videoSeconds: null }
  switch (dice.roll(6)) {
    case 0: {
      const { prices, priceList } = priced("film-1")
      const quote = ok(quoteVideo(kindOf("token_video", prices), sku, videos))
      const completionTokens = dice.chance(20) ? null : BigInt(50_000 + dice.roll(400_000))
      const { chargeNano, units, basis } = chargeVideo(quote, {
        completionTokens,
        outputSeconds: null
      })
      const usage = { input: 0n, output: units, ...unitOf(quote), basis }
      const counted = { ...usage, withVideo: videos.videos > 0 }
      return {
        model: "film-1",
        modality: "video",
        prefix: "vt",
        quote,
        chargeNano,
        usage,
        priceList,
        counted
      }
    }
    case 1: {
      const { prices, priceList } = priced("clip-1")
      const quote = ok(quoteVideo(kindOf("second_video", prices), sku, videos))
      const usage: UsageEntry = {
        input: 0n,
        output: BigInt(seconds),
        ...unitOf(quote),
        basis: "ordered_seconds"
      }
      const chargeNano = quote.holdNano
      const counted = { ...usage, withVideo: false }
      return {
        model: "clip-1",
        modality: "video",
        prefix: "vt",
        quote,
        chargeNano,
        usage,
        priceList,
        counted
      }
    }
    case 2: {
      const images = 1 + dice.roll(4)
      const { prices, priceList } = priced("paint-1")
      const quote = ok(quoteImages(kindOf("image", prices), images))
      const usage: UsageEntry = {
        input: 0n,
        output: BigInt(images),
        ...unitOf(quote),
        basis: "requested_images"
      }
      const chargeNano = quote.holdNano
      const counted = { ...usage, withVideo: false }
      return {
        model: "paint-1",
        modality: "image",
        prefix: "im",
        quote,
        chargeNano,
        usage,
        priceList,
        counted
      }
    }
    default: {
      const model = dice.pick<(typeof answeredAtOnce)[number]>(answeredAtOnce)
      const { prices, priceList } = priced(model.id)
      if (prices === undefined) throw noPrice(model.id)
      const { expected, answered } = workOf(dice, model.modality)
      const quoted = quoteWork(prices, expected)
      if (quoted === null) throw noPrice(model.id)
      const quote = ok(quoted)
      const { chargeNano, implausible: _, ...charge } = chargeWork(quote, answered)
      const unitPriceNano = isBilledByInput(model.modality)
        ? (charge.inputUnitPriceNano ?? charge.unitPriceNano)
        : charge.unitPriceNano
      const usage: UsageEntry = { ...charge, unitPriceNano }
      const counted = { ...usage, withVideo: false }
      const { id, modality } = model
      return { model: id, modality, prefix: "tx", quote, chargeNano, usage, priceList, counted }
    }
  }
}

const idAt = (prefix: string, millis: number): string => {
  const time = millis.toString(16).padStart(12, "0")
  return `${prefix}_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

const emptyTally = (): Tally => ({
  deposits: [],
  credits: [],
  withdrawals: [],
  returned: [],
  charges: [],
  failed: 0
})

const newCustomer = Effect.fnUntraced(function* (index: number, list: QuarterList | null) {
  const access = yield* Access
  const accounts = yield* Accounts
  const organizationId = yield* access.createOrganization(`Customer ${index}`)
  if (list !== null) yield* accounts.setPriceList(organizationId, list.id)
  const key = { name: "k", scopes: allScopes, models: null, expiresAt: null }
  const members = yield* Effect.forEach(Array.from({ length: 8 }), (_, at) =>
    Effect.gen(function* () {
      const member = { name: `member ${at}`, monthlyCapNano: null }
      const memberId = yield* access.createMember(organizationId, member)
      const made = yield* access.createKey(memberId, key)
      return { memberId, keyId: made.id, key: Redacted.value(made.key) }
    })
  )
  const customer: Customer = {
    organizationId,
    list,
    members,
    months: new Map(months.map((month) => [month, emptyTally()]))
  }
  return customer
})

/** Money that moves without an order; a correction is of a charge of any month until then. */
const moveMoney = Effect.fnUntraced(function* (customer: Customer, month: string, dice: Dice) {
  const ledger = yield* Ledger
  const transfers = yield* Transfers
  const { organizationId } = customer
  const tally = customer.months.get(month) ?? emptyTally()
  const reference = randomUUID()
  const why = { organizationId, reference, reason: "why", author: "who" }
  const nano = BigInt(1 + dice.roll(1_000_000_000))
  switch (dice.roll(4)) {
    case 0:
      yield* ledger.deposit(organizationId, nano, reference)
      return tally.deposits.push(nano)
    case 1:
      yield* transfers.adjust({ ...why, kind: "credit", amountNano: nano, orderId: null })
      return tally.credits.push(nano)
    case 2:
      yield* transfers.adjust({ ...why, kind: "withdrawal", amountNano: nano, orderId: null })
      return tally.withdrawals.push(nano)
    default: {
      const charges = [...customer.months.values()].flatMap(({ charges }) => charges)
      const charge = charges[dice.roll(Math.max(1, charges.length))]
      if (charge === undefined) return 0
      const orderId = charge.usageId.slice(usageId("").length)
      const part = charge.nano / 1000n
      if (part === 0n) return 0
      yield* transfers.adjust({ ...why, kind: "correction", amountNano: part, orderId })
      return tally.returned.push(part)
    }
  }
})

/**
 * Five organisations with forty members and `orders` orders, day by day: some end on another day than
 * they are taken on, or in another month. Leaves the clock after the quarter, with every order closed.
 * The first organisation pays the catalog's prices; the others are on the lists in turn.
 */
export const liveAQuarter = Effect.fnUntraced(function* (
  orders: number,
  dice: Dice,
  lists: ReadonlyArray<QuarterList>
) {
  const ledger = yield* Ledger
  yield* setClock(new Date(FIRST_DAY).toISOString())
  const first = yield* newCustomer(0, null)
  const others = yield* Effect.forEach([1, 2, 3, 4], (index) =>
    newCustomer(index, lists[index % lists.length] ?? null)
  )
  const customers = [first, ...others] as const
  let orphans = 0
  let open: Array<Effect.Effect<void>> = []
  for (const customer of customers) {
    yield* ledger.deposit(customer.organizationId, 10n ** 15n, "first")
    customer.months.get(months[0])?.deposits.push(10n ** 15n)
  }

  const order = Effect.fnUntraced(function* (customer: Customer, month: string, millis: number) {
    const { organizationId, list, members } = customer
    const { memberId, keyId } = members[dice.roll(members.length)] ?? { memberId: "", keyId: "" }
    const ordered = orderOf(dice, list)
    const { quote, model, modality, prefix, chargeNano, usage, priceList, counted } = ordered
    const id = idAt(prefix, millis)
    const tag = dice.chance(30) ? dice.pick(["red", "blue"]) : null
    const costNano = dice.chance(70) ? chargeNano / 2n : null
    const request: HoldRequest = {
      organizationId,
      memberId,
      keyId,
      model,
      modality,
      priceList,
      id,
      amountNano: quote.holdNano,
      ttlSeconds: 60 * 86_400,
      quote: encodeQuote(quote),
      task: null,
      key: null,
      job: { channelId: "ch", protocol: "p", upstreamModel: "u" },
      metadata: tag === null ? null : { team: tag }
    }
    const [isCharged, isOrphan] = [dice.chance(85), dice.chance(20)]
    const tally = customer.months.get(month) ?? emptyTally()
    yield* Effect.orDie(ledger.hold(request))
    const close = { organizationId, holdId: id, by: "sweep" as const, task: null, answer: null }
    open.push(
      Effect.gen(function* () {
        if (isCharged) {
          yield* ledger.capture({ ...close, chargeNano, costNano, usage })
          tally.charges.push({
            usageId: usageId(id),
            nano: chargeNano,
            costNano,
            model,
            memberId,
            tag,
            counted
          })
          return
        }
        const orphan = isOrphan ? { reason: "timeout", upstreamId: id } : null
        orphans += isOrphan ? 1 : 0
        tally.failed += 1
        yield* ledger.release({ ...close, orphan, forgetKey: false })
      })
    )
  })

  for (let day = 0; day < DAYS; day++) {
    const millis = FIRST_DAY + day * DAY_MILLIS + DAY_MILLIS - 1000
    yield* setClock(new Date(millis).toISOString())
    const month = months[new Date(millis).getUTCMonth() - 6] ?? ""
    const today = Math.floor((orders * (day + 1)) / DAYS) - Math.floor((orders * day) / DAYS)
    yield* Effect.forEach(
      Array.from({ length: today }),
      () =>
        order(customers[dice.roll(customers.length)] ?? (customers[0] as Customer), month, millis),
      { concurrency: 200, discard: true }
    )
    // A part of them ends later.
    const isDue = open.map(() => dice.chance(80))
    const due = open.filter((_, index) => isDue[index])
    open = open.filter((_, index) => !isDue[index])
    yield* Effect.all(due, { concurrency: 200, discard: true })
    for (const customer of customers) yield* moveMoney(customer, month, dice)
  }
  yield* setClock("2051-10-01T00:05:00Z")
  yield* Effect.all(open, { concurrency: 200, discard: true })
  return { customers, orphans }
})
