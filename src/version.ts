/**
 * The version of the package. Its manifest is one directory above this file, in `src` and `dist`
 * alike.
 */
import { readFileSync } from "node:fs"
import { Schema } from "effect"

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

export const { version } = Schema.decodeSync(Manifest)(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)
