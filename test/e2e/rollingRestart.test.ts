import { assert, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import {
  prepareCustomer,
  processEnvironment,
  settledBalance,
  shippedEntry
} from "../support/gatewayProcesses.ts"
import { type CallOptions, call } from "../support/http.ts"
import { isRefused } from "../support/refused.ts"
import { assertEqualBooks, startLoad } from "../support/steadyLoad.ts"

/** Each restarts one of the two gateways. */
const ROUNDS = Number(process.env.ROLLING_ROUNDS ?? 2)
const CLIENTS = 12

/** A gateway behind the balancer, and whether the balancer sends it anything. */
interface Slot {
  gateway: GatewayNode
  ready: boolean
}

/** Asks each gateway for its readiness all the time, as a balancer does. */
const probe = (slots: ReadonlyArray<Slot>) =>
  Effect.forEach(slots, (slot) => {
    const { gateway } = slot
    return Effect.map(Effect.exit(call(`${gateway.url}/readyz`)), (exit) => {
      const well = exit._tag === "Success" && exit.value.status === 200
      // A probe of the gateway that was here before says nothing about this one.
      if (slot.gateway === gateway) slot.ready = well
    })
  }).pipe(Effect.delay("50 millis"), Effect.forever)

/**
 * Sends a request to a gateway that is ready. Only a refused connection is tried again: anything else
 * that is no answer is a request lost.
 */
const throughBalancer = Effect.fnUntraced(function* (
  slots: ReadonlyArray<Slot>,
  path: string,
  options: CallOptions
) {
  for (;;) {
    const ready = slots.filter((slot) => slot.ready)
    const slot = ready[Math.floor(Math.random() * ready.length)]
    if (slot !== undefined) {
      const exit = yield* Effect.exit(call(`${slot.gateway.url}${path}`, options))
      if (exit._tag === "Success") return exit.value
      if (!isRefused(exit)) return yield* Effect.failCause(exit.cause)
    }
    yield* Effect.sleep("5 millis")
  }
})

it.live(
  "two gateways restarted in turn under load lose no request and no unit of money",
  () =>
    Effect.gen(function* () {
      const database = yield* processEnvironment("postgres")
      const env = { ...database, GATEWAY_DRAIN_SECONDS: "1" }
      const start = startGateway(env, shippedEntry)
      const first = yield* start
      const { key, organizationPath } = yield* prepareCustomer(first, "100000")
      const slots: ReadonlyArray<Slot> = [
        { gateway: first, ready: true },
        { gateway: yield* start, ready: true }
      ]
      yield* Effect.forkChild(probe(slots))

      const load = yield* startLoad(
        CLIENTS,
        (path, options) => throughBalancer(slots, path, { key, ...options }),
        20
      )
      const { answered } = load

      const rolling = Effect.gen(function* () {
        for (let round = 0; round < ROUNDS; round++) {
          const slot = slots[round % slots.length] ?? assert.fail()
          const before = answered.images
          yield* slot.gateway.process.kill("SIGTERM")
          const [took, end] = yield* Effect.timed(slot.gateway.process.end)
          assert.deepStrictEqual(end, { code: 0, signal: null }, slot.gateway.process.stderr())
          assert.isBelow(Duration.toSeconds(took), 30)
          slot.ready = false
          slot.gateway = yield* start
          yield* Effect.sync(
            () => slots.every(({ ready }) => ready) && answered.images > before
          ).pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: (well) => well }),
            Effect.timeout("30 seconds")
          )
        }
      })
      yield* Effect.raceFirst(rolling, load.lost)
      yield* load.stop

      const last = slots[0] ?? assert.fail()
      yield* settledBalance(last.gateway, organizationPath)
      yield* assertEqualBooks(database.DATABASE_URL ?? "", answered)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000 + ROUNDS * 30_000
)
