/** Spoken texts and rankings of the AI SDK, and what they cost when answers are lost. */
import { assert, layer } from "@effect/vitest"
import {
  APICallError,
  createProviderRegistry,
  generateSpeech,
  rerank,
  experimental_streamSpeech as streamSpeech,
  UnsupportedFunctionalityError
} from "ai"
import { Effect } from "effect"
import type { MediaGatewayProvider } from "../../src/ai-sdk/provider.ts"
import { behindProxy, cutting, losing, sdkOf } from "../support/aiSdk.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, rejection } from "../support/officialClients.ts"
import { speechCatalog } from "../support/speechCatalog.ts"

globalThis.AI_SDK_LOG_WARNINGS = false

const text = "The harbour is calm."
const query = "When is the harbour calm?"
const documents = ["Trains leave every hour.", "The harbour is calm at dawn."]

const readAll = async (parts: AsyncIterable<Uint8Array>) => {
  const all: Array<Uint8Array> = []
  for await (const part of parts) all.push(part)
  return all
}

const spent = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { balance, held } = yield* gateway.balance(who)
  assert.strictEqual(held, "0")
  return toDecimal(toNano("10") - toNano(balance))
})

/** Each kind of order with its charge, as a call that lasts until it is answered. */
const orders = {
  generateSpeech: (provider: MediaGatewayProvider, headers: Record<string, string> = {}) =>
    generateSpeech({ model: provider.speech("voice-1"), text, headers }).then(
      ({ audio }): unknown => audio.uint8Array
    ),
  rerank: (provider: MediaGatewayProvider, headers: Record<string, string> = {}) =>
    rerank({ model: provider.reranking("rank-searches"), query, documents, headers }).then(
      ({ ranking }): unknown => ranking
    )
}
/** Of twenty characters, and of one search. */
const CHARGE = "0.002"

/** The refused orders, with what is refused in place of the usual. */
const refused = {
  speech: (provider: MediaGatewayProvider, more: object) =>
    generateSpeech({ model: provider.speech("voice-1"), text, maxRetries: 0, ...more }),
  rerank: (provider: MediaGatewayProvider, more: object) =>
    rerank({
      model: provider.reranking("rank-searches"),
      query,
      documents,
      maxRetries: 0,
      ...more
    })
}

layer(layerTestGateway("postgres", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("speech and rankings of the AI SDK", (it) => {
  it.effect("a text is spoken with its options as fields, and charged by its characters", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider, orders: sent } = yield* sdkOf(who)
      const model = createProviderRegistry({ mg: provider }).speechModel("mg:voice-1")
      const { audio, warnings, responses } = yield* done(() =>
        generateSpeech({
          model,
          text,
          voice: "alloy",
          outputFormat: "wav",
          instructions: "slowly",
          speed: 0.5,
          language: "en",
          providerOptions: { mediaGateway: { metadata: { project: "harbour" } } }
        })
      )
      assert.strictEqual(audio.mediaType, "audio/wav")
      assert.isAbove(audio.uint8Array.byteLength, 100)
      assert.deepStrictEqual(
        warnings.map((warning) => warning.type === "unsupported" && warning.feature),
        ["language"]
      )
      assert.match(responses[0]?.headers?.["x-request-id"] ?? "", /^req_/)
      assert.deepInclude(sent()[0], {
        path: "/v1/audio/speech",
        body: {
          input: text,
          voice: "alloy",
          response_format: "wav",
          instructions: "slowly",
          speed: 0.5,
          metadata: { project: "harbour" },
          model: "voice-1"
        }
      })
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("a text that is still written is spoken in parts, which make the whole sound", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider, orders: sent } = yield* sdkOf(who)
      const model = createProviderRegistry({ mg: provider }).speechModel("mg:voice-1")
      const outputFormat = { type: "audio/wav" }
      const { whole, parts, usage, warnings } = yield* done(async () => {
        const { audio } = await generateSpeech({ model, text, outputFormat: "wav" })
        const result = streamSpeech({
          model,
          text: text.split(/(?<= )/),
          outputFormat,
          language: "en"
        })
        const parts = await readAll(result.audioStream)
        return {
          whole: audio.uint8Array,
          parts,
          usage: await result.usage,
          warnings: await result.warnings
        }
      })
      assert.isAbove(parts.length, 1)
      assert.isTrue(Buffer.concat(parts).equals(whole))
      assert.deepInclude(usage, { inputCharacters: text.length })
      assert.lengthOf(warnings, 1)
      assert.deepInclude(sent()[1]?.body, {
        input: text,
        stream_format: "sse",
        response_format: "wav"
      })
      assert.strictEqual(yield* spent(who), "0.004")
    })
  )

  it.effect("a sound that breaks off fails its reader, and two voices are no order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider } = yield* sdkOf(who)
      const model = provider.speech("voice-1")
      const failureOf = (input: Parameters<typeof streamSpeech>[0]["text"]) =>
        done(() =>
          readAll(streamSpeech({ model, text: input, onError: () => {} }).audioStream).then(
            () => null,
            (error: unknown) => error
          )
        )
      assert.instanceOf(yield* failureOf(`${"a".repeat(300)} sim:breaks=2`), Error)
      const voices = ["alloy", "echo"].map((voice) => ({ type: "text" as const, text, voice }))
      assert.instanceOf(yield* failureOf(voices), UnsupportedFunctionalityError)
      assert.strictEqual(yield* spent(who), "0.0313")
    })
  )

  it.effect.each([
    [undefined, "audio/mpeg"],
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["flac", "audio/flac"],
    ["pcm", "audio/pcm"]
  ] as const)("the format %s is a sound of type %s", ([outputFormat, mediaType]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider } = yield* sdkOf(yield* gateway.customer("10"))
      const format = outputFormat === undefined ? {} : { outputFormat }
      const { audio } = yield* done(() =>
        generateSpeech({ model: provider.speechModel("voice-1"), text, ...format })
      )
      assert.strictEqual(audio.mediaType, mediaType)
      assert.isAbove(audio.uint8Array.byteLength, 100)
    })
  )

  it.effect.each([
    ["texts", documents, documents, 0],
    [
      "objects with a text",
      documents.map((one, page) => ({ text: one, page })),
      documents.map((one, page) => ({ text: one, page })),
      0
    ],
    [
      "objects without a text, as their JSON",
      documents.map((title) => ({ title })),
      documents.map((title) => JSON.stringify({ title })),
      1
    ]
  ] as const)("%s are ranked, and charged as a search", ([, given, expected, warned]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider, orders: sent } = yield* sdkOf(who)
      const model = createProviderRegistry({ mg: provider }).rerankingModel("mg:rank-searches")
      const warnings: Array<string> = []
      const { ranking, rerankedDocuments, response } = yield* done(() =>
        rerank<string | { title: string } | { text: string; page: number }>({
          model,
          query,
          documents: [...given],
          topN: 1,
          providerOptions: { mediaGateway: { metadata: { project: "harbour" } } },
          onEnd: (event) => {
            warnings.push(...event.warnings.map(({ type }) => type))
          }
        })
      )
      assert.deepStrictEqual(
        ranking.map(({ originalIndex }) => originalIndex),
        [1]
      )
      assert.isAbove(ranking[0]?.score ?? 0, 0)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(rerankedDocuments, given.slice(1))
      assert.lengthOf(warnings, warned)
      assert.match(response.headers?.["x-request-id"] ?? "", /^req_/)
      assert.deepInclude(sent()[0], {
        path: "/v1/rerank",
        body: {
          query,
          documents: expected,
          top_n: 1,
          metadata: { project: "harbour" },
          model: "rank-searches"
        }
      })
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect.each([
    ["generateSpeech", "a lost answer", losing(2)],
    ["generateSpeech", "a sound that breaks off", cutting],
    ["generateSpeech", "a proxy's 502", behindProxy],
    ["rerank", "a lost answer", losing(2)],
    ["rerank", "an answer that breaks off", cutting]
  ] as const)("%s through %s: answered whole, and paid once", ([name, , network]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const plain = yield* sdkOf(yield* gateway.customer("10"))
      const { provider, orders: sent } = yield* sdkOf(who, network)
      const answer = yield* done(() => orders[name](provider))
      assert.deepStrictEqual(answer, yield* done(() => orders[name](plain.provider)))
      assert.isAbove(sent().length, 1)
      assert.lengthOf(new Set(sent().map(({ key }) => key)), 1)
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect.each([
    ["generateSpeech", "a lost answer", losing(1)],
    ["generateSpeech", "a sound that breaks off", cutting],
    ["rerank", "a lost answer", losing(1)]
  ] as const)(
    "%s under the caller's key through %s: the SDK's retry is paid once",
    ([name, , network]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const { provider, orders: sent } = yield* sdkOf(who, network)
        const key = `own-${who.memberId}`
        yield* done(() => orders[name](provider, { "Idempotency-Key": key }))
        assert.deepStrictEqual(
          sent().map((one) => one.key),
          [key, key]
        )
        assert.strictEqual(yield* spent(who), CHARGE)
      })
  )

  it.effect("a sound that breaks off at the vendor is not ordered again", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const { provider, orders: sent } = yield* sdkOf(who)
      const broken = `${"a".repeat(600)} sim:breaks=2`
      const model = provider.speech("voice-1")
      const error = yield* rejection(() => generateSpeech({ model, text: broken, maxRetries: 2 }))
      if (!APICallError.isInstance(error)) return assert.fail(String(error))
      assert.isFalse(error.isRetryable)
      assert.lengthOf(new Set(sent().map(({ key }) => key)), 1)
      assert.strictEqual(yield* spent(who), toDecimal(BigInt(broken.length) * 100_000n))
    })
  )

  it.effect.each([
    ["speech", "a closed model", "voice-closed", {}, 400, "modality_not_ready", false],
    ["speech", "an unknown model", "nobody", {}, 404, "model_not_found", false],
    ["speech", "a model of images", "paint-1", {}, 400, "modality_mismatch", false],
    [
      "speech",
      "an unknown format",
      "voice-1",
      { outputFormat: "midi" },
      400,
      "invalid_request",
      false
    ],
    ["speech", "a speed out of bounds", "voice-1", { speed: 9 }, 400, "invalid_request", false],
    ["speech", "a refusal", "voice-1", { text: "sim:refuse=400" }, 400, "upstream_error", false],
    ["speech", "a busy vendor", "voice-1", { text: "sim:rate" }, 503, "upstream_error", true],
    [
      "speech",
      "a vendor that hangs up",
      "voice-1",
      { text: "sim:lost" },
      502,
      "upstream_error",
      false
    ],
    ["rerank", "a closed model", "rank-1", {}, 400, "modality_not_ready", false],
    ["rerank", "no query", "rank-searches", { query: "" }, 400, "invalid_request", false],
    [
      "rerank",
      "a vendor that hangs up",
      "rank-searches",
      { query: "sim:lost" },
      502,
      "upstream_error",
      false
    ]
  ] as const)(
    "%s with %s (%s): %j is an APICallError of status %i, %s, retryable %s",
    ([name, , id, more, statusCode, code, isRetryable]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const { provider } = yield* sdkOf(who)
        const model = name === "speech" ? provider.speech(id) : provider.reranking(id)
        const error = yield* rejection(async () => refused[name](provider, { model, ...more }))
        if (!APICallError.isInstance(error)) return assert.fail(String(error))
        assert.deepInclude(error, { statusCode, isRetryable })
        assert.deepNestedInclude(error.data, { "error.code": code, "error.message": error.message })
        assert.strictEqual(yield* spent(who), "0")
      })
  )

  it.effect.each(["speech", "rerank"] as const)(
    "%s without a balance tells what it needs",
    (name) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { provider } = yield* sdkOf(yield* gateway.customer("0.0001"))
        const error = yield* rejection(async () => refused[name](provider, {}))
        if (!APICallError.isInstance(error)) return assert.fail(String(error))
        assert.deepInclude(error, { statusCode: 402, isRetryable: false })
        assert.deepNestedInclude(error.data, { "error.required": CHARGE })
      })
  )

  it.effect("events cannot be asked for in place of a sound", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { provider, orders: sent } = yield* sdkOf(yield* gateway.customer("10"))
      const providerOptions = { mediaGateway: { stream_format: "sse" } }
      const error = yield* rejection(async () => refused.speech(provider, { providerOptions }))
      assert.match(String(error), /providerOptions\.mediaGateway\.stream_format/)
      assert.lengthOf(sent(), 0)
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
