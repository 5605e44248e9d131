import { layer } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorLimits } from "../../src/adapters/wire/limits.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { ADMIN_TOKEN } from "../support/cluster.ts"
import { withoutConnections } from "../support/databases.ts"
import { firstAudit, Gateway, layerTestGateway } from "../support/gateway.ts"
import { codesCatalog } from "./codes/catalog.ts"
import { layerDefects } from "./codes/defects.ts"
import { codeRows } from "./codes/rows.ts"
import { Surface, smallSettings, TEXT_TIMEOUT_SECONDS, type VendorDoes } from "./codes/Surface.ts"
import { codesSuite } from "./codes.suite.ts"

const delivery = ({ method, target }: ReceivedRequest): Reply => {
  if (target.endsWith("/images/generations")) {
    return { body: { created: 1, data: [{ url: "https://media.test/1.png" }] } }
  }
  return { body: method === "POST" ? { id: "cgt-1" } : { id: "cgt-1", status: "running" } }
}

const makeToldVendor = Effect.gen(function* () {
  let does: VendorDoes = { does: "deliver" }
  const vendor = yield* brokenVendor(async (request) => {
    switch (does.does) {
      case "deliver":
        return delivery(request)
      case "refuse": {
        const { status, body, retryAfterSeconds } = does
        return {
          status,
          headers: {
            "content-type": "application/json",
            ...(retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` })
          },
          body
        }
      }
      case "mumble":
        return { body: does.body }
      case "hang up":
        return "reset"
      case "keep silent":
        return "hang"
      case "hold": {
        const { asked, letGo } = does
        asked()
        await Effect.runPromise(Deferred.await(letGo))
        return delivery(request)
      }
    }
  })
  const tell = (next: VendorDoes) =>
    Effect.sync(() => {
      does = next
    })
  return { ...vendor, tell }
})

const isOrder = ({ method }: { readonly method: string }) => method === "POST"

const layerShortTexts = Layer.effect(
  VendorLimits,
  Effect.map(VendorLimits, (limits) => ({
    ...limits,
    text: { ...limits.text, timeout: Duration.seconds(TEXT_TIMEOUT_SECONDS) }
  }))
)

const layerSurface = Layer.unwrap(
  Effect.map(makeToldVendor, (told) =>
    Layer.effect(
      Surface,
      Effect.gen(function* () {
        const { call, admin, customer, verify, simulator } = yield* Gateway
        const ledger = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        yield* firstAudit
        return Surface.of({
          call,
          admin,
          customer,
          verify,
          adminToken: ADMIN_TOKEN,
          rich: yield* customer("1000"),
          vendor: told.tell,
          vendorCalls: Effect.map(
            Effect.all([told.requests, simulator.requests]),
            ([some, others]) => [...some, ...others].filter(isOrder).length
          ),
          stopSpending: (organizationId) =>
            Effect.acquireRelease(ledger.stopSpending(new Map([[organizationId, "I1"]])), () =>
              ledger.stopSpending(new Map())
            ),
          withoutStore: (effect) =>
            withoutConnections(effect).pipe(
              Effect.provideService(SqlClient.SqlClient, sql),
              Effect.orDie
            ),
          now: Clock.currentTimeMillis
        })
      })
    ).pipe(
      Layer.provide(
        layerTestGateway("postgres", smallSettings, {
          catalogFor: (simulatorUrl) => codesCatalog(simulatorUrl, told.url),
          adapters: layerDefects.pipe(
            Layer.provide(layerAdapters.pipe(Layer.provide(layerShortTexts)))
          )
        })
      )
    )
  )
)

layer(layerSurface, { excludeTestServices: true, timeout: "60 seconds" })(
  "errors over real HTTP",
  (it) => {
    codesSuite(it, codeRows)
  }
)
