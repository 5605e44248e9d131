/**
 * Orders whose vendor answers the largest that they allow: each is refused before anything is held, or its
 * answer is read, delivered and charged. PROPERTY_CASES sets how many are reckoned; one in two hundred of
 * them is ordered.
 */
import { request } from "node:http"
import { buffer } from "node:stream/consumers"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { ImageBody } from "../../src/domain/image/ImageRequest.ts"
import { imageAnswerBytes } from "../../src/domain/image/imageAnswerSize.ts"
import { ChatBody, EmbeddingBody } from "../../src/domain/text/TextRequest.ts"
import {
  chatAnswerSize,
  checkChatAnswer,
  checkEmbeddingAnswer,
  embeddingAnswerSize
} from "../../src/domain/text/textAnswerSize.ts"
import { chatOutput } from "../../src/domain/text/textEstimate.ts"
import { defaultSettings } from "../../src/runtime/Settings.ts"
import { wholeTextSeconds } from "../../src/runtime/vendorBounds.ts"
import { toNano } from "../support/amounts.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { seedOfDay } from "../support/day.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { textCatalog } from "../support/textCatalog.ts"
import {
  inputTokensOf,
  largestAnswer,
  largestReply,
  type Order,
  outputTokensOf
} from "./largestAnswers.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 1000)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

const bounds = { ...defaultSettings, wholeTextSeconds: wholeTextSeconds(defaultSettings) }
const { maxAnswerBytes } = bounds
const MEBIBYTE = 1024 * 1024

const asChat = Schema.decodeUnknownSync(ChatBody)
const asEmbedding = Schema.decodeUnknownSync(EmbeddingBody)
const asImages = Schema.decodeUnknownSync(ImageBody)

const messages = [{ role: "user", content: "hello" }]

/** About as often small as large. */
const upTo = (dice: Dice, most: number): number =>
  Math.max(1, Math.floor(most ** (dice.roll(1001) / 1000)))

const drawChat = (dice: Dice): Order => ({
  ...(dice.chance(50) ? { n: upTo(dice, 128) } : {}),
  max_tokens: upTo(dice, 200_000),
  ...(dice.chance(60) ? { logprobs: true } : {}),
  ...(dice.chance(50) ? { top_logprobs: dice.roll(21) } : {}),
  ...(dice.chance(30) ? { stream: true } : {})
})

const drawEmbedding = (dice: Dice): Order => ({
  input: dice.chance(20) ? "hello" : Array.from({ length: upTo(dice, 100_000) }, () => "x"),
  dimensions: upTo(dice, 10_000),
  ...(dice.chance(30) ? { encoding_format: "base64" } : {})
})

/** What a vendor answers to an order of which one part is as long as any other of its kind. */
const reckonedChat = (order: Order): number => {
  const ofTokens = (max_tokens: number) =>
    largestAnswer("", { ...order, n: 1, stream: false, max_tokens }, 0).length
  const [one, two] = [ofTokens(1), ofTokens(2)]
  return one + (order.n ?? 1) * (two - one) * (order.max_tokens ?? 1)
}

const reckonedEmbedding = ({ input = "", ...order }: Order): number => {
  const one = largestAnswer("/embeddings", { ...order, input: "x" }, 0).length
  return (typeof input === "string" ? 1 : input.length) * one
}

const seedsOf = (count: number) => Array.from({ length: count }, (_, index) => SEED + index)
/** Longer runs need longer. */
const PATIENCE_MILLIS = 60_000 + CASES * 20

describe(`the largest answer of an order (PROPERTY_SEED=${SEED})`, () => {
  it(
    "of a chat is read whole or refused, and as much as it says is taken",
    () => {
      const counts = { taken: 0, refused: 0 }
      for (const seed of seedsOf(CASES)) {
        const order = drawChat(diceOf(seed))
        const check = (more: object) => {
          const body = asChat({ model: "m", messages, ...order, ...more })
          const output = chatOutput(body)
          const expected = { inputTokens: 9n, outputTokens: 0n }
          return checkChatAnswer(body, output, expected, bounds)
        }
        const body = asChat({ model: "m", messages, ...order })
        assert.isAtLeast(
          chatAnswerSize(body, chatOutput(body)).bytes,
          reckonedChat(order),
          `${seed}`
        )
        const checked = check({})
        if (order.stream === true || Result.isSuccess(checked)) {
          assert.isTrue(Result.isSuccess(checked))
          const seconds = ((order.max_tokens ?? 0) * 3600) / bounds.textTokensPerHour
          if (order.stream !== true) {
            assert.isAtMost(reckonedChat(order), maxAnswerBytes)
            assert.isAtMost(seconds, bounds.wholeTextSeconds)
          }
          counts.taken += 1
          continue
        }
        counts.refused += 1
        const { message, param } = checked.failure
        const most = Number(/Expected at most (\d+)/.exec(message)?.[1])
        assert.include(["n", "max_tokens"], param, message)
        const again = check({ [param ?? ""]: most })
        const isSamePlace = Result.isFailure(again) && again.failure.param === param
        assert.isFalse(isSamePlace, `${seed}: ${message}`)
      }
      assert.isAbove(counts.taken, CASES / 20)
      assert.isAbove(counts.refused, CASES / 20)
    },
    PATIENCE_MILLIS
  )

  it(
    "of embeddings is read whole or refused, and as much as it says is taken",
    () => {
      const counts = { taken: 0, refused: 0 }
      for (const seed of seedsOf(Math.max(200, CASES / 10))) {
        const order = drawEmbedding(diceOf(seed))
        const body = asEmbedding({ model: "m", ...order })
        assert.isAtLeast(embeddingAnswerSize(body).bytes, reckonedEmbedding(order), `${seed}`)
        const checked = checkEmbeddingAnswer(body, bounds)
        if (Result.isSuccess(checked)) {
          assert.isAtMost(reckonedEmbedding(order), maxAnswerBytes)
          counts.taken += 1
          continue
        }
        counts.refused += 1
        assert.strictEqual(checked.failure.param, "input")
        const most = Number(/at most (\d+)/.exec(checked.failure.message)?.[1])
        const fewer = {
          ...body,
          input: ["x", ...Array.from({ length: most - 1 }, () => "x")] as const
        }
        assert.isTrue(Result.isSuccess(checkEmbeddingAnswer(asEmbedding(fewer), bounds)))
      }
      assert.isAbove(counts.taken, 0)
      assert.isAbove(counts.refused, 0)
    },
    PATIENCE_MILLIS
  )

  it("of the usual orders is never refused", () => {
    const taken = [
      { max_tokens: 16_384 },
      { max_tokens: 4096, n: 16, logprobs: true, top_logprobs: 20 },
      { max_tokens: 128_000, stream: true },
      {}
    ]
    for (const order of taken) {
      const body = asChat({ model: "m", messages, ...order })
      const expected = { inputTokens: 9n, outputTokens: 0n }
      assert.isTrue(Result.isSuccess(checkChatAnswer(body, chatOutput(body), expected, bounds)))
    }
    const input = Array.from({ length: 2048 }, () => "hello")
    assert.isTrue(
      Result.isSuccess(checkEmbeddingAnswer(asEmbedding({ model: "m", input }), bounds))
    )
    const ten = asImages({ model: "m", prompt: "x", n: 10 })
    assert.isAtMost(imageAnswerBytes(ten), maxAnswerBytes)
  })
})

// Over real sockets

/** The bytes of an answer, which may be more than a text can have. */
const exchange = (url: string, key: string, json: object) =>
  Effect.promise(
    () =>
      new Promise<{ readonly status: number; readonly body: Buffer }>((resolve, reject) => {
        const sent = request(url, {
          method: "POST",
          agent: false,
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
        })
        sent.on("error", reject)
        sent.on("response", (response) => {
          buffer(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, body }),
            reject
          )
        })
        sent.end(JSON.stringify(json))
      })
  )

const paths = {
  chat: "/v1/chat/completions",
  embedding: "/v1/embeddings",
  image: "/v1/images/generations"
} as const
type Kind = keyof typeof paths

const models = { chat: "talk-held", embedding: "vector-held", image: "paint-1" } as const

/** Nano-units of an order by its vendor's count. */
const chargeOf = (kind: Kind, order: Order): bigint => {
  if (kind === "image") return 200_000_000n * BigInt(order.n ?? 1)
  if (kind === "embedding") return 500n * BigInt(inputTokensOf(order))
  return 2000n * BigInt(inputTokensOf(order)) + 8000n * BigInt(outputTokensOf(order))
}

const withoutUsage = (body: string): string =>
  body.replace(/data: [^\n]*"choices":\[\],"usage"[^\n]*\n\n/, "")

/** The bytes of an answer, or of an event of a stream, in which the vendor's name is replaced. */
const NAMED_BYTES = 64 * 1024

/** The answer in the name of the ordered model. */
const withOrderedModel = (body: string, model: string, isStream: boolean): string =>
  body.replaceAll(/"model":"[^"]*"/g, (name, offset: number) =>
    isStream || offset + name.length <= NAMED_BYTES ? `"model":"${model}"` : name
  )

interface Ordered {
  readonly kind: Kind
  readonly order: Order
  /** Base64 of one image. */
  readonly imageBytes?: number
}

interface VendorState {
  received: number
  /** Base64 of each image that it makes. */
  imageBytes: number
  /** What it answered last. */
  answered: Buffer
}

/** Refused before anything is held, or delivered as it came and charged. */
const tried = Effect.fnUntraced(function* (
  who: Customer,
  state: VendorState,
  { kind, order, imageBytes = 1000 }: Ordered
) {
  const gateway = yield* Gateway
  const before = yield* gateway.balance(who)
  const receivedBefore = state.received
  state.imageBytes = imageBytes
  const words = kind === "chat" ? { messages } : kind === "image" ? { prompt: "x" } : {}
  const json = { model: models[kind], ...words, ...order }
  const { status, body } = yield* exchange(`${gateway.url}${paths[kind]}`, who.key, json)
  const after = yield* gateway.balance(who)
  const charge = toNano(before.balance) - toNano(after.balance)
  assert.strictEqual(after.held, "0")
  if (status === 400) {
    assert.include(body.toString(), '"code":"invalid_request"')
    assert.strictEqual(state.received, receivedBefore, "the vendor worked for nothing")
    assert.strictEqual(charge, 0n)
    return "refused"
  }
  assert.strictEqual(status, 200, body.subarray(0, 500).toString())
  const isStream = order.stream === true
  const answer = withOrderedModel(state.answered.toString(), models[kind], isStream)
  const wanted = Buffer.from(isStream ? withoutUsage(answer) : answer)
  assert.isTrue(body.equals(wanted), `${body.length} of ${wanted.length} bytes`)
  assert.strictEqual(charge, chargeOf(kind, order))
  return "delivered"
})

const named: ReadonlyArray<readonly [string, "refused" | "delivered", Ordered]> = [
  [
    "16 choices of 1,000 tokens, each with the likelihoods of twenty",
    "delivered",
    { kind: "chat", order: { n: 16, max_tokens: 1000, logprobs: true, top_logprobs: 20 } }
  ],
  [
    "128 choices of that kind and of 10,000 tokens",
    "refused",
    { kind: "chat", order: { n: 128, max_tokens: 10_000, logprobs: true, top_logprobs: 20 } }
  ],
  [
    "ten images of 12 MB in base64",
    "delivered",
    { kind: "image", order: { n: 10 }, imageBytes: 12_000_000 }
  ],
  [
    "2,048 vectors of 3,072 numbers",
    "delivered",
    {
      kind: "embedding",
      order: { input: Array.from({ length: 2048 }, () => "hello"), dimensions: 3072 }
    }
  ],
  [
    "a stream with an event of more than a mebibyte",
    "delivered",
    {
      kind: "chat",
      order: { n: 2, max_tokens: 500, logprobs: true, top_logprobs: 20, stream: true }
    }
  ],
  [
    "a whole text longer than the time there is",
    "refused",
    { kind: "chat", order: { max_tokens: 30_000 } }
  ],
  [
    "a stream of that length",
    "delivered",
    { kind: "chat", order: { max_tokens: 30_000, stream: true } }
  ]
]

/** Larger answers than this show nothing more, and take long. */
const MOST_SENT = 8 * MEBIBYTE

const drawOrdered = (dice: Dice): Ordered => {
  const kind = dice.pick(["chat", "chat", "embedding", "image"] as const)
  if (kind === "image") {
    return { kind, order: { n: 1 + dice.roll(10) }, imageBytes: 100 + upTo(dice, MEBIBYTE) }
  }
  const order = kind === "chat" ? drawChat(dice) : drawEmbedding(dice)
  return { kind, order }
}

const isSmall = ({ kind, order }: Ordered): boolean => {
  if (kind === "image") return true
  const bytes = kind === "chat" ? reckonedChat(order) : reckonedEmbedding(order)
  return bytes < MOST_SENT || (bytes > maxAnswerBytes * 2 && order.stream !== true)
}

layer(layerTestGateway("embedded", quickSettings, { catalogFor: textCatalog() }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a vendor that answers the largest that is allowed", (it) => {
  const prepared = Effect.gen(function* () {
    const gateway = yield* Gateway
    const state: VendorState = { received: 0, imageBytes: 0, answered: Buffer.alloc(0) }
    const vendor = yield* brokenVendor((received) => {
      state.received += 1
      const reply = largestReply(received, state.imageBytes)
      state.answered = reply.body
      return reply
    })
    const catalog = textCatalog(vendor.url)(gateway.simulator.url)
    const channels = catalog.channels.map((channel) =>
      channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
    )
    yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
    return { state, who: yield* gateway.customer("1000000") }
  })

  it.effect.each(named)("%s", ([, expected, ordered]) =>
    Effect.gen(function* () {
      const { state, who } = yield* prepared
      assert.strictEqual(yield* tried(who, state, ordered), expected)
    })
  )

  it.effect(
    `any order (PROPERTY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { state, who } = yield* prepared
        for (const seed of seedsOf(Math.ceil(CASES / 200))) {
          const ordered = drawOrdered(diceOf(seed))
          if (isSmall(ordered)) yield* tried(who, state, ordered)
        }
        yield* gateway.verify
      }),
    PATIENCE_MILLIS
  )

  it.effect.each([
    ["its poll", (method: string) => method === "GET"],
    ["all its answers", () => true]
  ] as const)("a large order that its vendor repeats in %s is settled", ([, echoes]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      let sent: unknown = null
      const vendor = yield* brokenVendor(({ method, body }) => {
        if (method === "POST") sent = JSON.parse(body)
        const done = {
          id: "job-echo",
          status: "succeeded",
          content: { video_url: "https://media.test/1.mp4" },
          usage: { completion_tokens: 108_900 }
        }
        return { body: echoes(method) ? { request: sent, ...done } : done }
      })
      const catalog = textCatalog()(gateway.simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-a" ? { ...channel, base_url: vendor.url } : channel
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
      const who = yield* gateway.customer("10")
      const image = `data:image/png;base64,iVBORw0KGgo${"A".repeat(20 * MEBIBYTE)}`
      const created = yield* gateway.call("/v1/videos/generations", {
        key: who.key,
        json: { model: "film-1", prompt: "x", image }
      })
      assert.strictEqual(created.status, 200, created.text)
      const { id } = yield* Schema.decodeUnknownEffect(Schema.Struct({ id: Schema.String }))(
        created.body
      )
      const done = yield* gateway.call(`/v1/videos/${id}?wait=20`, { key: who.key })
      assert.deepNestedInclude(done.body, { task_status: "succeeded" })
      assert.deepInclude(yield* gateway.balance(who), { balance: "4.9906", held: "0" })
    })
  )
})
