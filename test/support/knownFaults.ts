/** Tables of rows of which some are known to fail: what is wrong with a row, and lists that can only shrink. */
import { inspect, isDeepStrictEqual } from "node:util"
import { assert } from "@effect/vitest"
import { Predicate } from "effect"

/** What is wrong, in words; empty where nothing is. */
export type Faults = ReadonlyArray<string>

const words = (value: unknown): string =>
  inspect(value, { depth: 9, breakLength: Number.POSITIVE_INFINITY })

/** What `expected` says and `actual` does not; lists and what is in them are compared as wholes. */
export const missingIn = (actual: unknown, expected: unknown, path = ""): Faults => {
  if (Predicate.isObject(expected) && Predicate.isObject(actual)) {
    return Object.entries(expected).flatMap(([name, value]) =>
      missingIn(actual[name], value, path === "" ? name : `${path}.${name}`)
    )
  }
  return isDeepStrictEqual(expected, actual)
    ? []
    : [`${path} is ${words(actual)}, not ${words(expected)}`]
}

/** Names of rows that fail, by what is said of them. */
export type KnownFaults = Readonly<Record<string, ReadonlyArray<string>>>

/** Nothing may be wrong with a row, or else what its list says; once nothing is, it must go from there. */
export const assertFaults = (known: KnownFaults, row: string, faults: Faults): void => {
  const reasons = Object.keys(known).filter((reason) => known[reason]?.includes(row))
  const [reason] = reasons
  assert.isAtMost(reasons.length, 1, `${row} stands twice in the list`)
  if (reason === undefined) assert.strictEqual(faults.join("\n"), "")
  else if (faults.length === 0) assert.fail(`${row} is right: it must go from the list`)
  else assert.include(faults.join("\n"), reason)
}

/** Every name in the lists is one of the rows, which have names of their own. */
export const assertNames = (
  lists: ReadonlyArray<KnownFaults>,
  rows: ReadonlyArray<string>
): void => {
  const names = new Set(rows)
  assert.strictEqual(names.size, rows.length, "two rows have one name")
  const listed = lists.flatMap((list) => Object.values(list).flat())
  assert.deepStrictEqual(
    listed.filter((name) => !names.has(name)),
    []
  )
}
