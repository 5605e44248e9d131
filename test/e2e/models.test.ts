import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import {
  bodyAs,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { errorOf } from "../support/orders.ts"

const SLASHED = "maker/sub/film:1.2"

const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const catalog = testCatalog(simulatorUrl)
  const [film] = catalog.models
  assert.isDefined(film)
  const more = ["maker", "maker/film", SLASHED].map((id) => ({ ...film, id }))
  return { ...catalog, models: [...catalog.models, ...more] }
}

const Entry = Schema.Struct({ id: Schema.String, object: Schema.String })
const FormsList = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      input_forms: Schema.Array(Schema.String),
      references: Schema.optionalKey(Schema.NullOr(Schema.Struct({ max: Schema.Int })))
    })
  )
})
const Listed = Schema.Struct({ data: Schema.Array(Schema.Unknown) })

layer(layerTestGateway("embedded", quickSettings, { catalogFor }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("GET /v1/models/{id}", (it) => {
  it.effect.each([
    ["film-1", "film-1"],
    ["maker", "maker"],
    ["maker%2Ffilm", "maker/film"],
    ["maker/film", "maker/film"],
    ["maker/film?x=1", "maker/film"],
    ["maker/sub/film:1.2", SLASHED],
    ["maker%2Fsub/film%3A1.2", SLASHED],
    ["maker%2fsub%2ffilm%3A1.2", SLASHED]
  ] as const)("%s is the model %s, as the list has it", ([path, id]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const answer = yield* gateway.call(`/v1/models/${path}`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(yield* bodyAs(Entry, answer), { id, object: "model" })
      const { data } = yield* bodyAs(Listed, yield* gateway.call("/v1/models", { key }))
      assert.deepInclude(data, answer.body)
    })
  )

  it.effect(
    "is not told of a model that the key may not order: it is as unknown as one that is not there",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("0", { key: { models: ["clip-1"] } })
        const told = Effect.fnUntraced(function* (id: string) {
          const answer = yield* gateway.call(`/v1/models/${id}`, { key })
          assert.strictEqual(answer.status, 404, answer.text)
          const error = yield* errorOf(answer)
          assert.deepInclude(error, { code: "model_not_found", param: "model" })
          return {
            ...error,
            message: error.message.replace(JSON.stringify(decodeURIComponent(id)), "<id>")
          }
        })
        const absent = yield* told("another")
        assert.deepStrictEqual(yield* told("film-1"), absent)
        assert.deepStrictEqual(yield* told("maker/film"), absent)
        assert.deepStrictEqual(yield* told("%F0%9F%8C%85"), absent)
        assert.include((yield* told("clip-2")).message, 'did you mean "clip-1"?')
        const { text } = yield* gateway.call(`/v1/models/${"x".repeat(900)}`, { key })
        assert.isBelow(text.length, 500)
      })
  )

  it.effect("has image among the input forms of each model whose edits take references", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const { data } = yield* bodyAs(FormsList, yield* gateway.call("/v1/models", { key }))
      const withReferences = data.filter(({ references }) => references != null)
      assert.isNotEmpty(withReferences)
      for (const { id, input_forms } of withReferences) {
        assert.deepStrictEqual(input_forms, ["text", "image"], id)
      }
      const film = data.find(({ id }) => id === "clip-1")
      assert.deepStrictEqual(film?.input_forms, [])
    })
  )

  it.effect("is closed to pages of other origins, unless the operator names them", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const headers = {
        origin: "https://app.example.com",
        "access-control-request-method": "GET"
      }
      const preflight = yield* gateway.call("/v1/models", { method: "OPTIONS", headers })
      assert.strictEqual(preflight.status, 405)
      for (const answer of [preflight, yield* gateway.call("/v1/models", { key, headers })]) {
        const names = [...answer.headers.keys()]
        assert.isFalse(names.some((name) => name === "vary" || name.startsWith("access-control-")))
      }
    })
  )

  it.effect("takes no other method, and is counted under one name", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { key } = yield* gateway.customer("0")
      const answer = yield* gateway.call("/v1/models/maker/film", { key, method: "DELETE" })
      assert.strictEqual(answer.status, 405, answer.text)
      const { text } = yield* gateway.admin("/metrics")
      assert.notInclude(text, "maker")
    })
  )
})
