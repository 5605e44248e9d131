/** Bodies that are handed on to vendors with fields the gateway knows nothing of. */
import { Schema } from "effect"

/** They must be such as anybody can read. */
const MAX_DEPTH = 64

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)))

/** At most 64 levels of arrays and objects. */
export const shallow = Schema.makeFilter((body: object) => isShallow(body, MAX_DEPTH), {
  expected: `a body of at most ${MAX_DEPTH} levels`
})

/** The rest of an object whose other fields belong to the vendor. */
export const anyFields = [Schema.Record(Schema.String, Schema.Unknown)] as const
