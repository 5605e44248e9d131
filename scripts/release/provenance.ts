/**
 * The provenance of a release: an in-toto statement with a SLSA 1.0 predicate, which says from what
 * commit and lockfile its files were made, signed in a DSSE envelope.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from "node:crypto"

export const sha256 = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex")

const PAYLOAD_TYPE = "application/vnd.in-toto+json"
const PREDICATE_TYPE = "https://slsa.dev/provenance/v1"

/** A file with the SHA-256 of its bytes, in hexadecimal digits. */
export interface HashedFile {
  readonly name: string
  readonly sha256: string
}

export interface Build {
  readonly files: ReadonlyArray<HashedFile>
  /** The address of the repository, and the commit. */
  readonly repository: string
  readonly commit: string
  readonly lockfile: HashedFile
  readonly node: string
  readonly npm: string
  readonly startedAt: string
  readonly endedAt: string
}

/** What the signature of a release covers. */
export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1"
  readonly subject: ReadonlyArray<{
    readonly name: string
    readonly digest: { readonly sha256: string }
  }>
  readonly predicateType: typeof PREDICATE_TYPE
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string
      readonly externalParameters: { readonly repository: string; readonly commit: string }
      readonly internalParameters: { readonly node: string; readonly npm: string }
      readonly resolvedDependencies: ReadonlyArray<{
        readonly uri: string
        readonly digest: Readonly<Record<string, string>>
      }>
    }
    readonly runDetails: {
      readonly builder: { readonly id: string }
      readonly metadata: { readonly startedOn: string; readonly finishedOn: string }
    }
  }
}

/** The statement about the files of a build. */
export const statementOf = (build: Build): Statement => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: build.files.map(({ name, sha256: digest }) => ({ name, digest: { sha256: digest } })),
  predicateType: PREDICATE_TYPE,
  predicate: {
    buildDefinition: {
      buildType: `${build.repository}/scripts/release@v1`,
      externalParameters: { repository: build.repository, commit: build.commit },
      internalParameters: { node: build.node, npm: build.npm },
      resolvedDependencies: [
        { uri: `git+${build.repository}`, digest: { gitCommit: build.commit } },
        { uri: build.lockfile.name, digest: { sha256: build.lockfile.sha256 } }
      ]
    },
    runDetails: {
      builder: { id: `${build.repository}/scripts/release` },
      metadata: { startedOn: build.startedAt, finishedOn: build.endedAt }
    }
  }
})

export interface Envelope {
  readonly payloadType: string
  /** The statement as JSON, in base64. */
  readonly payload: string
  readonly signatures: ReadonlyArray<{ readonly keyid: string; readonly sig: string }>
}

/** The bytes that a DSSE envelope signs: its type and payload, each with its length. */
const signedBytes = (payload: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `),
    payload
  ])

/** The SHA-256 of a public key in DER, by which a signature names its key. */
const keyIdOf = (publicKey: KeyObject): string =>
  sha256(publicKey.export({ type: "spki", format: "der" }))

/** The envelope of a statement; without a key it has no signature. */
export const envelopeOf = (statement: Statement, privateKey: KeyObject | null): Envelope => {
  const payload = Buffer.from(JSON.stringify(statement))
  return {
    payloadType: PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures:
      privateKey === null
        ? []
        : [
            {
              keyid: keyIdOf(createPublicKey(privateKey)),
              sig: sign(null, signedBytes(payload), privateKey).toString("base64")
            }
          ]
  }
}

/** Whether an envelope has a signature by the key. */
export const isSignedBy = ({ payload, signatures }: Envelope, publicKey: KeyObject): boolean =>
  signatures.some(({ sig }) =>
    verify(null, signedBytes(Buffer.from(payload, "base64")), publicKey, Buffer.from(sig, "base64"))
  )

/** The faults of files against a statement: those that it does not name, and those that differ. */
export const fileFaults = (
  { subject }: Pick<Statement, "subject">,
  files: ReadonlyArray<HashedFile>
): ReadonlyArray<string> => {
  const digests = new Map(subject.map(({ name, digest }) => [name, digest.sha256]))
  const faults = files.flatMap(({ name, sha256: digest }) => {
    const expected = digests.get(name)
    if (expected === undefined) return [`${name}: the statement does not name it`]
    return expected === digest ? [] : [`${name}: is not the file of the statement`]
  })
  const missing = [...digests.keys()].filter((name) => !files.some((file) => file.name === name))
  return [...faults, ...missing.map((name) => `${name}: is missing`)]
}
