/**
 * The whole gateway for a test: real routes, handlers and use cases over doubles, without a socket.
 */
import { Context, Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import { layerAdapters } from "../adapters/liveAdapters.ts"
import { layerVendorLimits } from "../adapters/wire/limits.ts"
import { layerVendorWire } from "../adapters/wire/VendorWire.ts"
import { demoCatalog } from "../demoCatalog.ts"
import { CatalogWrite } from "../domain/catalog/CatalogDocument.ts"
import { parseNano } from "../domain/money/Money.ts"
import { layerOutgoingWeb } from "../egress/OutgoingWeb.ts"
import { layerResultCopier } from "../features/archive/ResultCopier.ts"
import { layerFileRemover } from "../features/files/FileRemover.ts"
import { layerWebhookDispatcher } from "../features/webhooks/WebhookDispatcher.ts"
import { layerRoutes, layerUseCases, ROUTER } from "../gateway.ts"
import { layerMonitor } from "../operations/Monitor.ts"
import { layerPoller } from "../polling/Poller.ts"
import { defaultSettings, Settings } from "../runtime/Settings.ts"
import { Access, allScopes, type NewKey } from "../services/Access.ts"
import { Catalog } from "../services/Catalog.ts"
import { Ledger } from "../services/Ledger.ts"
import { layerPollerPulse } from "../services/Operations.ts"
import type { ProtocolAdapter } from "../services/ProtocolAdapter.ts"
import { layerStoredDocuments } from "../services/StoredDocuments.ts"
import { Simulator } from "../simulator/Simulator.ts"
import { layerStoresMemory, type StoresMemory } from "./memory/memoryStores.ts"
import {
  layerAdaptersScripted,
  type ScriptedOptions,
  type ScriptedVendors
} from "./ScriptedVendors.ts"
import { layerSimulatorTesting } from "./testSimulator.ts"

export type CatalogJson = typeof CatalogWrite.Encoded

/** A member of an organisation, with an API key. */
export interface Customer {
  readonly organizationId: string
  readonly memberId: string
  readonly keyId: string
  readonly key: string
}

export interface CustomerOptions {
  /** Currency units in the organisation's pool, with at most 9 decimals; 1000 when left out. */
  readonly deposit?: number
  /** Nano-units the member may spend in a month; no cap when left out. */
  readonly monthlyCapNano?: bigint
  readonly key?: Partial<NewKey>
}

export interface CallOptions {
  /** The HTTP method; by default POST where there is a body, else GET. */
  readonly method?: string
  readonly key?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The decoded JSON; the text itself where it is not JSON. */
  readonly body: unknown
}

export class TestingGateway extends Context.Service<
  TestingGateway,
  {
    /** The base URL of all addresses; no server listens there. */
    readonly url: string
    /** The operator's token. */
    readonly adminToken: string
    /** Sends a request to the gateway, for SDKs and clients that accept a `fetch` function. */
    readonly fetch: typeof globalThis.fetch
    /** Calls a path such as `/v1/models`. */
    call(path: string, options?: CallOptions): Effect.Effect<Answer>
    /** Creates an organisation with money, one member and one key. */
    customer(options?: CustomerOptions): Effect.Effect<Customer>
  }
>()("gateway/testing/TestingGateway") {}

const URL_OF_GATEWAY = "http://gateway.test"
/**
 * Settings for a gateway with simulated vendors. Polls are frequent, because simulated vendors
 * respond immediately and the clock is live. No number of failures starts a cooldown.
 */
const quick: Partial<Settings> = {
  breakerCalls: Number.MAX_SAFE_INTEGER,
  askIntervalSeconds: 0.01,
  maxAskIntervalSeconds: 0.05,
  pollerSeconds: 0.02
}

const ADMIN_TOKEN = "admin_testing"

const secrets = {
  masterKey: Redacted.make(new Uint8Array(32).fill(7)),
  adminToken: Redacted.make(ADMIN_TOKEN)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The deposit in nano-units. A number that is no exact amount is refused, as nothing is rounded. */
const depositNano = (deposit: number): Result.Result<bigint, Error> =>
  Result.mapError(
    parseNano(String(deposit)),
    (expected) => new Error(`deposit: Expected ${expected}, not ${deposit}`)
  )

const makeCustomer = Effect.fnUntraced(function* (options: CustomerOptions) {
  const access = yield* Access
  const ledger = yield* Ledger
  const { deposit = 1000, monthlyCapNano = null } = options
  const organizationId = yield* access.createOrganization("Testing")
  if (deposit > 0) {
    const amountNano = yield* Effect.fromResult(depositNano(deposit))
    yield* ledger.deposit(organizationId, amountNano, "opening")
  }
  const member = { name: "tester", monthlyCapNano }
  const memberId = yield* access.createMember(organizationId, member)
  const { id, key } = yield* access.createKey(memberId, {
    name: "testing",
    scopes: allScopes,
    models: null,
    expiresAt: null,
    ...options.key
  })
  return { organizationId, memberId, keyId: id, key: Redacted.value(key) }
}, Effect.orDie)

const makeGateway = Effect.fnUntraced(function* (catalog: CatalogJson) {
  const services = yield* Effect.context<Access | Ledger>()
  const catalogWrite = yield* Schema.decodeEffect(CatalogWrite, { onExcessProperty: "error" })(
    catalog
  )
  yield* Effect.flatMap(Catalog, ({ replace }) => replace(catalogWrite))
  const routeEffect = yield* HttpRouter.toHttpEffect(layerRoutes(secrets))
  const handle = HttpEffect.toWebHandlerWith<
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >(yield* Effect.context<never>())(routeEffect)

  const fetch: typeof globalThis.fetch = (input, init) =>
    handle(new Request(input instanceof Request ? input : new URL(input, URL_OF_GATEWAY), init))

  const call: TestingGateway["Service"]["call"] = (path, options = {}) =>
    Effect.promise(async (signal) => {
      const { method, key, json, headers } = options
      const answer = await fetch(path, {
        method: method ?? (json === undefined ? "GET" : "POST"),
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(json === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal
      })
      return { status: answer.status, headers: answer.headers, body: parse(await answer.text()) }
    })

  return TestingGateway.of({
    url: URL_OF_GATEWAY,
    adminToken: ADMIN_TOKEN,
    fetch,
    call,
    customer: (options) => Effect.provide(makeCustomer(options ?? {}), services)
  })
})

const layerGatewayOver = <R>(catalog: Effect.Effect<CatalogJson, never, R>) =>
  Layer.effect(TestingGateway, Effect.orDie(Effect.flatMap(catalog, makeGateway))).pipe(
    Layer.merge([layerPoller, layerWebhookDispatcher, layerResultCopier, layerFileRemover]),
    Layer.provide(layerMonitor.pipe(Layer.provideMerge(layerPollerPulse))),
    Layer.provide(Layer.succeed(HttpRouter.RouterConfig, ROUTER)),
    Layer.provide(HttpServer.layerServices),
    Layer.provideMerge(layerUseCases),
    Layer.provide(layerOutgoingWeb)
  )

/** The services that the gateway of a test uses, and that a test may replace. */
export type TestingServices = StoresMemory | ProtocolAdapter

interface Options<E, R> {
  /** Settings that replace the default ones. */
  readonly settings?: Partial<Settings>
  /**
   * A layer of services that replace the doubles of the same name. It may require every double,
   * including the one it replaces, in order to delegate to it.
   */
  readonly replacing?: Layer.Layer<never, E, TestingServices | R>
}

export interface GatewayOptions<E = never> extends Options<E, ScriptedVendors> {
  /** The catalog; the demo models when left out. */
  readonly catalog?: CatalogJson
  /** The initial scripts of the vendors; `ScriptedVendors` can change them. */
  readonly vendors?: ScriptedOptions
}

export interface SimulatedGatewayOptions<E = never> extends Options<E, Simulator> {
  /** The catalog for a simulator at this URL; the demo models when left out. */
  readonly catalog?: (simulatorUrl: string) => CatalogJson
}

/**
 * The settings of a gateway under test. Health checks and totals have long intervals, so that few
 * of them run when a test advances its clock by hours.
 */
const layerSettings = (settings: Partial<Settings> = {}) =>
  Layer.succeed(Settings, {
    ...defaultSettings,
    healthSeconds: 60,
    totalsSeconds: 60,
    ...settings
  })

/**
 * The whole gateway for a test: routes, handlers, use cases and poller over stores in memory and
 * scripted vendors. All waits use the clock, so a `TestClock` controls them. The layer also
 * provides the doubles: a test can read the `Ledger`, script the `ScriptedVendors`, and break the
 * `MemoryStore`.
 */
export const layerGatewayTesting = <E = never>(options: GatewayOptions<E> = {}) => {
  const doubles = Layer.merge(layerStoresMemory(), layerAdaptersScripted(options.vendors))
  const services: Layer.Layer<TestingServices | ScriptedVendors, E> =
    options.replacing === undefined ? doubles : options.replacing.pipe(Layer.provideMerge(doubles))
  const catalog = options.catalog ?? demoCatalog("http://vendors.test")
  return layerGatewayOver(Effect.succeed(catalog)).pipe(
    Layer.provideMerge(services),
    Layer.provide(layerSettings(options.settings))
  )
}

/**
 * The same gateway with the real adapters, which connect to the vendor simulator over sockets.
 * Sockets do not follow a `TestClock`, so this gateway needs the live clock. The layer also
 * provides the `Simulator`, whose book lists the jobs that vendors would bill.
 */
export const layerGatewaySimulated = <E = never>(options: SimulatedGatewayOptions<E> = {}) => {
  const doubles = layerAdapters.pipe(
    Layer.provide([layerVendorWire, layerVendorLimits]),
    Layer.provideMerge(layerStoresMemory()),
    Layer.provideMerge(layerSimulatorTesting)
  )
  const services: Layer.Layer<
    TestingServices | Simulator,
    E | Layer.Error<typeof layerSimulatorTesting>
  > =
    options.replacing === undefined ? doubles : options.replacing.pipe(Layer.provideMerge(doubles))
  const catalogAt = options.catalog ?? demoCatalog
  return layerGatewayOver(Effect.map(Simulator, ({ url }) => catalogAt(url))).pipe(
    Layer.provideMerge(services),
    Layer.provide(layerStoredDocuments),
    Layer.provide(layerSettings({ ...quick, ...options.settings }))
  )
}
