/** Rankings by Cohere's official client, whose `rerank` posts to `/v1/rerank`. */
import { assert, layer } from "@effect/vitest"
import { Cohere, CohereClient, CohereError } from "cohere-ai"
import { Effect } from "effect"
import { behindProxy } from "../support/aiSdk.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, rejection } from "../support/officialClients.ts"
import { speechCatalog } from "../support/speechCatalog.ts"

type Options = NonNullable<ConstructorParameters<typeof CohereClient>[0]>

/** The client with nothing but an address and a key, and what the test says. */
const cohereOf = (who: Customer, options: Options = {}) =>
  Effect.map(
    Gateway,
    ({ url }) => new CohereClient({ environment: `${url}/v1`, token: who.key, ...options })
  )

const query = "What is the capital of the United States?"
const answer = "Washington, D.C. is the capital of the United States."
const texts = [
  "Carson City is the seat of Nevada.",
  "Saipan is on an island in the Pacific Ocean.",
  answer
]
const order = { model: "rank-searches", query, documents: texts }
/** Of one search. */
const CHARGE = "0.002"

const spent = Effect.fnUntraced(function* (who: Customer) {
  const gateway = yield* Gateway
  const { balance, held } = yield* gateway.balance(who)
  assert.strictEqual(held, "0")
  return toDecimal(toNano("10") - toNano(balance))
})

layer(layerTestGateway("postgres", quickSettings, { catalogFor: speechCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("rankings by the cohere-ai package", (it) => {
  it.effect.each([
    ["texts", texts],
    ["objects", texts.map((text) => ({ text }))]
  ] as const)("%s are ranked, and charged as a search", ([, documents]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* cohereOf(who)
      const { results } = yield* done(() =>
        client.rerank({
          ...order,
          documents: [...documents],
          topN: 2,
          returnDocuments: true,
          maxChunksPerDoc: 10
        })
      )
      assert.lengthOf(results, 2)
      const [best, second] = results
      assert.deepInclude(best, { index: 2, document: { text: answer } })
      assert.isAbove(best?.relevanceScore ?? 0, second?.relevanceScore ?? 1)
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect("a retry after a proxy's 502 is paid once under the caller's key", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("10")
      const client = yield* cohereOf(who, { fetch: behindProxy(globalThis.fetch) })
      const headers = { "Idempotency-Key": `ranked-${who.memberId}` }
      const { data, rawResponse } = yield* done(() =>
        client.rerank(order, { headers }).withRawResponse()
      )
      assert.strictEqual(data.results[0]?.index, 2)
      assert.strictEqual(rawResponse.headers.get("idempotency-replayed"), "true")
      assert.strictEqual(yield* spent(who), CHARGE)
    })
  )

  it.effect.each([
    ["a closed model", { model: "rank-1" }, Cohere.BadRequestError, 400, "modality_not_ready"],
    ["an unknown model", { model: "nobody" }, Cohere.NotFoundError, 404, "model_not_found"],
    ["no query", { query: "" }, Cohere.BadRequestError, 400, "invalid_request"],
    ["a vendor that hangs up", { query: "sim:lost" }, CohereError, 502, "upstream_error"]
  ] as const)(
    "%s: %j is an error of its class, and costs nothing",
    ([, more, is, statusCode, code]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("10")
        const client = yield* cohereOf(who, { maxRetries: 0 })
        const error = yield* rejection(() => client.rerank({ ...order, ...more }))
        assert.instanceOf(error, CohereError)
        assert.strictEqual(error.constructor, is)
        assert.strictEqual(error.statusCode, statusCode)
        assert.deepNestedInclude(error.body, { "error.code": code })
        assert.strictEqual(yield* spent(who), "0")
      })
  )

  it.effect("the interface of version 2 has no address here", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* cohereOf(yield* gateway.customer("10"), { maxRetries: 0 })
      const error = yield* rejection(() => client.v2.rerank(order))
      assert.instanceOf(error, Cohere.NotFoundError)
      assert.deepNestedInclude(error.body, { "error.code": "not_found" })
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
