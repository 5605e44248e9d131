/**
 * Checks the files of a release in a folder against its provenance: `--key FILE` is the publisher's
 * public key in PEM. Exits with 1 and the faults where one is not as it was made.
 */
import { createPublicKey } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Schema } from "effect"
import { fileFaults, isSignedBy, sha256 } from "./provenance.ts"

const PROVENANCE = ".intoto.jsonl"

const decodeEnvelope = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      payloadType: Schema.String,
      payload: Schema.String,
      signatures: Schema.Array(Schema.Struct({ keyid: Schema.String, sig: Schema.String }))
    })
  )
)

const decodeStatement = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      subject: Schema.Array(
        Schema.Struct({ name: Schema.String, digest: Schema.Struct({ sha256: Schema.String }) })
      ),
      predicate: Schema.Struct({
        buildDefinition: Schema.Struct({
          externalParameters: Schema.Struct({
            repository: Schema.String,
            commit: Schema.String
          })
        })
      })
    })
  )
)

const verifyRelease = async (folder: string, keyFile: string): Promise<ReadonlyArray<string>> => {
  const names = await readdir(folder)
  const [provenance] = names.filter((name) => name.endsWith(PROVENANCE))
  if (provenance === undefined) return [`${folder}: has no *${PROVENANCE}`]
  const envelope = decodeEnvelope(await readFile(join(folder, provenance), "utf8"))
  if (!isSignedBy(envelope, createPublicKey(await readFile(keyFile)))) {
    return [`${provenance}: is not signed by this key`]
  }
  const statement = decodeStatement(Buffer.from(envelope.payload, "base64").toString("utf8"))
  const files = names
    .filter((name) => name !== provenance)
    .map(async (name) => ({ name, sha256: sha256(await readFile(join(folder, name))) }))
  const faults = fileFaults(statement, await Promise.all(files))
  const { repository, commit } = statement.predicate.buildDefinition.externalParameters
  if (faults.length === 0) console.log(`${folder}: as made from ${commit} of ${repository}`)
  return faults
}

const { values, positionals } = parseArgs({
  options: { key: { type: "string" } },
  allowPositionals: true
})
const [folder = "release"] = positionals
const faults =
  values.key === undefined
    ? ["--key FILE: Expected the publisher's public key"]
    : await verifyRelease(folder, values.key)
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
