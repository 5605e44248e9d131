/** A month as FOCUS, as an operator reads it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { FocusVersion } from "../../src/features/statements/focusRows.ts"
import { csvRows } from "./csvRows.ts"
import { focusFaults } from "./focusRules.ts"
import { Gateway } from "./gateway.ts"

/** The rows of the month in each version, none of which may break a rule of its version. */
export const focusOf = Effect.fnUntraced(function* (statementPath: string) {
  const gateway = yield* Gateway
  const rowsIn = Effect.fnUntraced(function* (version: FocusVersion) {
    const answer = yield* gateway.admin(`${statementPath}/focus?version=${version}`)
    assert.strictEqual(answer.status, 200, answer.text)
    const header = answer.text.slice(0, answer.text.indexOf("\r\n")).split(",")
    const rows = yield* csvRows(answer.text)
    assert.deepStrictEqual(focusFaults(version, header, rows), [], `FOCUS ${version}`)
    return rows
  })
  return { "1.2": yield* rowsIn("1.2"), "1.3": yield* rowsIn("1.3") }
})
