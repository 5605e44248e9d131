/**
 * The version of the package, from its manifest `package.json`. The manifest is one directory above
 * this file, both in `src` and in `dist`.
 */
import { readFileSync } from "node:fs"
import { Schema } from "effect"

const Manifest = Schema.fromJsonString(Schema.Struct({ version: Schema.String }))

export const { version } = Schema.decodeSync(Manifest)(
  readFileSync(new URL("../package.json", import.meta.url), "utf8")
)
