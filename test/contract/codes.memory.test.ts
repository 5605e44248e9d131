import { layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Layer } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { VendorLost } from "../../src/domain/VendorOutcome.ts"
import {
  Access,
  type ImageScript,
  Ledger,
  layerGatewayTesting,
  type ScriptedOptions,
  ScriptedVendors,
  TestingGateway,
  type TextScript,
  type VideoScript,
  vendor
} from "../../src/testing/doubles.ts"
import { type CallOptions, call } from "../support/http.ts"
import { makeOperator } from "../support/operator.ts"
import { codesCatalog, NOWHERE } from "./codes/catalog.ts"
import { layerDefects } from "./codes/defects.ts"
import { patientRows } from "./codes/limit.rows.ts"
import { codeRows } from "./codes/rows.ts"
import { Surface, smallSettings, TEXT_TIMEOUT_SECONDS, type VendorDoes } from "./codes/Surface.ts"
import { codesSuite } from "./codes.suite.ts"

const TOLD = "http://told.test"

const failing = (failure: VendorLost) => ({ _tag: "Failing", failure }) as const

/** What a vendor answers that delivers nothing; null when it does. */
const failureOf = (does: VendorDoes) => {
  switch (does.does) {
    case "refuse":
      return vendor.refuses(does)
    case "hang up":
      return vendor.isLost("connection_lost")
    case "mumble":
      return failing(
        new VendorLost({
          reason: "broken_answer",
          message: "The vendor's answer could not be read",
          status: 200,
          retryAfterSeconds: null
        })
      )
    case "keep silent":
      return failing(
        new VendorLost({
          reason: "timeout",
          message: `The vendor did not answer within ${TEXT_TIMEOUT_SECONDS} seconds`,
          status: null,
          retryAfterSeconds: null
        })
      )
    default:
      return null
  }
}

const held = (does: VendorDoes) =>
  does.does === "hold"
    ? {
        after: Effect.andThen(Effect.sync(does.asked), Deferred.await(does.letGo))
      }
    : {}

const makeVendors = () => {
  let does: VendorDoes = { does: "deliver" }
  const failureFor = (baseUrl: string) => {
    if (baseUrl === NOWHERE) return vendor.isUnreachable()
    return baseUrl.startsWith(TOLD) ? failureOf(does) : null
  }
  return {
    tell: (next: VendorDoes) =>
      Effect.sync(() => {
        does = next
      }),
    scripts: {
      videos: ({ account }): VideoScript => failureFor(account.baseUrl) ?? vendor.waits(),
      images: ({ account }): ImageScript => failureFor(account.baseUrl) ?? vendor.makes(held(does)),
      texts: ({ account }): TextScript => failureFor(account.baseUrl) ?? vendor.writes()
    } satisfies ScriptedOptions
  }
}

const unreachable = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("no connection"), operation: "connect" })
})

const makeStore = () => {
  let away = false
  const guarded = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => (away ? Effect.die(unreachable) : effect))
  return {
    without: <A>(effect: Effect.Effect<A>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          away = true
        }),
        () => effect,
        () =>
          Effect.sync(() => {
            away = false
          })
      ),
    layer: Layer.effect(
      Access,
      Effect.map(Access, (access) =>
        Access.of({
          ...access,
          authenticate: (key) => guarded(access.authenticate(key)),
          organization: (id) => guarded(access.organization(id)),
          createMember: (id, member) => guarded(access.createMember(id, member))
        })
      )
    )
  }
}

/** What a socket's client says of its body. */
const withLength = (options: CallOptions = {}): CallOptions => {
  const body = "json" in options ? JSON.stringify(options.json) : options.body
  return body === undefined
    ? options
    : {
        ...options,
        headers: { "content-length": `${Buffer.byteLength(body)}`, ...options.headers }
      }
}

/** In the middle of a month, so that the wait for the next one is a known time. */
const NOON = Date.UTC(2031, 4, 17, 12)

const layerSurface = Layer.unwrap(
  Effect.sync(() => {
    const vendors = makeVendors()
    const store = makeStore()
    return Layer.effect(
      Surface,
      Effect.gen(function* () {
        const gateway = yield* TestingGateway
        const ledger = yield* Ledger
        const scripted = yield* ScriptedVendors
        const callGateway: Surface["Service"]["call"] = (path, options) =>
          call(`${gateway.url}${path}`, withLength(options), gateway.fetch)
        const operator = makeOperator(callGateway, gateway.adminToken)
        return Surface.of({
          ...operator,
          call: callGateway,
          adminToken: gateway.adminToken,
          rich: yield* operator.customer("1000"),
          vendor: vendors.tell,
          vendorCalls: Effect.map(
            Effect.all([scripted.videoOrders, scripted.imageOrders, scripted.textOrders]),
            (orders) => orders.flat().filter(({ account }) => account.baseUrl !== NOWHERE).length
          ),
          stopSpending: (organizationId) =>
            Effect.acquireRelease(ledger.stopSpending(new Map([[organizationId, "I1"]])), () =>
              ledger.stopSpending(new Map())
            ),
          withoutStore: store.without,
          now: Clock.currentTimeMillis
        })
      })
    ).pipe(
      Layer.provide(
        layerGatewayTesting({
          catalog: codesCatalog("http://vendors.test", TOLD),
          settings: smallSettings,
          vendors: vendors.scripts,
          replacing: Layer.merge(layerDefects, store.layer)
        })
      ),
      // Before anything of the gateway waits for the clock.
      Layer.provide(Layer.effectDiscard(TestClock.setTime(NOON)))
    )
  })
)

layer(layerSurface)("errors of a gateway of doubles", (it) => {
  codesSuite(it, [...codeRows, ...patientRows])
})
