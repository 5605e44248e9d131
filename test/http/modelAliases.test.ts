/** An order by an alias is an order of its model: on every route, in every record. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { TestClock } from "effect/testing"
import { type Customer, layerGatewayTesting, TestingGateway } from "media-gateway/testing"
import { ReferenceApi } from "../../src/contract/ReferenceApi.ts"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { type DeclaredRoute, declaredRoutes, examplesOf } from "../support/routes.ts"

const PREFIX = "latest/"
const aliasOf = (model: string): string => PREFIX + model

/** The demo catalog, in which every model also has the alias `latest/` and its id. */
const catalog = (() => {
  const demo = demoCatalog("http://vendors.test")
  return {
    ...demo,
    models: demo.models.map((model) => ({ ...model, aliases: [aliasOf(model.id)] }))
  }
})()

const contract = OpenApi.fromApi(ReferenceApi)

const customerRoutes = declaredRoutes.filter(({ path }) => path.startsWith("/v1/"))

/** Whether the contract has the field `model` in the body of a route. */
const hasModel = ({ path }: DeclaredRoute): boolean => {
  const body = JSON.stringify(contract.paths[path]?.post?.requestBody ?? {})
  const named = [...body.matchAll(/"#\/components\/schemas\/([^"]+)"/g)]
  const schemas = named.map(([, name = ""]) => contract.components.schemas[name])
  return (body + JSON.stringify(schemas)).includes('"model":{')
}

const decodeOrder = Schema.decodeUnknownSync(
  Schema.StructWithRest(Schema.Struct({ model: Schema.String }), [
    Schema.Record(Schema.String, Schema.Unknown)
  ])
)

/** The routes whose body names a model, with such a body. */
const orderingRoutes = customerRoutes
  .filter((route) => route.method === "POST" && hasModel(route))
  .map((route) => ({ ...route, body: decodeOrder(examplesOf(route)[0]) }))

/**
 * The lists of a member that are filtered by a model, but for that of tasks of speech, which need an
 * archive.
 */
const filteredLists = customerRoutes.filter(({ method, path }) => {
  const { parameters = [] } = contract.paths[path]?.get ?? {}
  const isFiltered = method === "GET" && parameters.some(({ name }) => name === "model")
  return isFiltered && path !== "/v1/audio/speech"
})

const nameOf = ({ method, path }: Pick<DeclaredRoute, "method" | "path">) => `${method} ${path}`

const Failed = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.String })
})
const Entries = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, model: Schema.optionalKey(Schema.String) }))
})
const Entry = Schema.Struct({ id: Schema.String, aliases: Schema.optionalKey(Schema.Unknown) })
const Models = Schema.Struct({ data: Schema.Array(Entry) })

const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  body: unknown
) => Effect.orDie(Schema.decodeUnknownEffect(schema)(body))

const call = Effect.fnUntraced(function* (
  who: Pick<Customer, "key">,
  path: string,
  options: { readonly json?: object; readonly headers?: Readonly<Record<string, string>> } = {}
) {
  const gateway = yield* TestingGateway
  return yield* gateway.call(path, { key: who.key, ...options })
})

const read = <S extends Schema.Top & { readonly DecodingServices: never }>(
  who: Pick<Customer, "key">,
  path: string,
  schema: S
) =>
  Effect.gen(function* () {
    const { status, body } = yield* call(who, path)
    assert.strictEqual(status, 200, JSON.stringify(body))
    return yield* decode(schema, body)
  })

/** The code of a refusal; null for an answer of success. */
const codeOf = ({ status, body }: { readonly status: number; readonly body: unknown }) =>
  status < 400 ? Effect.succeed(null) : Effect.map(decode(Failed, body), ({ error }) => error.code)

const say = { model: "talk-1", messages: [{ role: "user", content: "x" }] } as const
const film = { prompt: "a lighthouse", duration: 5, resolution: "720p" }

layer(layerGatewayTesting({ catalog }))("an alias of a model", (it) => {
  it("is tested on the routes that take a model", () => {
    assert.includeMembers(orderingRoutes.map(nameOf), [
      "POST /v1/videos/generations",
      "POST /v1/videos",
      "POST /v1/images/generations",
      "POST /v1/images/edits",
      "POST /v1/chat/completions",
      "POST /v1/embeddings",
      "POST /v1/quotes",
      "POST /v1/rerank"
    ])
    assert.includeMembers(filteredLists.map(nameOf), [
      "GET /v1/videos",
      "GET /v1/images",
      "GET /v1/orders"
    ])
  })

  it.effect.each(orderingRoutes.map((route) => [nameOf(route), route] as const))(
    "is an order of the model at %s",
    ([, { path, body }]) =>
      Effect.gen(function* () {
        const gateway = yield* TestingGateway
        const [byId, byAlias] = [yield* gateway.customer(), yield* gateway.customer()]
        const ordered = yield* call(byId, path, { json: body })
        const answer = yield* call(byAlias, path, {
          json: { ...body, model: aliasOf(body.model) }
        })
        assert.deepStrictEqual(
          [answer.status, yield* codeOf(answer)],
          [ordered.status, yield* codeOf(ordered)],
          JSON.stringify(answer.body)
        )
        if (answer.status < 400) assert.notInclude(JSON.stringify(answer.body), PREFIX)
        const orders = (who: Customer) =>
          Effect.map(read(who, "/v1/orders", Entries), ({ data }) => data.map(({ model }) => model))
        assert.deepStrictEqual(yield* orders(byAlias), yield* orders(byId))
      })
  )

  it.effect.each([
    ["/v1/images/generations", { prefer: "respond-async" }, { model: "paint-1", prompt: "x" }],
    [
      "/v1/images/edits",
      { prefer: "respond-async" },
      { model: "paint-1", prompt: "x", image: "https://files.test/1.png" }
    ],
    [
      "/v1/chat/completions",
      {},
      { model: "talk-1", messages: [{ role: "user", content: "x" }], stream: true }
    ],
    ["/v1/quotes", {}, { model: "talk-1", messages: [{ role: "user", content: "x" }] }],
    ["/v1/quotes", {}, { model: "paint-1", prompt: "x" }]
  ] as const)("is an order of the model at %s with %j and %j", ([path, headers, body]) =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const answer = yield* call(who, path, {
        headers,
        json: { ...body, model: aliasOf(body.model) }
      })
      assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
      assert.notInclude(JSON.stringify(answer.body), PREFIX)
      const { data } = yield* read(who, "/v1/orders", Entries)
      assert.isTrue(data.every(({ model }) => model === body.model))
    })
  )

  it.effect.each([
    ["/v1/chat/completions", say],
    ["/v1/chat/completions", { ...say, stream: true, stream_options: { include_usage: true } }],
    ["/v1/embeddings", { model: "vector-1", input: "x" }]
  ] as const)("is answered by the model's id, not the vendor's, at %s to %j", ([path, body]) =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      for (const model of [body.model, aliasOf(body.model)]) {
        const answer = yield* call(who, path, { json: { ...body, model } })
        const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body)
        const names = [...text.matchAll(/"model":"([^"]*)"/g)].map(([, name]) => name)
        assert.deepStrictEqual([...new Set(names)], [body.model], text)
      }
    })
  )

  it.effect("stands in no record: lists, charges, receipts, series and metrics have the id", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const order = (path: string, json: object) =>
        Effect.gen(function* () {
          const answer = yield* call(who, path, { json })
          assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
        })
      yield* order("/v1/videos/generations", { ...film, model: aliasOf("film-1") })
      yield* order("/v1/videos", { model: aliasOf("film-1"), prompt: "x", seconds: "5" })
      yield* order("/v1/images/generations", { model: aliasOf("paint-1"), prompt: "x" })
      yield* order("/v1/embeddings", { model: aliasOf("vector-1"), input: "x" })
      yield* order("/v1/chat/completions", {
        model: aliasOf("talk-1"),
        messages: [{ role: "user", content: "x" }]
      })
      yield* TestClock.adjust("1 minute")
      const { data: charges } = yield* read(who, "/v1/usage", Entries)
      assert.deepStrictEqual(charges.map(({ model }) => model).toSorted(), [
        "film-1",
        "film-1",
        "paint-1",
        "talk-1",
        "vector-1"
      ])
      const operator = { key: gateway.adminToken }
      const records = yield* Effect.forEach(
        [
          [who, "/v1/usage"],
          [who, "/v1/usage/series?by=model"],
          [who, "/v1/orders"],
          [who, "/v1/videos"],
          ...charges.map(({ id }) => [who, `/v1/usage/${id}`] as const),
          [operator, "/admin/v1/orders"],
          [operator, "/admin/v1/usage/series?by=model"],
          [operator, "/metrics"]
        ] as const,
        ([reader, path]) => Effect.map(call(reader, path), (answer) => ({ path, ...answer }))
      )
      for (const { path, status, body } of records) {
        assert.strictEqual(status, 200, path)
        assert.include(JSON.stringify(body), "-1", path)
        assert.notInclude(JSON.stringify(body), PREFIX, path)
      }
    })
  )

  it.effect("filters a member's own lists by its model", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      for (const json of [
        { ...film, model: "film-1" },
        { ...film, model: "clip-1" }
      ]) {
        yield* call(who, "/v1/videos/generations", { json })
      }
      for (const model of ["paint-1", "paint-2"]) {
        const json = { model, prompt: "x" }
        yield* call(who, "/v1/images/generations", { json, headers: { prefer: "respond-async" } })
      }
      for (const { path } of filteredLists) {
        const model = path === "/v1/images" ? "paint-1" : "film-1"
        const { data } = yield* read(who, `${path}?model=${aliasOf(model)}`, Entries)
        assert.deepStrictEqual(
          data.map((one) => one.model),
          [model],
          path
        )
      }
    })
  )

  it.effect("reads the model, which the list has once", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const { data } = yield* read(who, "/v1/models", Models)
      assert.strictEqual(data.length, catalog.models.length)
      for (const { id, aliases } of data) assert.deepStrictEqual(aliases, [aliasOf(id)])
      for (const path of ["latest/film-1", "latest%2Ffilm-1"]) {
        const entry = yield* read(who, `/v1/models/${path}`, Entry)
        assert.deepStrictEqual(entry, { id: "film-1", aliases: ["latest/film-1"] })
      }
    })
  )

  it.effect.each([
    ["film-1", ["film-1", "latest/film-1"]],
    ["latest/film-1", ["film-1", "latest/film-1"]]
  ] as const)("a key whose list has %s may order %j and nothing else", ([allowed, names]) =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer({ key: { models: [allowed] } })
      for (const model of names) {
        const headers = { "idempotency-key": `order-${model}` }
        const json = { ...film, model }
        for (const path of ["/v1/videos/generations", "/v1/quotes"]) {
          const answer = yield* call(who, path, { json, headers })
          assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
        }
        assert.strictEqual((yield* read(who, `/v1/models/${model}`, Entry)).id, "film-1")
      }
      const { data } = yield* read(who, "/v1/models", Models)
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        ["film-1"]
      )
      for (const model of ["clip-1", "latest/clip-1"]) {
        const answer = yield* call(who, "/v1/videos/generations", { json: { ...film, model } })
        assert.strictEqual(yield* codeOf(answer), "permission_denied")
        const entry = yield* call(who, `/v1/models/${model}`)
        assert.strictEqual(yield* codeOf(entry), "model_not_found")
      }
    })
  )

  it.effect(
    "is a body of its own for an Idempotency-Key, and its repeat gets the first answer",
    () =>
      Effect.gen(function* () {
        const gateway = yield* TestingGateway
        const who = yield* gateway.customer()
        for (const path of ["/v1/videos/generations", "/v1/videos"]) {
          const order = (model: string) =>
            call(who, path, {
              json: { model, prompt: "x" },
              headers: { "idempotency-key": path }
            })
          const first = yield* order("latest/film-1")
          assert.strictEqual(first.status, 200, JSON.stringify(first.body))
          const repeat = yield* order("latest/film-1")
          assert.deepStrictEqual(repeat.body, first.body)
          assert.strictEqual(repeat.headers.get("idempotency-replayed"), "true")
          assert.strictEqual((yield* order("film-1")).status, 422)
        }
      })
  )
})

layer(layerGatewayTesting({ catalog }))("an alias that is removed from the catalog", (it) => {
  it.effect("is unknown from then on, and the names that are left are suggested", () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      const messageFor = Effect.fnUntraced(function* (model: string) {
        const answers = [
          yield* call(who, "/v1/videos/generations", { json: { ...film, model } }),
          yield* call(who, `/v1/models/${model}`)
        ]
        const messages: Array<string> = []
        for (const { status, body } of answers) {
          assert.strictEqual(status, 404)
          const { error } = yield* decode(Failed, body)
          assert.strictEqual(error.code, "model_not_found")
          messages.push(error.message)
        }
        assert.strictEqual(messages[0], messages[1])
        return messages[0] ?? ""
      })
      assert.include(yield* messageFor("latest/film1"), 'did you mean "latest/film-1"?')
      const models = catalog.models.map((model) =>
        model.id === "film-1" ? { ...model, aliases: ["newest/film-1"] } : model
      )
      const put = yield* gateway.call("/admin/v1/catalog", {
        method: "PUT",
        key: gateway.adminToken,
        json: { ...catalog, models }
      })
      assert.strictEqual(put.status, 200, JSON.stringify(put.body))
      assert.notInclude(yield* messageFor("latest/film-1"), '"latest/film-1"?')
      assert.include(yield* messageFor("newest/film1"), 'did you mean "newest/film-1"?')
      const moved = yield* call(who, "/v1/videos/generations", {
        json: { ...film, model: "newest/film-1" }
      })
      assert.strictEqual(moved.status, 200, JSON.stringify(moved.body))
    })
  )
})
