/** For `node --import`: the package's own name leads to its sources, as it does for the compiler. */
import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"
import { Schema } from "effect"

const root = new URL("../../", import.meta.url)

const Names = Schema.Record(Schema.String, Schema.Tuple([Schema.String]))
const Project = Schema.fromJsonString(
  Schema.Struct({ compilerOptions: Schema.Struct({ paths: Names }) })
)
const { compilerOptions } = Schema.decodeUnknownSync(Project)(
  readFileSync(new URL("tsconfig.json", root), "utf8")
)

registerHooks({
  resolve: (specifier, context, next) => {
    const [source] = compilerOptions.paths[specifier] ?? []
    return next(source === undefined ? specifier : new URL(source, root).href, context)
  }
})
