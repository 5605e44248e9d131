/** The whole gateway over real HTTP, with the vendor simulator behind it, for one test file. */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import { layerVendorWire } from "../../src/adapters/wire/VendorWire.ts"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { layerOutgoingWebWith } from "../../src/egress/OutgoingWeb.ts"
import { layerServer, layerStores, layerUseCases } from "../../src/gateway.ts"
import { Answers } from "../../src/runtime/AnswerBudget.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { layerStoredDocuments } from "../../src/services/StoredDocuments.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { ADMIN_TOKEN } from "./cluster.ts"
import { type DatabaseKind, layerDatabase } from "./databases.ts"
import { type CallOptions, call, type HttpAnswer } from "./http.ts"
import { bodyAs, type Customer, type CustomerOptions, makeOperator } from "./operator.ts"

export { bodyAs, type Customer } from "./operator.ts"

/**
 * Vendors answer at once here, so nobody waits for the pace that suits real ones. However often a
 * channel fails, the next order is sent to it.
 */
export const quickSettings: Settings = {
  ...defaultSettings,
  breakerCalls: 1_000_000,
  askIntervalSeconds: 0.01,
  maxAskIntervalSeconds: 0.05,
  pollerSeconds: 0.1
}

export class Gateway extends Context.Service<
  Gateway,
  {
    readonly url: string
    /** Calls with a customer's key, or without any. */
    call(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
    /** Calls the admin interface as its operator. */
    admin(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
    /** The metrics as the operator reads them. */
    readonly metrics: Effect.Effect<HttpAnswer>
    /** A fresh organisation holding `amount`, with one member and key. */
    customer(amount: string, options?: CustomerOptions): Effect.Effect<Customer>
    /** Decimal strings of the customer's pool and month. */
    balance(customer: Customer): Effect.Effect<typeof BalanceBody.Type>
    /** Dies unless every invariant of the books holds. */
    readonly verify: Effect.Effect<void>
    readonly simulator: Simulator["Service"]
    /** What counts of answers. */
    readonly answers: Answers["Service"]
  }
>()("test/Gateway") {}

const BalanceBody = Schema.Struct({
  currency: Schema.String,
  balance: Schema.String,
  held: Schema.String,
  available: Schema.String,
  month: Schema.Struct({
    cap: Schema.NullOr(Schema.String),
    used: Schema.String,
    held: Schema.String
  })
})
/** Reference list prices; models that lack something, for the errors that say so. */
export const testCatalog = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const film = {
    kind: "token_video" as const,
    per_million_tokens: {
      base: { without_video: "46", with_video: "28" },
      "1080p": { without_video: "51", with_video: "31" },
      "4K": { without_video: "26", with_video: "16" }
    }
  }
  const clip = { kind: "second_video" as const, per_second: { "720p": "0.6", "1080p": "1.0" } }
  const paint = { kind: "image" as const, per_image: "0.2" }
  const model = (
    id: string,
    modality: "video" | "image" | "rerank" | "omni" | "chat",
    protocol: string
  ) => ({
    id,
    modality,
    protocol
  })
  const mount = (id: string, channel: string) => ({
    model: id,
    channel,
    upstream_model: `vendor-${id}`
  })
  return {
    channels: [
      { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-a" },
      { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" },
      { id: "ch-i", name: "I", base_url: `${simulatorUrl}/ip_a/v1`, api_key: "vendor-key-i" },
      { id: "ch-down", name: "Down", base_url: "http://127.0.0.1:9", api_key: "k" },
      { id: "ch-keyless", name: "Keyless", base_url: `${simulatorUrl}/vp_a` },
      { id: "ch-bad", name: "Bad key", base_url: `${simulatorUrl}/vp_a`, api_key: "bad-key" }
    ],
    models: [
      { ...model("film-1", "video", "vp_a"), prices: film, input_forms: ["text", "image"] },
      { ...model("clip-1", "video", "vp_d"), prices: clip },
      { ...model("paint-1", "image", "ip_a"), prices: paint },
      { ...model("film-down", "video", "vp_a"), prices: film },
      { ...model("paint-down", "image", "ip_a"), prices: paint },
      { ...model("film-keyless", "video", "vp_a"), prices: film },
      { ...model("film-badkey", "video", "vp_a"), prices: film },
      { ...model("film-unmounted", "video", "vp_a"), prices: film },
      { ...model("paint-unmounted", "image", "ip_a"), prices: paint },
      model("film-unpriced", "video", "vp_a"),
      {
        ...model("film-base-less", "video", "vp_a"),
        prices: { kind: "token_video", per_million_tokens: { "1080p": { without_video: "51" } } }
      },
      model("paint-unpriced", "image", "ip_a"),
      { ...model("film-strange", "video", "vp_z"), prices: film },
      { ...model("paint-strange", "image", "vp_a"), prices: paint },
      model("rank-1", "rerank", "openai"),
      model("omni-1", "omni", "openai"),
      model("talk-1", "chat", "openai")
    ],
    mounts: [
      mount("film-1", "ch-a"),
      mount("clip-1", "ch-d"),
      mount("paint-1", "ch-i"),
      mount("film-down", "ch-down"),
      mount("paint-down", "ch-down"),
      mount("film-keyless", "ch-keyless"),
      mount("film-badkey", "ch-bad"),
      mount("film-unpriced", "ch-a"),
      mount("film-base-less", "ch-a"),
      mount("paint-unpriced", "ch-i"),
      mount("film-strange", "ch-a"),
      mount("paint-strange", "ch-a")
    ]
  }
}

type MakeCatalog = (simulatorUrl: string) => typeof CatalogWrite.Encoded

const makeGateway = Effect.fnUntraced(function* (catalogFor: MakeCatalog) {
  const { address } = yield* HttpServer.HttpServer
  const simulator = yield* Simulator
  const url = HttpServer.formatAddress(address)

  const callGateway = (path: string, options?: CallOptions) => call(`${url}${path}`, options)
  const metrics = callGateway("/metrics", { key: ADMIN_TOKEN })
  const { admin, customer, verify } = makeOperator(callGateway, ADMIN_TOKEN)

  const balance = (who: Customer) =>
    Effect.flatMap(callGateway("/v1/balance", { key: who.key }), (answer) =>
      bodyAs(BalanceBody, answer)
    )

  const loaded = yield* admin("/catalog", { method: "PUT", json: catalogFor(simulator.url) })
  if (loaded.status !== 200) return yield* Effect.die(new Error(loaded.text))
  return Gateway.of({
    url,
    call: callGateway,
    admin,
    metrics,
    customer,
    balance,
    verify,
    simulator,
    answers: yield* Answers
  })
})

/** A gateway on an empty database of the kind, on ports of its own, with the catalog loaded. */
export const layerTestGateway = (
  kind: DatabaseKind,
  settings: Settings = quickSettings,
  options: {
    readonly catalogFor?: MakeCatalog
    readonly adapters?: typeof layerAdapters
    /** Where results are archived. */
    readonly bucket?: Layer.Layer<never>
    /** Finds the addresses of receivers. */
    readonly resolve?: LookupFunction
    /** A free one by default. */
    readonly port?: number
    /** The accounts with which people sign in. */
    readonly signIn?: Layer.Layer<never>
    /** Instead of an empty one of the kind. */
    readonly database?: ReturnType<typeof layerDatabase>
  } = {}
) => {
  const secrets = {
    masterKey: Redacted.make(new Uint8Array(32).fill(7)),
    adminToken: Redacted.make(ADMIN_TOKEN)
  }
  return Layer.effect(Gateway, makeGateway(options.catalogFor ?? testCatalog)).pipe(
    Layer.provide(layerServer(secrets, { host: "127.0.0.1", port: options.port ?? 0 })),
    Layer.provide(layerUseCases),
    Layer.provide(layerOutgoingWebWith(options.resolve ?? lookup)),
    Layer.provide(
      (options.adapters ?? layerAdapters).pipe(Layer.provide([layerVendorWire, layerVendorLimits]))
    ),
    Layer.provide(options.bucket ?? Layer.empty),
    Layer.provideMerge(layerStores(secrets)),
    Layer.provideMerge(options.database ?? layerDatabase(kind)),
    Layer.provide(layerStoredDocuments),
    Layer.provideMerge(layerSimulator({ port: 0 })),
    Layer.provide(options.signIn ?? Layer.empty),
    Layer.provide(Layer.succeed(Settings, settings))
  )
}

const Audited = Schema.Struct({
  checks: Schema.Struct({ audit: Schema.Struct({ status: Schema.Literal("ok") }) })
})

/** Waits for the gateway's first audit, whose end lets every organisation with sound books spend. */
export const firstAudit = Effect.flatMap(Gateway, (gateway) =>
  gateway
    .call("/readyz")
    .pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: ({ body }) => Schema.is(Audited)(body) }),
      Effect.timeout("20 seconds"),
      Effect.orDie
    )
)
