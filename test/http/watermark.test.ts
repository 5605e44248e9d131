/** Orders that are marked as made by AI by default: by deployment, by organisation, by the client. */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  type Customer,
  layerGatewayTesting,
  ScriptedVendors,
  TestingGateway
} from "media-gateway/testing"
import { demoCatalog } from "../../src/demoCatalog.ts"

const Listed = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, summary: Schema.Unknown }))
})
const Marked = Schema.Struct({ marked: Schema.optionalKey(Schema.Boolean) })
const Entry = Schema.Struct({
  parameters: Schema.Struct({
    watermark: Schema.optionalKey(Schema.Struct({ default: Schema.optionalKey(Schema.Boolean) }))
  })
})

const decode = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  body: unknown
) => Effect.orDie(Schema.decodeUnknownEffect(schema)(body))

const setOrganization = Effect.fnUntraced(function* (
  { organizationId }: Customer,
  watermark: boolean | null
) {
  const gateway = yield* TestingGateway
  const path = `/admin/v1/organizations/${organizationId}`
  const operator = { key: gateway.adminToken }
  const answer = yield* gateway.call(path, { ...operator, method: "PATCH", json: { watermark } })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  assert.deepInclude(answer.body, { watermark })
  assert.deepStrictEqual((yield* gateway.call(path, operator)).body, answer.body)
})

const place = Effect.fnUntraced(function* (who: Customer, path: string, json: object) {
  const gateway = yield* TestingGateway
  const headers = { prefer: "respond-async" }
  const answer = yield* gateway.call(path, { key: who.key, json, headers })
  assert.isBelow(answer.status, 300, JSON.stringify(answer.body))
})

/** The summary of the newest task, as the operator reads it. */
const newestSummary = Effect.gen(function* () {
  const gateway = yield* TestingGateway
  const answer = yield* gateway.call("/admin/v1/tasks?limit=1", { key: gateway.adminToken })
  const { data } = yield* decode(Listed, answer.body)
  return yield* decode(Marked, data[0]?.summary)
})

const videoPath = "/v1/videos/generations"
const imagePath = "/v1/images/generations"

/** The mark of the newest order, as its vendor received it. */
const videoMark = Effect.gen(function* () {
  const orders = yield* (yield* ScriptedVendors).videoOrders
  return orders.at(-1)?.order.parameters.watermark
})
const imageMark = Effect.gen(function* () {
  const orders = yield* (yield* ScriptedVendors).imageOrders
  const body: Readonly<Record<string, unknown>> = orders.at(-1)?.order.body ?? {}
  return body.watermark
})

const ways = [
  { path: videoPath, model: "film-1", markOf: videoMark },
  { path: imagePath, model: "paint-2", markOf: imageMark }
]

const organizationSettings = [null, true, false]
const clientFields = [undefined, null, true, false]
const cases = ways.flatMap((way) =>
  organizationSettings.flatMap((organization) =>
    clientFields.map((client) => ({ ...way, organization, client }))
  )
)

for (const watermark of [false, true]) {
  layer(layerGatewayTesting({ settings: { watermark } }))(
    `where GATEWAY_WATERMARK is ${watermark}`,
    (it) => {
      it.effect.each(cases)(
        "$model is marked by the client's $client or the organisation's $organization",
        ({ path, model, markOf, organization, client }) =>
          Effect.gen(function* () {
            const gateway = yield* TestingGateway
            const who = yield* gateway.customer()
            yield* setOrganization(who, organization)
            yield* place(who, path, { model, prompt: "a lighthouse", watermark: client })
            const byDefault = organization ?? watermark
            const expected = client ?? (byDefault ? true : null)
            assert.strictEqual((yield* markOf) ?? null, expected)
            assert.deepStrictEqual(yield* newestSummary, expected === true ? { marked: true } : {})
            const entry = yield* gateway.call(`/v1/models/${model}`, { key: who.key })
            const { parameters } = yield* decode(Entry, entry.body)
            assert.strictEqual(parameters.watermark?.default ?? false, byDefault)
          })
      )
    }
  )
}

const layerMarking = (catalog = demoCatalog("http://vendors.test")) =>
  layerGatewayTesting({ catalog, settings: { watermark: true } })

it.effect("a flag in the text is the client's own mark", () =>
  Effect.gen(function* () {
    const who = yield* (yield* TestingGateway).customer()
    yield* place(who, videoPath, { model: "film-1", prompt: "a lighthouse --watermark false" })
    assert.isFalse(yield* videoMark)
    assert.deepStrictEqual(yield* newestSummary, {})
  }).pipe(Effect.provide(layerMarking()))
)

it.effect.each([
  [videoPath, "film-2"],
  [imagePath, "paint-1"]
] as const)("%s: %s has no field for a mark, and is ordered without one", ([path, model]) =>
  Effect.gen(function* () {
    const who = yield* (yield* TestingGateway).customer()
    yield* place(who, path, { model, prompt: "a lighthouse" })
    assert.isUndefined(yield* path === videoPath ? videoMark : imageMark)
    assert.deepStrictEqual(yield* newestSummary, {})
  }).pipe(Effect.provide(layerMarking()))
)

/** `film-2` is called by vp_b, which has no field for a mark, and then by vp_a, which has one. */
const mixedCatalog = (() => {
  const demo = demoCatalog("http://vendors.test")
  const [filmMount] = demo.mounts.filter(({ model }) => model === "film-1")
  assert.isDefined(filmMount)
  return {
    ...demo,
    mounts: [...demo.mounts, { ...filmMount, model: "film-2", protocol: "vp_a", priority: 1 }]
  }
})()

it.effect(
  "an order that is marked by default goes to a mount that marks, whatever its priority",
  () =>
    Effect.gen(function* () {
      const who = yield* (yield* TestingGateway).customer()
      const vendors = yield* ScriptedVendors
      const protocolOf = Effect.fnUntraced(function* (json: object) {
        yield* place(who, videoPath, { model: "film-2", prompt: "a lighthouse", ...json })
        return (yield* vendors.videoOrders).at(-1)?.protocol
      })
      assert.strictEqual(yield* protocolOf({}), "vp_a")
      assert.deepStrictEqual(yield* newestSummary, { marked: true })
      yield* setOrganization(who, false)
      assert.strictEqual(yield* protocolOf({}), "vp_b")
      assert.deepStrictEqual(yield* newestSummary, {})
    }).pipe(Effect.provide(layerMarking(mixedCatalog)))
)

it.effect(
  "a change of an organisation's mark is audited, and only true, false or null is one",
  () =>
    Effect.gen(function* () {
      const gateway = yield* TestingGateway
      const who = yield* gateway.customer()
      yield* setOrganization(who, true)
      const operator = { key: gateway.adminToken }
      const audit = yield* gateway.call("/admin/v1/audit", operator)
      assert.include(JSON.stringify(audit.body), '"watermark":true')
      const wrong = yield* gateway.call(`/admin/v1/organizations/${who.organizationId}`, {
        ...operator,
        method: "PATCH",
        json: { watermark: "yes" }
      })
      assert.strictEqual(wrong.status, 400)
      assert.include(JSON.stringify(wrong.body), "watermark")
    }).pipe(Effect.provide(layerGatewayTesting()))
)
