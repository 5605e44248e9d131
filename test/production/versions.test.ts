/** This version and the next one on one database, in both orders. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import {
  prepareCustomer,
  processEnvironment,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { type CallOptions, call } from "../support/http.ts"
import { assertEqualBooks, startLoad } from "../support/steadyLoad.ts"

const CLIENTS = 6
/** Images and videos that come to their end under each set of gateways. */
const ORDERS = 2

const stop = Effect.fnUntraced(function* ({ process }: GatewayNode) {
  yield* process.kill("SIGTERM")
  assert.isNull((yield* process.end).signal, process.stderr())
})

const readiness = ({ url }: GatewayNode) => call(`${url}/readyz`)

/** Asks the gateways in turn, whichever there are at the moment. */
const turns = (gateways: ReadonlyArray<GatewayNode>, key: string) => {
  let turn = 0
  const all = { current: gateways }
  const ask = (path: string, options: CallOptions) =>
    Effect.suspend(() => {
      const gateway = all.current[turn++ % all.current.length] ?? assert.fail()
      return call(`${gateway.url}${path}`, { key, ...options })
    })
  return { all, ask }
}

it.live(
  "gateways serve on beside a newer version whose migration lets them, and come back to it",
  () =>
    Effect.gen(function* () {
      const env = yield* processEnvironment("postgres")
      const startThis = startGateway(env, shippedEntry)
      const startNext = startGateway({ ...env, NEXT_MIGRATION: "serve" })
      const first = yield* startThis
      const { key, organizationPath } = yield* prepareCustomer(first, "100000")
      const { all, ask } = turns([first], key)
      const load = yield* startLoad(CLIENTS, ask)
      const journey = Effect.gen(function* () {
        yield* load.more(ORDERS)
        const next = yield* startNext
        all.current = [first, next]
        yield* load.more(ORDERS)
        for (const gateway of all.current) {
          assert.strictEqual((yield* readiness(gateway)).status, 200)
        }
        all.current = [next]
        yield* stop(first)
        yield* load.more(ORDERS)
        // The way back: the database stays as the newer version left it.
        const again = yield* startThis
        all.current = [next, again]
        yield* load.more(ORDERS)
        all.current = [again]
        yield* stop(next)
        yield* load.more(ORDERS)
        assert.strictEqual((yield* readiness(again)).status, 200)
        return again
      })
      const last = yield* Effect.raceFirst(journey, load.lost)
      yield* load.stop
      yield* settledBalance(last, organizationPath)
      yield* assertEqualBooks(env.DATABASE_URL ?? "", load.answered)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)

it.live("gateways make room for a newer version whose migration stops them", () =>
  Effect.gen(function* () {
    const env = yield* processEnvironment("postgres")
    const older = yield* startGateway(env, shippedEntry)
    const { key, organizationPath } = yield* prepareCustomer(older, "100000")
    const { all, ask } = turns([older], key)
    const load = yield* startLoad(CLIENTS, ask)
    const journey = Effect.gen(function* () {
      yield* load.more(ORDERS)
      const next = yield* startGateway({ ...env, NEXT_MIGRATION: "stop" })
      all.current = [next]
      const told = yield* readiness(older).pipe(
        Effect.delay("20 millis"),
        Effect.repeat({ until: ({ status }) => status === 503 }),
        Effect.timeout("20 seconds")
      )
      assert.include(told.text, '"migrations":{"status":"failing","detail":"A newer version')
      const refused = yield* Effect.exit(Effect.scoped(startGateway(env, shippedEntry)))
      assert.match(
        Exit.isFailure(refused) ? String(refused.cause) : "",
        /at migration 2, and this gateway knows migrations up to 1: .* Start the version that/
      )
      yield* stop(older)
      yield* load.more(ORDERS)
      assert.strictEqual((yield* readiness(next)).status, 200)
      return next
    })
    const last = yield* Effect.raceFirst(journey, load.lost)
    yield* load.stop
    yield* settledBalance(last, organizationPath)
    yield* assertEqualBooks(env.DATABASE_URL ?? "", load.answered)
  }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)
