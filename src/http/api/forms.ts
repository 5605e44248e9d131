/** Declares bodies of `multipart/form-data`, and their limits. */
import type { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"

/** The maximum size of a part without a file: the longest prompt, in any writing system. */
export const MAX_FIELD_BYTES = 512 * 1024
export const MAX_PARTS = 100

/** The payload of a route that accepts `schema` as a form. */
export const asForm = <S extends Schema.Top>(schema: S) =>
  schema.pipe(
    HttpApiSchema.asMultipartStream({ maxParts: MAX_PARTS, maxFieldSize: MAX_FIELD_BYTES })
  )
