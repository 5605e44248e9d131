/** What is installed is what was looked at: exact versions, each with its digest. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const Versions = Schema.Record(Schema.String, Schema.String)
const Declared = Schema.Struct({ dependencies: Versions, devDependencies: Versions })

const Manifest = Schema.fromJsonString(Declared)
const Lockfile = Schema.fromJsonString(
  Schema.Struct({
    lockfileVersion: Schema.Int,
    packages: Schema.Record(
      Schema.String,
      Schema.Struct({
        version: Schema.String,
        integrity: Schema.optionalKey(Schema.String),
        resolved: Schema.optionalKey(Schema.String),
        link: Schema.optionalKey(Schema.Boolean)
      })
    )
  })
)
const LockedRoot = Schema.fromJsonString(
  Schema.Struct({ packages: Schema.Struct({ "": Declared }) })
)

const read = (name: string) => readFileSync(join(import.meta.dirname, "..", "..", name), "utf8")

const manifest = Schema.decodeUnknownSync(Manifest)(read("package.json"))
const lockfile = Schema.decodeUnknownSync(Lockfile)(read("package-lock.json"))
const root = Schema.decodeUnknownSync(LockedRoot)(read("package-lock.json")).packages[""]

describe("what the service is built from", () => {
  it("is declared by exact versions, not by ranges, tags or addresses", () => {
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies
    })) {
      assert.match(version, /^\d+\.\d+\.\d+(?:-[\w.]+)?$/, name)
    }
  })

  it("is locked as it is declared", () => {
    assert.deepStrictEqual(root, manifest)
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies
    })) {
      assert.strictEqual(lockfile.packages[`node_modules/${name}`]?.version, version, name)
    }
  })

  it("is locked with a digest of every package, from the registry alone", () => {
    const packages = Object.entries(lockfile.packages).filter(([path]) => path !== "")
    assert.isAbove(packages.length, 50)
    for (const [path, { integrity, resolved, link }] of packages) {
      assert.match(integrity ?? "", /^sha512-[A-Za-z0-9+/]{86}==$/, path)
      assert.isUndefined(link, path)
      if (resolved !== undefined) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//, path)
    }
  })
})
