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
    version: Schema.optionalKey(Schema.String),
    dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
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

const nameOf = (folder: string): string => folder.split("node_modules/").at(-1) ?? folder

/**
 * The packages in the bundle, as an installation would have them. What they need beside is not in the
 * package, and npm would miss it.
 */
const bundledEntries = (
  packages: Readonly<Record<string, typeof Package.Type>>,
  bundled: ReadonlySet<string>
) => {
  const names = new Set([...bundled].map(nameOf))
  return [...bundled].map((folder) => {
    const entry = packages[folder]
    if (entry === undefined) throw new Error(`${folder} is bundled, and the lockfile has it not`)
    const { dev, devOptional, dependencies = {}, peerDependencies, ...others } = entry
    const needs = Object.entries(dependencies).filter(([name]) => names.has(name))
    return [folder, { ...others, dependencies: Object.fromEntries(needs) }] as const
  })
}

/**
 * The packages that an installation brings, by the lockfile, and those in the console's bundle, by
 * their folders in the lockfile, as CycloneDX in JSON. npm leaves out a package that development
 * needs too, so it gets a lockfile without what only development needs.
 */
export const billOfMaterials = (root: string, bundled: ReadonlySet<string>): string => {
  const read = (file: string) => readFileSync(join(root, file), "utf8")
  const { name, version, dependencies } = Schema.decodeUnknownSync(Manifest)(read("package.json"))
  const lockfile = Schema.decodeUnknownSync(Lockfile)(read("package-lock.json"))
  const installed = Object.entries(lockfile.packages).filter(
    ([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true
  )
  const entries = bundledEntries(lockfile.packages, bundled)
  const ofBundle = entries.flatMap(([folder, entry]) =>
    folder === `node_modules/${nameOf(folder)}` ? [[nameOf(folder), entry.version]] : []
  )
  const packages = { ...Object.fromEntries(entries), ...Object.fromEntries(installed) }
  const manifest = {
    name,
    version,
    dependencies: { ...Object.fromEntries(ofBundle), ...dependencies }
  }
  const temporary = mkdtempSync(join(tmpdir(), "bill-"))
  // npm names the package after its folder.
  const folder = join(temporary, name)
  mkdirSync(folder)
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest))
    writeFileSync(
      join(folder, "package-lock.json"),
      JSON.stringify({ ...lockfile, packages: { "": manifest, ...packages } })
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
