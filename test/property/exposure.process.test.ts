/**
 * What a pool may come to owe: random orders of known and unknown size, and vendors that report anything.
 * `PROPERTY_CASES` says how many sequences are tried in memory; on PostgreSQL it is a share of them.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { usualLimits } from "../../src/domain/catalog/ModelLimits.ts"
import { TokenPrices, TokenVideoPrices } from "../../src/domain/catalog/Prices.ts"
import { NANO_PER_UNIT } from "../../src/domain/money/Money.ts"
import { exposureOf, Quote } from "../../src/domain/money/Quote.ts"
import { chargeText, quoteText, type TextQuote } from "../../src/domain/text/TextQuote.ts"
import { ChatBody } from "../../src/domain/text/TextRequest.ts"
import { estimateChat } from "../../src/domain/text/textEstimate.ts"
import type { ReportedUsage } from "../../src/domain/VendorOutcome.ts"
import { chargeVideo, leastTokens } from "../../src/domain/video/VideoCharge.ts"
import { quoteVideo, type TokenVideoQuote } from "../../src/domain/video/VideoQuote.ts"
import { Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import { Accounts } from "../../src/services/operators/Accounts.ts"
import { seedOfDay } from "../support/day.ts"
import { layerStoresOf, organization } from "../support/ledger.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 150)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)
const STEPS = 40
/** 20,000 cases take some minutes. */
const LONGEST_MILLIS = 3_600_000
const casesOn = { memory: CASES, postgres: Math.ceil(CASES / 30) }

const filmPrices = Schema.decodeUnknownSync(TokenVideoPrices)({
  kind: "token_video",
  per_million_tokens: { base: { without_video: "46", with_video: "28" } }
})
const talkPrices = Schema.decodeUnknownSync(TokenPrices)({
  kind: "tokens",
  per_million_input: "2",
  per_million_output: "8"
})
const decodeChat = Schema.decodeUnknownSync(ChatBody)
const encodeQuote = Schema.encodeSync(Quote)

interface Film {
  readonly kind: "film"
  readonly quote: TokenVideoQuote
}

interface Talk {
  readonly kind: "talk"
  readonly quote: TextQuote
}

type Order = Film | Talk

const filmOf = (seconds: number | "smart", longestSeconds?: number): Film => {
  const sku = { seconds, resolution: "720p", billedResolution: "720p" } as const
  const quote = Result.getOrThrow(
    quoteVideo(filmPrices, sku, {
      videos: longestSeconds === undefined ? 0 : 1,
      videoSeconds: null,
      ...(longestSeconds === undefined ? {} : { longestSeconds })
    })
  )
  if (quote.kind !== "token_video") throw new Error("a film is billed by tokens")
  return { kind: "film", quote }
}

const elsewhere: readonly [object, ...ReadonlyArray<object>] = [
  { type: "video_url", video_url: { url: "https://files.test/1.mp4" } },
  { type: "input_audio", input_audio: { url: "https://files.test/1.mp3" } },
  { type: "file", file: { file_id: "file-1" } },
  { type: "document", source: { type: "url", url: "https://files.test/1" } }
]

const talkOf = (
  text: string,
  medium: object | null,
  more: object,
  inputTokens = 1_000_000
): Talk => {
  const content = medium === null ? text : [{ type: "text", text }, medium]
  const body = decodeChat({ model: "m", messages: [{ role: "user", content }], ...more })
  const expected = estimateChat(body, { ...usualLimits, input_tokens: inputTokens })
  return {
    kind: "talk",
    quote: Result.getOrThrow(quoteText(talkPrices, expected))
  }
}

const drawOrder = (dice: Dice): Order => {
  switch (dice.roll(5)) {
    case 0:
      return filmOf(dice.chance(20) ? "smart" : 4 + dice.roll(12))
    case 1:
    case 2:
      return filmOf(4 + dice.roll(12), dice.pick([15, 60]))
    default: {
      const bound = dice.chance(50) ? { max_tokens: 1 + dice.roll(1000), n: 1 + dice.roll(3) } : {}
      const medium = dice.chance(30) ? dice.pick(elsewhere) : null
      return talkOf("x ".repeat(dice.roll(3000)), medium, bound, dice.pick([1_000_000, 20_000]))
    }
  }
}

/** Anything a vendor may write where a count belongs. */
const drawCount = (dice: Dice, honest: number): bigint =>
  BigInt(
    dice.pick([
      0,
      1,
      dice.roll(honest + 1),
      honest,
      honest + dice.roll(honest + 1),
      10 * honest,
      9_900_000,
      Number.MAX_SAFE_INTEGER
    ])
  )

interface Settled {
  readonly chargeNano: bigint
  readonly usage: UsageEntry
  readonly implausible: ReportedUsage | null
  /** What the books can have been charged at most for it. */
  readonly mostNano: bigint
}

const settleFilm = ({ quote }: Film, counted: bigint | null): Settled => {
  const { chargeNano, units, basis, implausible } = chargeVideo(quote, {
    completionTokens: counted,
    outputSeconds: null
  })
  const usage = { input: 0n, output: units, unit: "token" as const, basis }
  const mostNano = quote.exposureNano ?? 2n * quote.holdNano
  const isBelievable =
    counted !== null && counted >= leastTokens(quote) && counted * quote.nanoPerToken <= mostNano
  assert.strictEqual(basis === "upstream_usage", isBelievable)
  if (isBelievable) assert.strictEqual(units, counted)
  return {
    chargeNano,
    implausible,
    mostNano,
    usage: { ...usage, unitPriceNano: quote.nanoPerToken }
  }
}

const settleTalk = (
  { quote }: Talk,
  counted: { readonly inputTokens: bigint; readonly outputTokens: bigint } | null,
  outputBytes: number
): Settled => {
  const { chargeNano, inputTokens, outputTokens, basis, implausible } = chargeText(quote, counted, {
    outputBytes
  })
  const written = BigInt(outputBytes)
  const mostOutput = written > quote.mostOutput ? written : quote.mostOutput
  const usage = {
    input: inputTokens,
    output: outputTokens,
    unit: "token" as const,
    basis,
    unitPriceNano: quote.nanoPerOutputToken,
    inputUnitPriceNano: quote.nanoPerInputToken
  }
  return {
    chargeNano,
    usage,
    implausible,
    mostNano: quote.mostInput * quote.nanoPerInputToken + mostOutput * quote.nanoPerOutputToken
  }
}

const drawSettlement = (dice: Dice, order: Order): Settled => {
  if (order.kind === "film") {
    const honest = Number(order.quote.estimatedTokens)
    return settleFilm(order, dice.chance(10) ? null : drawCount(dice, honest))
  }
  const { inputTokens, outputTokens } = order.quote
  const outputBytes = dice.roll(3 * Number(outputTokens))
  const counted = {
    inputTokens: drawCount(dice, Number(inputTokens)),
    outputTokens: drawCount(dice, Number(outputTokens))
  }
  return settleTalk(order, dice.chance(10) ? null : counted, outputBytes)
}

/** An organisation whose orders are held against what its pool may come to owe. */
const makeWatchedPool = Effect.fnUntraced(function* (
  balanceNano: bigint,
  creditNano: bigint,
  label: string
) {
  const ledger = yield* Ledger
  const accounts = yield* Accounts
  const { organizationId, hold, close } = yield* organization(balanceNano)
  yield* accounts.changeOrganization(organizationId, { creditNano })
  const open: Array<{ readonly order: Order; readonly id: string }> = []
  let settledOverage = 0n
  let shortage = 0n

  const poolNow = ledger.pool(organizationId)

  /** Whether it was taken; fails where it fits and is refused, or takes the pool beyond its credit. */
  const place = Effect.fnUntraced(function* (order: Order) {
    const { quote } = order
    const exposureNano = exposureOf(quote)
    const before = yield* poolNow
    const request = hold(quote.holdNano, { exposureNano, quote: encodeQuote(quote) })
    const isTaken = Result.isSuccess(yield* Effect.result(ledger.hold(request)))
    const owed = before.heldNano + before.uncoveredNano + exposureNano
    const fitsPlainly =
      owed <= before.balanceNano ||
      (before.uncoveredNano === 0n &&
        exposureNano === quote.holdNano &&
        before.heldNano + quote.holdNano <= before.balanceNano)
    if (fitsPlainly) assert.isTrue(isTaken, `${label}: refused although it fits`)
    if (before.balanceNano < before.heldNano + quote.holdNano) {
      assert.isFalse(isTaken, `${label}: taken without balance`)
    }
    if (!isTaken) return false
    const missing = owed - before.balanceNano - creditNano
    const excess = exposureNano - quote.holdNano
    assert.isTrue(missing <= excess, `${label}: taken beside orders that may overdraw the pool`)
    if (missing > shortage) shortage = missing
    open.push({ order, id: request.id })
    return true
  })

  const settle = Effect.fnUntraced(function* (index: number, settlement: Settled | null) {
    const [done] = open.splice(index, 1)
    if (done === undefined) return
    const { order, id } = done
    if (settlement === null) {
      yield* ledger.release({ ...close(id), orphan: null, forgetKey: false })
      return
    }
    const { chargeNano, usage, mostNano } = settlement
    assert.isTrue(chargeNano <= mostNano, `${label}: charged more than the order can come to`)
    const exposureNano = exposureOf(order.quote)
    // Of an order of unknown size the exposure is all.
    if (order.quote.holdNano < exposureNano) assert.isTrue(chargeNano <= exposureNano, label)
    if (chargeNano > exposureNano) settledOverage += chargeNano - exposureNano
    yield* chargeNano === 0n
      ? ledger.release({ ...close(id), orphan: null, forgetKey: false })
      : ledger.capture({ ...close(id), chargeNano, usage })
    const { balanceNano: left } = yield* poolNow
    assert.isTrue(
      left >= -(creditNano + shortage + settledOverage),
      `${label}: ${left} is further below zero than allowed`
    )
  })
  return { organizationId, open, place, settle, poolNow }
})

/** Settles one of the open orders, or places another. */
const takeStep = Effect.fnUntraced(function* (
  pool: Effect.Success<ReturnType<typeof makeWatchedPool>>,
  dice: Dice
) {
  if (pool.open.length === 0 || !dice.chance(40)) {
    return (yield* pool.place(drawOrder(dice))) ? "taken" : "refused"
  }
  const index = dice.roll(pool.open.length)
  const order = pool.open[index]?.order
  const settlement = order === undefined || dice.chance(15) ? null : drawSettlement(dice, order)
  yield* pool.settle(index, settlement)
  return settlement === null || settlement.implausible === null ? "settled" : "implausible"
})

const unit = NANO_PER_UNIT

for (const kind of ["memory", "postgres"] as const) {
  layer(layerStoresOf(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `open exposure (${kind})`,
    (it) => {
      it.effect(
        "is bounded by the pool and its credit, whatever vendors report",
        () =>
          Effect.gen(function* () {
            const ledger = yield* Ledger
            const met = { taken: 0, refused: 0, settled: 0, implausible: 0 }
            for (let run = 0; run < casesOn[kind]; run++) {
              const label = `PROPERTY_SEED=${SEED}, case ${run} (${kind})`
              const dice = diceOf(SEED + run)
              const pool = yield* makeWatchedPool(
                BigInt(1 + dice.roll(120)) * unit,
                BigInt(dice.pick([0, 0, 5, 40])) * unit,
                label
              )
              for (let step = 0; step < STEPS; step++) met[yield* takeStep(pool, dice)]++
              if (run % 50 === 0) {
                assert.deepStrictEqual(yield* ledger.verifyOf([pool.organizationId]), [], label)
              }
            }
            assert.isTrue(met.taken > 0 && met.refused > 0 && met.implausible > 0)
          }),
        LONGEST_MILLIS
      )

      it.effect("a pool of 0.5 takes no chat with a film by address", () =>
        Effect.gen(function* () {
          const pool = yield* makeWatchedPool(unit / 2n, 0n, "0.5")
          for (const medium of elsewhere) {
            assert.isFalse(yield* pool.place(talkOf("What is it?", medium, { max_tokens: 10 })))
          }
          assert.isTrue(yield* pool.place(talkOf("What is it?", null, { max_tokens: 10 })))
        })
      )

      it.effect("a pool of 50 pays for the videos after a remote film that it takes", () =>
        Effect.gen(function* () {
          const pool = yield* makeWatchedPool(50n * unit, 0n, "50")
          let taken = 0
          for (let order = 0; order < 20; order++) {
            if (yield* pool.place(filmOf(5, usualLimits.input_video_seconds))) taken++
          }
          assert.strictEqual(taken, 4)
          for (const { order } of [...pool.open]) {
            if (order.kind === "film") yield* pool.settle(0, settleFilm(order, 10n ** 7n))
          }
          const { balanceNano } = yield* pool.poolNow
          // Below zero by less than the last one comes to above its hold.
          assert.strictEqual(balanceNano, 50n * unit - 4n * 13_305_600_000n)
          assert.isFalse(yield* pool.place(talkOf("x", null, { max_tokens: 1 })))
        })
      )
    }
  )
}

layer(layerStoresOf("memory"), { excludeTestServices: true })("a count that cannot be", (it) => {
  it.effect("of 9.9M tokens for a text of 40 bytes is charged at the most there can be", () =>
    Effect.sync(() => {
      const talk = talkOf("x".repeat(40), null, { max_tokens: 100 })
      const counted = { inputTokens: 9_900_000n, outputTokens: 9_900_000n }
      const { usage, implausible } = settleTalk(talk, counted, 30)
      assert.deepInclude(usage, { input: 1080n, output: 116n, basis: "largest_plausible" })
      assert.deepStrictEqual(implausible, { input: 9_900_000n, output: 9_900_000n })
    })
  )

  it.effect("of 1 token for a video of 108,900 is charged by the formula", () =>
    Effect.sync(() => {
      const { usage, implausible } = settleFilm(filmOf(5), 1n)
      assert.deepInclude(usage, { output: 108_000n, basis: "formula" })
      assert.deepStrictEqual(implausible, { input: null, output: 1n })
    })
  )
})
