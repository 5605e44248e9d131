/** What a release says of itself, and how a user finds that a file is another one. */
import { generateKeyPairSync } from "node:crypto"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { bundledPackages } from "../../scripts/console/bundledPackages.ts"
import { billOfMaterials } from "../../scripts/release/billOfMaterials.ts"
import {
  envelopeOf,
  fileFaults,
  isSignedBy,
  sha256,
  statementOf
} from "../../scripts/release/provenance.ts"
import { installedWithIt } from "../support/installedPackage.ts"

const nameOf = (folder: string) => folder.split("node_modules/").at(-1) ?? ""

const root = join(import.meta.dirname, "..", "..")

const files = [
  { name: "a.tgz", sha256: sha256(Buffer.from("a")) },
  { name: "a.cdx.json", sha256: sha256(Buffer.from("b")) }
]

const statement = statementOf({
  files,
  repository: "https://git.test/gateway",
  commit: "0".repeat(40),
  lockfile: { name: "package-lock.json", sha256: sha256(Buffer.from("c")) },
  node: "v24.9.0",
  npm: "11.0.0",
  startedAt: "2026-11-01T00:00:00.000Z",
  endedAt: "2026-11-01T00:01:00.000Z"
})

describe("a release's provenance", () => {
  it("is signed by its publisher alone, and for what it says alone", () => {
    const own = generateKeyPairSync("ed25519")
    const foreign = generateKeyPairSync("ed25519")
    const envelope = envelopeOf(statement, own.privateKey)
    assert.isTrue(isSignedBy(envelope, own.publicKey))
    assert.isFalse(isSignedBy(envelope, foreign.publicKey))
    const changed = JSON.stringify({ ...statement, subject: [] })
    const payload = Buffer.from(changed).toString("base64")
    assert.isFalse(isSignedBy({ ...envelope, payload }, own.publicKey))
    assert.isFalse(isSignedBy(envelopeOf(statement, null), own.publicKey))
  })

  it("finds files that are changed, missing or not named", () => {
    assert.deepStrictEqual(fileFaults(statement, files), [])
    const [first, second] = files
    assert(first !== undefined && second !== undefined)
    const changed = { ...first, sha256: sha256(Buffer.from("d")) }
    assert.lengthOf(fileFaults(statement, [changed, second]), 1)
    assert.lengthOf(fileFaults(statement, [first]), 1)
    assert.lengthOf(fileFaults(statement, [...files, { name: "b.tgz", sha256: first.sha256 }]), 1)
  })
})

const Bill = Schema.fromJsonString(
  Schema.Struct({
    bomFormat: Schema.Literal("CycloneDX"),
    components: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        version: Schema.String,
        purl: Schema.String,
        hashes: Schema.Array(Schema.Struct({ alg: Schema.String, content: Schema.String }))
      })
    )
  })
)

describe("a release's bill of materials", () => {
  it("has every package that an installation brings or the console bundles, with its hash", async () => {
    const bundled = await bundledPackages()
    const { components } = Schema.decodeUnknownSync(Bill)(billOfMaterials(root, bundled))
    const named = new Set(components.map(({ name }) => name))
    for (const [path] of installedWithIt()) {
      assert.isTrue(named.has(path.split("node_modules/").at(-1) ?? ""), path)
    }
    const consoleParts = ["react", "react-dom", "scheduler", "@mantine/core", "recharts", "i18next"]
    for (const name of [...consoleParts, ...[...bundled].map(nameOf)]) {
      assert.isTrue(named.has(name), name)
    }
    // What neither an installation nor the bundle has is no part of the package.
    for (const name of ["vite", "vitest", "@biomejs/biome"]) assert.isFalse(named.has(name), name)
    assert.isTrue(
      components.every(({ version, purl }) => purl.endsWith(`@${encodeURIComponent(version)}`))
    )
    assert.isTrue(components.every(({ hashes }) => hashes.length > 0))
  })
})
