/** Fields of vendors' own: told with the model, checked before anything is held, sent as the vendor spells them. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { VendorParameter } from "../../src/domain/catalog/vendorParameters.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, orderVideo } from "../support/orders.ts"
import { leastInput, protocolCatalog, ways } from "../support/protocolCatalog.ts"

type Json = Readonly<Record<string, unknown>>

const blocks = {
  seed: "seed",
  camera_fixed: "camera_fixed",
  watermark: "watermark",
  return_last_frame: "return_last_frame",
  omni_reference_task_type: "omni_reference_task_type"
}
const tier = { seed: "seed", watermark: "watermark" }
const cloud = {
  seed: "parameters.seed",
  watermark: "parameters.watermark",
  prompt_extend: "parameters.prompt_extend",
  negative_prompt: "input.negative_prompt"
}
const shots = { shot_type: "parameters.shot_type" }

/** Where the vendor of each model has the fields that it takes, by the vendors' documents. */
const places: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "film-a": blocks,
  "film-b": {},
  "relay-a": blocks,
  "relay-b": blocks,
  "relay-d": {},
  "relay-e": tier,
  "relay-f": cloud,
  "clip-d": { watermark: "options.watermark_info.enabled", multi_shot: "settings.multi_shot" },
  "clip-e": tier,
  "text-2.6": { ...cloud, ...shots },
  "text-2.7": cloud,
  "image-2.6": { ...cloud, ...shots },
  "image-2.7": cloud,
  "reference-2.6": { ...cloud, ...shots },
  "reference-2.7": cloud
}

/** Least and most of a seed. */
const seeds: Readonly<Record<string, readonly [number, number]>> = Object.fromEntries(
  ways.map(({ model }) => [
    model,
    /^(?:film-a|relay-[ab])$/.test(model) ? [-1, 4_294_967_295] : [0, 2_147_483_647]
  ])
)

const good = (model: string, name: string): ReadonlyArray<unknown> => {
  if (name === "seed") return seeds[model] ?? []
  if (name === "negative_prompt") return ["x".repeat(500)]
  if (name === "shot_type") return ["multi"]
  if (name === "omni_reference_task_type") return ["auto", "reference"]
  return [name !== "prompt_extend" && name !== "multi_shot"]
}

const bad = (model: string, name: string): ReadonlyArray<unknown> => {
  if (name === "seed") {
    const [least, most] = seeds[model] ?? [0, 0]
    return [least - 1, most + 1, "7"]
  }
  if (name === "negative_prompt") {
    return ["x".repeat(501), "rain --dur 15", "雨－－rs 1080p"]
  }
  const isChoice = name === "shot_type" || name === "omni_reference_task_type"
  return isChoice ? ["many", true] : ["true", 1]
}

const everyName = [...new Set(Object.values(places).flatMap((fields) => Object.keys(fields)))]

const models = ways.filter(({ modality }) => modality === "video").map(({ model }) => model)

const valueAt = (body: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null
          ? new Map<string, unknown>(Object.entries(value)).get(name)
          : undefined,
      body
    )

const ordersSeen = Effect.flatMap(Gateway, ({ simulator }) =>
  Effect.map(simulator.requests, (requests) => requests.filter(({ method }) => method === "POST"))
)

const Entry = Schema.Struct({ parameters: Schema.Record(Schema.String, VendorParameter) })

const refusalOf = Effect.fnUntraced(function* (who: Customer, json: Json) {
  const answer = yield* orderVideo(who, json)
  assert.strictEqual(answer.status, 400, answer.text)
  return yield* errorOf(answer)
})

/** The same refusal of a quote, after which nothing is held. */
const assertFree = Effect.fnUntraced(function* (who: Customer, json: Json) {
  const gateway = yield* Gateway
  const asked = { prompt: "a lighthouse", ...json }
  assert.deepStrictEqual(
    yield* errorOf(yield* gateway.call("/v1/quotes", { key: who.key, json: asked })),
    yield* refusalOf(who, json)
  )
  assert.deepInclude(yield* gateway.balance(who), { balance: "1000", held: "0" })
})

layer(layerTestGateway("embedded", quickSettings, { catalogFor: protocolCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("vendors' own fields of videos", (it) => {
  it.effect.each(models)(
    "%s: every one is told, sent in the vendor's place, and costs nothing",
    (model) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const rich = yield* gateway.customer("1000000")
        const told = yield* bodyAs(
          Entry,
          yield* gateway.call(`/v1/models/${model}`, { key: rich.key })
        )
        assert.sameMembers(Object.keys(told.parameters), Object.keys(places[model] ?? {}))
        let orders = 0
        const place = Effect.fnUntraced(function* (fields: Json) {
          yield* gateway.simulator.clearRequests
          yield* createVideo(rich, {
            model,
            prompt: "sim:slow=100000 x",
            ...leastInput(model),
            ...fields
          })
          const [request] = yield* ordersSeen
          const held = Number((yield* gateway.balance(rich)).held)
          orders++
          return { body: request?.body, perOrder: (held / orders).toFixed(6) }
        })
        const plain = yield* place({})
        for (const [name, path] of Object.entries(places[model] ?? {})) {
          for (const value of good(model, name)) {
            const { body, perOrder } = yield* place({ [name]: value })
            assert.strictEqual(valueAt(body, path), value, `${name} of ${model}`)
            assert.strictEqual(perOrder, plain.perOrder)
          }
          assert.strictEqual(
            valueAt(plain.body, path),
            name === "watermark" ? false : undefined,
            `${name} is left to the vendor of ${model}, but for a mark`
          )
        }
      })
  )

  it.effect.each(models)(
    "%s: what one may not be, and what it has not, is refused by name before any hold",
    (model) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1000")
        yield* gateway.simulator.clearRequests
        const own = Object.keys(places[model] ?? {})
        for (const name of own) {
          for (const value of bad(model, name)) {
            const error = yield* refusalOf(who, { model, ...leastInput(model), [name]: value })
            assert.deepInclude(error, { code: "invalid_request", param: name })
            assert.match(error.message, new RegExp(`^${name}: Expected `))
          }
        }
        for (const name of everyName.filter((one) => !own.includes(one))) {
          const [value] = good(model, name)
          const error = yield* refusalOf(who, { model, ...leastInput(model), [name]: value })
          assert.deepInclude(error, { code: "invalid_request", param: name })
          assert.include(error.message, "This model has no such field; ")
          assert.include(error.message, `Video orders of "${model}" take model, prompt, `)
          for (const field of own) assert.include(error.message, field)
          assert.strictEqual(error.faults?.[0]?.path, name)
        }
        yield* assertFree(who, { model, ...leastInput(model), seed: 1.5, shot_type: "many" })
        assert.deepStrictEqual(yield* ordersSeen, [])
      })
  )
})

/** One model by two vendors that have different fields, the dearer one in front. */
const mixed = (simulatorUrl: string) => {
  const { channels, models, mounts } = protocolCatalog(simulatorUrl)
  const by = (channel: string, protocol: string, upstream_model: string, priority: number) => ({
    model: "clip-e",
    channel,
    protocol,
    upstream_model,
    priority
  })
  return {
    channels,
    models,
    mounts: [
      ...mounts.filter(({ model }) => model !== "clip-e"),
      by("ch-vp_d", "vp_d", "vendor-clip-omni", 1),
      by("ch-vp_e", "vp_e", "vendor-clip-e", 2)
    ]
  }
}

layer(layerTestGateway("embedded", quickSettings, { catalogFor: mixed }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("vendors' own fields of a model on several mounts", (it) => {
  it.effect("send an order to the first mount that has them all", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      for (const [fields, path] of [
        [{}, "/vp_d/"],
        [{ watermark: true }, "/vp_d/"],
        [{ seed: 7 }, "/vp_e/"],
        [{ prompt: "x --seed 7 --wm true" }, "/vp_e/"],
        [{ multi_shot: false }, "/vp_d/"]
      ] as const) {
        yield* gateway.simulator.clearRequests
        yield* createVideo(who, { model: "clip-e", ...fields })
        const [request] = yield* ordersSeen
        assert.include(request?.path, path, JSON.stringify(fields))
      }
    })
  )

  it.effect("are told together, and refused where no mount has them together", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1000")
      const told = yield* gateway.call("/v1/models/clip-e", { key: who.key })
      const { parameters } = yield* bodyAs(Entry, told)
      assert.sameMembers(Object.keys(parameters), ["seed", "watermark", "multi_shot"])
      const order = (fields: Json) => refusalOf(who, { model: "clip-e", ...fields })
      const both = yield* order({ seed: 7, multi_shot: true })
      assert.deepInclude(both, { code: "invalid_request", param: "seed" })
      // The mount that has the field says what it may be, and that is said of the order's length too.
      assert.deepInclude(yield* order({ seed: -1 }), {
        message: "seed: Expected a whole number from 0 to 2147483647, without quotes",
        param: "seed"
      })
      assert.deepInclude(yield* order({ seed: 7, resolution: "4K" }), {
        code: "video_sku_invalid",
        param: "resolution"
      })
      assert.deepInclude(yield* order({ prompt: "x --seed 99999999999" }), { param: "prompt" })
    })
  )
})
