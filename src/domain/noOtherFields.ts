/** Objects whose fields are all known, so that none is dropped without a word. */
import { Schema } from "effect"
import { fieldKey, nearestName } from "./nearest.ts"

/** Enough to mend a body by. */
export const MAX_FIELD_FAULTS = 20
/** Of a name in an error. */
const MAX_NAME = 100

/**
 * Refuses every field but those of `fields`, and names the field that was meant: the one that
 * `meant` has for it, whose keys are those of `fieldKey`, or one that is spelled much like it.
 */
export const noOtherFields = (
  fields: Readonly<Record<string, unknown>>,
  meant: ReadonlyMap<string, string> = new Map()
) => {
  const names = Object.keys(fields)
  const byKey = new Map([...meant, ...names.map((name) => [fieldKey(name), name] as const)])
  return Schema.makeFilter((value: object) =>
    Object.keys(value)
      .filter((name) => !Object.hasOwn(fields, name))
      .slice(0, MAX_FIELD_FAULTS)
      .map((name) => {
        const short = name.slice(0, MAX_NAME).toWellFormed()
        const near = byKey.get(fieldKey(short)) ?? nearestName(short, names)
        const question = near === null ? "" : `; did you mean ${near}?`
        return { path: [short], issue: `There is no such field${question}` }
      })
  )
}
