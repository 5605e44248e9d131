/** The bill of materials of the package. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"

const Manifest = Schema.fromJsonString(
  Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    dependencies: Schema.Record(Schema.String, Schema.String)
  })
)

const Package = Schema.StructWithRest(
  Schema.Struct({
    dev: Schema.optionalKey(Schema.Boolean),
    devOptional: Schema.optionalKey(Schema.Boolean)
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)
const Lockfile = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ packages: Schema.Record(Schema.String, Package) }), [
    Schema.Record(Schema.String, Schema.Unknown)
  ])
)

/**
 * The packages that an installation brings, by the lockfile, as CycloneDX in JSON. npm leaves out a
 * package that development needs too, so it gets a lockfile without what only development needs.
 */
export const billOfMaterials = (root: string): string => {
  const read = (file: string) => readFileSync(join(root, file), "utf8")
  const { name, version, dependencies } = Schema.decodeUnknownSync(Manifest)(read("package.json"))
  const lockfile = Schema.decodeUnknownSync(Lockfile)(read("package-lock.json"))
  const packages = Object.entries(lockfile.packages).filter(
    ([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true
  )
  const manifest = { name, version, dependencies }
  const temporary = mkdtempSync(join(tmpdir(), "bill-"))
  // npm names the package after its folder.
  const folder = join(temporary, name)
  mkdirSync(folder)
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
    writeFileSync(
      join(folder, "package-lock.json"),
      JSON.stringify({ ...lockfile, packages: { "": manifest, ...Object.fromEntries(packages) } })
    )
    return execFileSync(
      "npm",
      ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"],
      { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }
    )
  } finally {
    rmSync(temporary, { recursive: true })
  }
}
