import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import type { SeenRequest } from "../../src/simulator/Simulator.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { call } from "../support/http.ts"
import { createVideo, errorOf, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"

type Catalog = typeof CatalogWrite.Encoded

const KEY = "vendor-key-1"

/** The vendor's status by the word in the prompt, and the client's. */
const refusals = [
  ["sim:moderate-input", 400, 400],
  ["sim:refuse=400", 400, 400],
  ["sim:refuse=401", 401, 502],
  ["sim:refuse=402", 402, 502],
  ["sim:refuse=403", 403, 502],
  ["sim:refuse=404", 404, 404],
  ["sim:refuse=422", 422, 422],
  ["sim:rate", 429, 503],
  ["sim:http500", 500, 502]
] as const

/** Their 404 is a word of theirs that our account may not call the model. */
const saysModel: ReadonlySet<string> = new Set(["vp_d", "vp_f", "ip_b"])

const named = ways.map((way) => [way.model, way] as const)
type Way = (typeof ways)[number]

const order = (who: Customer, { model, modality }: Way, prompt: string) =>
  (modality === "video" ? orderVideo : orderImages)(who, { model, prompt, ...leastInput(model) })

const load = Effect.fnUntraced(function* (catalog: Catalog) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer
})

/** The same request straight to the vendor, with the key that the record of it leaves out. */
const replay = Effect.fnUntraced(function* (
  { method, path, headers, body }: SeenRequest,
  key: string
) {
  const { simulator } = yield* Gateway
  const { authorization, host: _, "content-length": __, connection: ___, ...more } = headers
  return yield* call(`${simulator.url}${path}`, {
    method,
    headers: { ...more, authorization: `${authorization} ${key}` },
    json: body
  })
})

const maskIds = (value: unknown): string =>
  JSON.stringify(value).replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<id>")

/** Orders with the prompt, and compares the refusal with what the vendor itself says to it. */
const checkRefusal = Effect.fnUntraced(function* (
  way: Way,
  prompt: string,
  [vendorStatus, clientStatus]: readonly [number, number],
  key = KEY
) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  yield* gateway.simulator.clearRequests
  const booked = (yield* gateway.simulator.book).length
  const answer = yield* order(who, way, prompt)
  const label = `${prompt}: ${answer.text}`

  assert.strictEqual(answer.status, clientStatus, label)
  const error = yield* errorOf(answer)
  assert.deepInclude(error, { type: "upstream_error", code: "upstream_error", param: null }, label)
  const [request, ...others] = yield* gateway.simulator.requests
  assert.isDefined(request, label)
  assert.deepStrictEqual(others, [], label)
  const direct = yield* replay(request, key)
  assert.strictEqual(direct.status, vendorStatus, direct.text)
  assert.strictEqual(error.upstream?.status, vendorStatus, label)
  const isOfAccount =
    [401, 402, 403].includes(vendorStatus) || (vendorStatus === 404 && clientStatus === 502)
  if (isOfAccount) {
    assert.isNull(error.upstream?.body, label)
    assert.match(error.message, /does not accept the gateway's account/, label)
  } else {
    assert.strictEqual(maskIds(error.upstream?.body), maskIds(direct.body), label)
    assert.include(JSON.stringify(error.upstream?.body), error.message, label)
  }

  const { headers } = answer
  const isFinal = isOfAccount || vendorStatus >= 500
  assert.strictEqual(headers.get("x-should-retry"), isFinal ? "false" : null, label)
  assert.strictEqual(headers.get("retry-after"), vendorStatus === 429 ? "1" : null, label)
  assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" }, label)
  assert.strictEqual((yield* gateway.simulator.book).length, booked, label)
})

layer(layerTestGateway("postgres", quickSettings, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("vendor errors", (it) => {
  it.effect.each(named)(
    "%s: a refusal of the vendor is passed on unchanged under our status, unless it is about our account, and costs nothing",
    ([, way]) =>
      Effect.gen(function* () {
        for (const [word, vendors, ours] of refusals) {
          const isOfModel = vendors === 404 && saysModel.has(way.mounted ?? way.listed)
          yield* checkRefusal(way, `x ${word}`, [vendors, isOfModel ? 502 : ours])
        }
      })
  )

  it.effect("a key the vendor refuses is our fault, and its words about it are not passed on", () =>
    Effect.gen(function* () {
      const { simulator } = yield* Gateway
      yield* load(protocolCatalog(simulator.url, "bad-key"))
      for (const way of ways) yield* checkRefusal(way, `x ${way.model}`, [401, 502], "bad-key")
      yield* load(protocolCatalog(simulator.url))
    })
  )

  it.effect("a relay's address is the same with and without /v1 and slashes at its end", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const catalog = protocolCatalog(gateway.simulator.url)
      const relays = ways.filter(({ mounted }) => mounted !== undefined)
      for (const end of ["", "/", "/v1", "/v1/", "//v1//"]) {
        const who = yield* gateway.customer("100")
        yield* load({
          ...catalog,
          channels: catalog.channels.map((channel) => ({
            ...channel,
            base_url: ["ch-vp_c", "ch-ip_c"].includes(channel.id)
              ? `${channel.base_url}${end}`
              : channel.base_url
          }))
        })
        yield* gateway.simulator.clearRequests
        for (const way of relays) {
          if (way.modality === "image") {
            assert.strictEqual((yield* order(who, way, "x")).status, 200)
            continue
          }
          const id = yield* createVideo(who, { model: way.model, ...leastInput(way.model) })
          assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
        }
        const seen = (yield* gateway.simulator.requests).map(
          ({ method, path }) =>
            `${method} ${path.replace(/cgt-[^/]+|\d{18}|[0-9a-f-]{36}/, "<id>")}`
        )
        assert.deepStrictEqual(
          [...new Set(seen)].toSorted(),
          [
            "GET /vp_c/doubao/v1/videos/generations/<id>",
            "GET /vp_c/kling/v1/videos/text2video/<id>",
            "GET /vp_c/qwen/api/v1/tasks/video/<id>",
            "GET /vp_c/vidu/ent/v2/tasks/<id>/creations",
            "POST /ip_c/doubao/v1/images/generations",
            "POST /ip_c/qwen/api/v1/services/aigc/image-generation/generation",
            "POST /vp_c/doubao/v1/videos/generations/submit",
            "POST /vp_c/kling/v1/videos/text2video",
            "POST /vp_c/qwen/api/v1/services/aigc/video-generation/generation",
            "POST /vp_c/vidu/ent/v2/text2video"
          ],
          `base address ending in ${JSON.stringify(end)}`
        )
      }
      yield* load(catalog)
    })
  )

  it.effect("vp_b without an application id is warned of, and unavailable", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const catalog = protocolCatalog(gateway.simulator.url)
      const withAppId = (appId: string | null): Catalog => ({
        ...catalog,
        channels: catalog.channels.map((channel) =>
          channel.id === "ch-vp_b" ? { ...channel, app_id: appId } : channel
        )
      })
      const Warned = Schema.Struct({
        warnings: Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
      })
      const film = ways.find(({ model }) => model === "film-b")
      assert.isDefined(film)
      const index = catalog.mounts.findIndex(({ model }) => model === "film-b")

      const { warnings } = yield* bodyAs(Warned, yield* load(withAppId(null)))
      assert.deepStrictEqual(
        warnings.map(({ path }) => path),
        [`mounts[${index}].channel`]
      )
      assert.match(warnings[0]?.message ?? "", /app_id.*channel_unavailable/)
      yield* gateway.simulator.clearRequests
      const refused = yield* order(who, film, "x")
      assert.strictEqual(refused.status, 503)
      const error = yield* errorOf(refused)
      assert.deepInclude(error, { code: "channel_unavailable", param: "model" })
      assert.deepStrictEqual(yield* gateway.simulator.requests, [])
      assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })

      yield* load(withAppId("bad-app"))
      const foreign = yield* order(who, film, "x")
      assert.strictEqual(foreign.status, 502)
      assert.deepNestedInclude(foreign.body, {
        "error.upstream.status": 403,
        "error.upstream.body": null
      })
      const { warnings: none } = yield* bodyAs(Warned, yield* load(catalog))
      assert.deepStrictEqual(none, [])
    })
  )

  it.effect("the books hold after all of this", () =>
    Effect.flatMap(Gateway, (gateway) => gateway.verify)
  )
})
