import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { layerStores } from "../../src/gateway.ts"
import { Access } from "../../src/services/Access.ts"
import { Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import type { NewTask } from "../../src/services/TaskRepo.ts"
import { layerDatabase } from "../support/databases.ts"

const usage: UsageEntry = {
  keyId: "key_1",
  taskId: null,
  model: "m",
  modality: "image",
  input: 0n,
  output: 1n,
  unit: "image",
  unitPriceNano: 15n,
  basis: "requested_images"
}

/** 2 tokens in and 1 out. */
const text: UsageEntry = {
  ...usage,
  modality: "chat",
  input: 2n,
  unit: "token",
  unitPriceNano: 9n,
  inputUnitPriceNano: 3n,
  basis: "upstream_usage"
}

const task: NewTask = {
  keyId: "key_1",
  model: "m",
  listedProtocol: "vp_a",
  summary: {},
  submitSeconds: 60
}

const key = { key: "k", fingerprint: "f" }

/** An organisation with one captured image, one captured text, one released image, one task and one open hold. */
const books = Effect.gen(function* () {
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Test")
  const memberId = yield* access.createMember(organizationId, { name: "m", monthlyCapNano: null })
  yield* ledger.deposit(organizationId, 1000n, "first")
  const job = { channelId: "ch", protocol: "vp_a", upstreamModel: "u" }
  const request = {
    organizationId,
    memberId,
    amountNano: 10n,
    ttlSeconds: 60,
    quote: {},
    job,
    key: null
  }
  const close = { organizationId, by: "test", task: null, answer: null }
  for (const id of ["captured", "written", "released", "open"]) {
    yield* ledger.hold({ ...request, id, task: null, key: null })
  }
  yield* ledger.hold({ ...request, id: "submitting", task, key })
  yield* ledger.capture({ ...close, holdId: "captured", chargeNano: 15n, usage })
  yield* ledger.capture({ ...close, holdId: "written", chargeNano: 15n, usage: text })
  yield* ledger.release({ ...close, holdId: "released", orphan: null, forgetKey: false })
})

const open =
  "ALTER TABLE transfers DISABLE TRIGGER ALL; ALTER TABLE usage_records DISABLE TRIGGER ALL"

/** What a hand could do to the rows, and the invariant that must notice. */
const tamperings = [
  ["I1", "UPDATE pools SET balance = balance + 1"],
  ["I1", "DELETE FROM transfers WHERE kind = 'deposit'"],
  ["I2", "UPDATE pools SET held = held + 1"],
  ["I2", "UPDATE holds SET amount = amount + 1 WHERE id = 'open'"],
  ["I3", "UPDATE member_months SET held = held + 1"],
  ["I3", "UPDATE member_months SET captured = captured + 1"],
  ["I3", "DELETE FROM member_months"],
  ["I4", "DELETE FROM transfers WHERE kind = 'capture'"],
  ["I4", "UPDATE transfers SET amount = 14 WHERE kind = 'capture'"],
  ["I4", "DELETE FROM usage_records"],
  ["I4", "UPDATE usage_records SET charge = 14"],
  ["I5", "UPDATE pools SET balance = -100"],
  ["I6", "UPDATE holds SET expires_at = now() - interval '2 minutes' WHERE id = 'open'"],
  [
    "I7",
    "UPDATE tasks SET state = 'rejected', error_code = 'x', finished_at = now() WHERE id = 'submitting'"
  ],
  ["I7", "UPDATE tasks SET id = 'released' WHERE id = 'submitting'"],
  ["I4", "UPDATE holds SET quote = '{\"holdNano\": \"11\"}' WHERE id = 'open'"],
  ["I4", "UPDATE usage_records SET unit_price = 11"],
  ["I4", "UPDATE usage_records SET input_unit_price = 4 WHERE hold_id = 'written'"],
  ["I2", "UPDATE holds SET organization_id = 'nobody' WHERE id = 'open'"],
  ["I1", "UPDATE transfers SET organization_id = 'nobody' WHERE kind = 'deposit'"],
  ["I4", "UPDATE transfers SET hold_id = 'nothing' WHERE hold_id = 'captured'"],
  ["I4", "UPDATE usage_records SET hold_id = 'nothing' WHERE hold_id = 'captured'"],
  ["I7", "UPDATE tasks SET id = 'nothing' WHERE id = 'submitting'"],
  ["I9", "UPDATE idempotency_keys SET hold_id = 'nothing'"],
  ["I7", "UPDATE tasks SET submit_deadline = now() - interval '2 minutes'"]
] as const

for (const kind of ["embedded", "postgres"] as const) {
  const secrets = { masterKey: Redacted.make(new Uint8Array(32)), adminToken: null }
  const stores = layerStores(secrets).pipe(Layer.provideMerge(layerDatabase(kind)))
  const prepared = Layer.effectDiscard(books).pipe(Layer.provideMerge(stores))
  layer(prepared, { excludeTestServices: true, timeout: "60 seconds" })(
    `the audit (${kind})`,
    (it) => {
      it.effect("finds nothing in sound books", () =>
        Effect.gen(function* () {
          assert.deepEqual(yield* (yield* Ledger).verify, [])
        })
      )

      it.effect.each(tamperings)("%s notices: %s", ([invariant, tampering]) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const ledger = yield* Ledger
          const tampered = Effect.gen(function* () {
            for (const statement of [...open.split(";"), tampering]) yield* sql.unsafe(statement)
            return yield* Effect.fail(yield* ledger.verify)
          })
          const violations = yield* Effect.flip(sql.withTransaction(tampered))
          assert.include(
            Array.isArray(violations) ? violations.map((violation) => violation.invariant) : [],
            invariant
          )
        })
      )

      it.effect("rows of the journal and the usage detail cannot be changed or deleted", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const statement of [
            "UPDATE transfers SET amount = 1",
            "DELETE FROM transfers",
            "UPDATE usage_records SET charge = 1",
            "DELETE FROM usage_records"
          ]) {
            assert.strictEqual((yield* Effect.exit(sql.unsafe(statement)))._tag, "Failure")
          }
        })
      )
    }
  )
}
