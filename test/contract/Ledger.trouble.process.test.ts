import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Metric, Result } from "effect"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { IdempotencyKeys } from "../../src/services/IdempotencyKeys.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { ledgerBatchSize } from "../../src/services/metrics.ts"
import { asAdmin, layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import { layerStoresOn, organization, usageOf } from "../support/ledger.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

const impatient = Layer.succeed(Settings, { ...defaultSettings, holdPatienceSeconds: 0.5 })

const until = (question: Effect.Effect<boolean, unknown>) =>
  question.pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (answer) => answer }),
    Effect.timeout("50 seconds")
  )

layer(Layer.empty, { excludeTestServices: true, timeout: "60 seconds" })(
  "the ledger while its database is in trouble",
  (it) => {
    it.effect("gives back a hold whose answer was lost and whose caller gave up", () =>
      Effect.gen(function* () {
        const url = new URL(yield* temporaryServerDatabase)
        const wire = yield* startTcpProxy(Number(url.port))
        url.port = String(wire.port)
        yield* Effect.gen(function* () {
          const ledger = yield* Ledger
          const idempotencyKeys = yield* IdempotencyKeys
          const { organizationId, hold } = yield* organization(100n)
          const key = { key: "k", fingerprint: "f" }
          const cut = yield* Effect.forkChild(wire.cutOnce("work", "move_funds"))
          yield* Effect.yieldNow
          const held = yield* Effect.forkChild(Effect.result(ledger.hold(hold(10n, { key }))))
          yield* Fiber.join(cut)
          wire.swallow()
          const answer = yield* Fiber.join(held)
          assert.deepInclude(Result.isFailure(answer) ? answer.failure : null, {
            _tag: "overloaded"
          })
          wire.pass()
          wire.cutAll()
          yield* until(
            Effect.map(ledger.balance(organizationId), ({ heldNano }) => heldNano === 0n)
          )
          assert.isNull(yield* idempotencyKeys.recall(organizationId, key))
          assert.deepEqual(yield* ledger.verify, [])
        }).pipe(
          Effect.provide(
            layerStoresOn(layerDatabaseAt(url.href)).pipe(Layer.provideMerge(impatient))
          )
        )
      }).pipe(Effect.scoped)
    )

    it.effect("keeps a charge until a standby is promoted", () =>
      Effect.gen(function* () {
        const url = yield* temporaryServerDatabase
        yield* Effect.gen(function* () {
          const ledger = yield* Ledger
          const { organizationId, hold, close } = yield* organization(100n)
          const request = hold(10n)
          yield* ledger.hold(request)
          const name = new URL(url).pathname.slice(1)
          /** As on a server that became a standby, or was promoted. */
          const readOnly = (is: "on" | "off") =>
            Effect.andThen(
              asAdmin(`ALTER DATABASE ${name} SET default_transaction_read_only = ${is}`),
              asAdmin(
                `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`
              )
            )
          yield* readOnly("on")
          const tries = Effect.map(Metric.value(ledgerBatchSize), ({ count }) => Number(count))
          const before = yield* tries
          const charging = yield* Effect.forkChild(
            ledger.capture({ ...close(request.id), chargeNano: 10n, usage: usageOf(10n) })
          )
          yield* until(Effect.map(tries, (count) => count >= before + 2))
          yield* readOnly("off")
          assert.isTrue((yield* Fiber.join(charging)).won)
          assert.strictEqual((yield* ledger.balance(organizationId)).balanceNano, 90n)
        }).pipe(Effect.provide(layerStoresOn(layerDatabaseAt(url))))
      }).pipe(Effect.scoped)
    )
  }
)
