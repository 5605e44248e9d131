/** What every store of operators must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { formatToken, TOKEN_BYTES } from "../../src/services/bearerTokens.ts"
import { Operators } from "../../src/services/operators/Operators.ts"
import type { Stores } from "../support/ledger.ts"

export const operatorsSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect("operators are known by their tokens, in the role they have now", () =>
    Effect.gen(function* () {
      const operators = yield* Operators
      const { record, token } = yield* operators.create({ name: "Ada", role: "viewer" })
      const { id } = record
      assert.deepInclude(record, { name: "Ada", role: "viewer", revokedAt: null })
      assert.match(Redacted.value(token), /^mgo_[\w-]{43}[0-9a-f]{8}$/)
      const known = operators.authenticate(token)
      assert.deepStrictEqual(yield* known, { id, name: "Ada", role: "viewer" })
      const changed = yield* operators.change(id, { role: "finance" })
      assert.deepInclude(changed, { id, name: "Ada", role: "finance" })
      assert.deepStrictEqual(yield* known, { id, name: "Ada", role: "finance" })
      yield* operators.change(id, { name: "Ada L." })
      assert.deepStrictEqual(yield* operators.find(id), {
        ...record,
        name: "Ada L.",
        role: "finance"
      })
      assert.deepStrictEqual(yield* known, { id, name: "Ada L.", role: "finance" })

      const revoked = yield* operators.revoke(id)
      assert.isNotNull(revoked.revokedAt)
      assert.strictEqual((yield* Effect.flip(known))._tag, "invalid_api_key")
      assert.deepStrictEqual(yield* operators.revoke(id), revoked)
    })
  )

  it.effect("what is no operator's token opens nothing", () =>
    Effect.gen(function* () {
      const operators = yield* Operators
      const random = yield* SecureRandom.SecureRandom
      const bytes = yield* random.randomBytes(TOKEN_BYTES)
      for (const token of [
        formatToken("mgo_", bytes),
        formatToken("mg_", bytes),
        Redacted.make("mgo_"),
        Redacted.make("")
      ]) {
        const refused = yield* Effect.flip(operators.authenticate(token))
        assert.strictEqual(refused.message, "The admin token is missing or wrong")
      }
      for (const asked of [
        operators.find("op_nobody"),
        operators.change("op_nobody", { name: "x" }),
        operators.revoke("op_nobody")
      ]) {
        assert.strictEqual((yield* Effect.flip(asked))._tag, "not_found")
      }
    })
  )

  it.effect("operators are listed newest first, those who were revoked too", () =>
    Effect.gen(function* () {
      const operators = yield* Operators
      const made: Array<string> = []
      for (const name of ["a", "b", "c"]) {
        made.push((yield* operators.create({ name, role: "operator" })).record.id)
      }
      yield* operators.revoke(made[2] ?? "")
      const page = yield* operators.list({ after: null, limit: 2 })
      const rest = yield* operators.list({ after: page.data.at(-1)?.id ?? null, limit: 1 })
      assert.isTrue(page.hasMore)
      assert.deepStrictEqual(
        [...page.data, ...rest.data].map(({ id }) => id),
        made.toReversed()
      )
      const unknown = yield* Effect.flip(operators.list({ after: "op_nothing", limit: 1 }))
      assert.strictEqual(unknown.param, "after")
    })
  )
}
