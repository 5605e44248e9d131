import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { ChatBody } from "../../src/domain/text/TextRequest.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { accountAt, layerOverSockets, limitSeconds, named, textAdapter } from "./support.ts"
import { plainBearer, vendorCallSuite } from "./vendorCall.suite.ts"

const adapter = textAdapter("openai")

const chat: ChatBody = { model: "our-model", messages: [{ role: "user", content: "hello" }] }
const order = { upstreamModel: "m-1", body: chat }
const vector = { upstreamModel: "m-1", body: { model: "our-model", input: "hello" } }

const said = { index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }
const good = { id: "c-1", choices: [said], usage: { prompt_tokens: 3, completion_tokens: 2 } }
const goodVector = { data: [{ index: 0, embedding: [0.5] }], usage: { total_tokens: 4 } }

layer(layerOverSockets)("openai", (it) => {
  vendorCallSuite(it, {
    name: "a completion",
    call: (there) => Effect.flatMap(adapter, ({ complete }) => complete(there, order)),
    good,
    seconds: limitSeconds.text,
    dialect: plainBearer
  })

  vendorCallSuite(it, {
    name: "an embedding",
    call: (there) => Effect.flatMap(adapter, ({ embed }) => embed(there, vector)),
    good: goodVector,
    seconds: limitSeconds.text,
    dialect: plainBearer
  })

  it.effect.each([
    ["", "/v1"],
    ["/", "/v1"],
    ["/api/v3", "/api/v3"],
    ["/compatible-mode/v1//", "/compatible-mode/v1"]
  ])("the base address https://host%s is called under %s", ([base, root]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: { ...good, ...goodVector } })
      const { complete, embed } = yield* adapter
      yield* complete(accountAt(`${vendor.url}${base}`), order)
      yield* embed(accountAt(`${vendor.url}${base}`), vector)
      assert.deepStrictEqual(
        (yield* vendor.requests).map(({ method, target }) => `${method} ${target}`),
        [`POST ${root}/chat/completions`, `POST ${root}/embeddings`]
      )
    })
  )

  it.effect.each(
    named([
      { says: "counts of both", usage: good.usage, read: [3n, 2n] },
      {
        says: "counts of nothing",
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        read: [0n, 0n]
      },
      { says: "no output count", usage: { prompt_tokens: 3 }, read: null },
      { says: "a negative count", usage: { prompt_tokens: 3, completion_tokens: -1 }, read: null },
      { says: "half a token", usage: { prompt_tokens: 3.5, completion_tokens: 1 }, read: null },
      { says: "a count in words", usage: { prompt_tokens: "3", completion_tokens: 1 }, read: null },
      { says: "no usage", usage: null, read: null }
    ])
  )("a completion with %s", ([, { usage, read }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: { ...good, usage } })
      const answer = yield* (yield* adapter).complete(accountAt(vendor.url), order)
      assert.deepStrictEqual(answer, {
        result: { ...good, usage },
        usage: read === null ? null : { inputTokens: read[0] ?? 0n, outputTokens: read[1] ?? 0n },
        outputBytes: 5
      })
    })
  )

  it.effect.each(
    named([
      { says: "the total", usage: { prompt_tokens: 3, total_tokens: 4 }, tokens: 4n },
      { says: "the prompt without a total", usage: { prompt_tokens: 3 }, tokens: 3n }
    ])
  )("an embedding is counted by %s", ([, { usage, tokens }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ body: { ...goodVector, usage } })
      const answer = yield* (yield* adapter).embed(accountAt(vendor.url), vector)
      assert.deepStrictEqual(answer.usage, { inputTokens: tokens, outputTokens: 0n })
    })
  )
})
