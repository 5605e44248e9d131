/** Every error as users of the official `openai` package meet it. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import OpenAI, { type APIError } from "openai"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { type ErrorCode, errorTable } from "../../src/domain/Errors.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { firstAudit, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { done, openaiOf, rejection } from "../support/officialClients.ts"
import { textCatalog } from "../support/textCatalog.ts"

const held = { asked: Deferred.makeUnsafe<void>(), letGo: Deferred.makeUnsafe<void>() }

/** The built-in adapters, but for two of images: one that breaks, and one that waits. */
const layerTroubled = Layer.effect(
  ProtocolAdapter,
  Effect.map(ProtocolAdapter, (builtIn) =>
    ProtocolAdapter.of({
      ...builtIn,
      image: new Map([
        ...builtIn.image,
        ["ip_b", { generate: () => Effect.die(new Error("a fault of the adapter")) }],
        [
          "ip_c",
          {
            generate: () =>
              Deferred.succeed(held.asked, undefined).pipe(
                Effect.andThen(Deferred.await(held.letGo)),
                Effect.as({ created: 1, data: [{ url: "https://media.test/1.png" }] })
              )
          }
        ]
      ])
    })
  )
).pipe(Layer.provide(layerAdapters))

const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const catalog = textCatalog()(simulatorUrl)
  const prices = { kind: "image", per_image: "0.2" } as const
  return {
    ...catalog,
    models: [
      ...catalog.models,
      { id: "paint-broken", modality: "image", protocol: "ip_b", prices },
      { id: "paint-held", modality: "image", protocol: "ip_c", prices }
    ],
    mounts: [
      ...catalog.mounts,
      { model: "paint-broken", channel: "ch-i" },
      { model: "paint-held", channel: "ch-i" }
    ]
  }
}

const settings = { ...quickSettings, maxMediaBodyBytes: 64 * 1024 }

/** One client for each way a customer can be. */
const customers = Effect.gen(function* () {
  const gateway = yield* Gateway
  const ledger = yield* Ledger
  const rich = yield* gateway.customer("100")
  const stopped = yield* gateway.customer("100")
  yield* firstAudit
  yield* ledger.stopSpending(new Map([[stopped.organizationId, "tests"]]))
  const options = { maxRetries: 0 }
  const budgeted = yield* gateway.customer("100")
  yield* gateway.admin(`/organizations/${budgeted.organizationId}/budgets`, {
    json: { scope: "organization", period: "total", amount: "0.1" }
  })
  return {
    budgeted: yield* openaiOf(budgeted, options),
    rich: yield* openaiOf(rich, options),
    stranger: yield* openaiOf({ ...rich, key: "mg_nobody" }, options),
    poor: yield* openaiOf(yield* gateway.customer("0.1"), options),
    capped: yield* openaiOf(yield* gateway.customer("100", { monthlyCap: "0.1" }), options),
    stopped: yield* openaiOf(stopped, options),
    narrow: yield* openaiOf(yield* gateway.customer("1", { key: { scopes: ["models"] } }), options),
    hurried: yield* openaiOf(
      yield* gateway.customer("1", { key: { requests_per_minute: 1 } }),
      options
    )
  }
})
type Customers = Effect.Success<typeof customers>

const paint = (client: OpenAI, body: Partial<OpenAI.ImageGenerateParamsNonStreaming>) =>
  client.images.generate({ model: "paint-1", prompt: "x", ...body })

const film = (client: OpenAI, body: object) =>
  client.post("/videos/generations", { body: { model: "film-1", prompt: "x", ...body } })

const Accepted = Schema.Struct({ id: Schema.String })

const keyed = (key: string) => ({ headers: { "Idempotency-Key": key } })

type ErrorClass = new (...parameters: never) => APIError

interface Row {
  readonly is: ErrorClass
  readonly param?: string
  /** What the error says beside the four fields of every error. */
  readonly more?: object
  readonly call: (by: Customers) => PromiseLike<unknown>
}

/** Every code a customer can meet. Statuses and types are those of the table of codes. */
const rows: Readonly<Record<ErrorCode, Row>> = {
  modality_mismatch: {
    is: OpenAI.BadRequestError,
    param: "model",
    call: ({ rich }) => paint(rich, { model: "film-1" })
  },
  modality_not_ready: {
    is: OpenAI.BadRequestError,
    param: "model",
    call: ({ rich }) => rich.audio.speech.create({ model: "speak-1", voice: "alloy", input: "x" })
  },
  video_unsupported_protocol: {
    is: OpenAI.BadRequestError,
    param: "model",
    call: ({ rich }) => film(rich, { model: "film-strange" })
  },
  image_unsupported_protocol: {
    is: OpenAI.BadRequestError,
    param: "model",
    call: ({ rich }) => paint(rich, { model: "paint-strange" })
  },
  video_sku_invalid: {
    is: OpenAI.BadRequestError,
    param: "duration",
    more: { nearest: 15, allowed: { min: 5, max: 15, smart: false } },
    call: ({ rich }) => film(rich, { duration: 99 })
  },
  billing_unavailable: {
    is: OpenAI.BadRequestError,
    param: "model",
    call: ({ rich }) => paint(rich, { model: "paint-unpriced" })
  },
  upstream_error: {
    is: OpenAI.InternalServerError,
    more: { retryable: true, unpaid: false },
    call: ({ rich }) => paint(rich, { prompt: "x sim:http500" })
  },
  insufficient_balance: {
    is: OpenAI.APIError,
    more: { required: "0.2", available: "0.1" },
    call: ({ poor }) => paint(poor, {})
  },
  member_cap_exceeded: {
    is: OpenAI.RateLimitError,
    more: { cap: "0.1", used: "0", required: "0.2" },
    call: ({ capped }) => paint(capped, {})
  },
  budget_exceeded: {
    is: OpenAI.RateLimitError,
    more: { scope: "organization", period: "total", amount: "0.1", used: "0", required: "0.2" },
    call: ({ budgeted }) => paint(budgeted, {})
  },
  invalid_api_key: {
    is: OpenAI.AuthenticationError,
    call: ({ stranger }) => stranger.models.list()
  },
  permission_denied: {
    is: OpenAI.PermissionDeniedError,
    call: ({ narrow }) => paint(narrow, {})
  },
  model_not_found: {
    is: OpenAI.NotFoundError,
    param: "model",
    call: ({ rich }) => paint(rich, { model: "nobody" })
  },
  task_not_found: {
    is: OpenAI.NotFoundError,
    call: ({ rich }) => rich.get("/videos/vt_nobody")
  },
  task_processing: {
    is: OpenAI.ConflictError,
    call: async ({ rich }) => {
      const made = await film(rich, { prompt: "x sim:slow=99" })
      return rich.delete(`/videos/${Schema.decodeUnknownSync(Accepted)(made).id}`)
    }
  },
  price_list_in_use: {
    is: OpenAI.ConflictError,
    more: { organizations: 1 },
    call: async ({ rich }) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
      const admin = (path: string) => rich.baseURL.replace("/v1", `/admin/v1${path}`)
      const make = async (path: string, body: object) =>
        Schema.decodeUnknownSync(Accepted)(await rich.post(admin(path), { headers, body }))
      const list = await make("/price-lists", { name: "taken", factor: "1" })
      const { id } = await make("/organizations", { name: "on it" })
      await rich.patch(admin(`/organizations/${id}`), { headers, body: { price_list: list.id } })
      return rich.delete(admin(`/price-lists/${list.id}`), { headers })
    }
  },
  not_found: {
    is: OpenAI.NotFoundError,
    call: ({ rich }) => rich.files.retrieve("file-1")
  },
  method_not_allowed: {
    is: OpenAI.APIError,
    more: { allow: ["GET"] },
    call: ({ rich }) => rich.delete("/models")
  },
  payload_too_large: {
    is: OpenAI.APIError,
    call: ({ rich }) => paint(rich, { prompt: "x".repeat(64 * 1024) })
  },
  unsupported_media_type: {
    is: OpenAI.APIError,
    call: ({ rich }) =>
      rich.post("/images/generations", { body: "x", headers: { "content-type": "text/plain" } })
  },
  invalid_request: {
    is: OpenAI.BadRequestError,
    param: "n",
    call: ({ rich }) => paint(rich, { n: 11 })
  },
  idempotency_conflict: {
    is: OpenAI.ConflictError,
    param: "idempotency-key",
    call: ({ rich }) =>
      rich.images.generate({ model: "paint-held", prompt: "x" }, keyed("still-running"))
  },
  idempotency_mismatch: {
    is: OpenAI.UnprocessableEntityError,
    param: "idempotency-key",
    call: async ({ rich }) => {
      await rich.images.generate({ model: "paint-1", prompt: "x" }, keyed("used"))
      return rich.images.generate({ model: "paint-1", prompt: "y" }, keyed("used"))
    }
  },
  precondition_failed: {
    is: OpenAI.APIError,
    more: { changed: [] },
    call: ({ rich }) =>
      rich.put(rich.baseURL.replace("/v1", "/admin/v1/catalog"), {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "if-match": '"999"' },
        body: { channels: [], models: [], mounts: [] }
      })
  },
  channel_unavailable: {
    is: OpenAI.InternalServerError,
    param: "model",
    call: ({ rich }) => paint(rich, { model: "paint-unmounted" })
  },
  rate_limited: {
    is: OpenAI.RateLimitError,
    call: async ({ hurried }) => {
      await hurried.models.list()
      return hurried.models.list()
    }
  },
  overloaded: {
    is: OpenAI.InternalServerError,
    call: ({ stopped }) => paint(stopped, {})
  },
  internal_error: {
    is: OpenAI.InternalServerError,
    call: ({ rich }) => paint(rich, { model: "paint-broken" })
  }
}

const isCode = (code: string): code is ErrorCode => code in errorTable

const assertError = (error: unknown, code: ErrorCode, status: number, row: Row) => {
  const { is, param = null, more = {} } = row
  assert.instanceOf(error, OpenAI.APIError)
  // The class itself: that of errors without a class of their own has all others below it.
  assert.strictEqual(error.constructor, is, error.message)
  assert.deepInclude(error, { status, code, type: errorTable[code].type, param }, error.message)
  assert.deepInclude(error.error, { code, param, ...more })
  const told = error.error !== undefined && "message" in error.error ? error.error.message : ""
  assert.isNotEmpty(told)
  assert.strictEqual(error.message, `${status} ${told}`)
  assert.match(error.requestID ?? "", /^req_/)
  assert.strictEqual(error.headers?.get("x-request-id"), error.requestID)
}

layer(layerTestGateway("postgres", settings, { catalogFor, adapters: layerTroubled }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the errors of the openai package", (it) => {
  it.effect("have the class of their status and say what the gateway says, for every code", () =>
    Effect.gen(function* () {
      const by = yield* customers
      const first = yield* Effect.forkChild(done(() => rows.idempotency_conflict.call(by)))
      yield* Effect.raceFirst(Deferred.await(held.asked), Fiber.join(first))
      yield* Effect.forEach(Object.keys(errorTable).filter(isCode), (code) =>
        Effect.map(
          rejection(() => rows[code].call(by)),
          (error) => assertError(error, code, errorTable[code].status, rows[code])
        )
      ).pipe(Effect.ensuring(Deferred.succeed(held.letGo, undefined)))
      yield* Fiber.join(first)
    })
  )

  it.effect.each([
    ["sim:refuse=400", 400, OpenAI.BadRequestError],
    ["sim:refuse=404", 404, OpenAI.NotFoundError],
    ["sim:refuse=413", 413, OpenAI.APIError],
    ["sim:refuse=415", 415, OpenAI.APIError],
    ["sim:refuse=422", 422, OpenAI.UnprocessableEntityError],
    ["sim:refuse=401", 502, OpenAI.InternalServerError],
    ["sim:refuse=402", 502, OpenAI.InternalServerError],
    ["sim:rate", 503, OpenAI.InternalServerError],
    ["sim:lost", 502, OpenAI.InternalServerError],
    ["sim:refuse=504", 504, OpenAI.InternalServerError]
  ] as const)("of a vendor that answers %s have status %i and its class", ([word, status, is]) =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const client = yield* openaiOf(yield* gateway.customer("100"), { maxRetries: 0 })
      const prompt = `x ${word}`
      const messages = [{ role: "user" as const, content: prompt }]
      for (const call of [
        () => paint(client, { prompt }),
        () => film(client, { prompt }),
        () => client.chat.completions.create({ model: "talk-1", messages }),
        () => client.chat.completions.create({ model: "talk-1", messages, stream: true }),
        () => client.embeddings.create({ model: "vector-1", input: prompt })
      ]) {
        assertError(yield* rejection(call), "upstream_error", status, { is, call })
      }
    })
  )

  it.effect("leave books that hold", () => Effect.flatMap(Gateway, (gateway) => gateway.verify))
})
