/**
 * Makes a release in `--out DIR`: the package, its bill of materials (CycloneDX), the checksums, and
 * the provenance of the three, which names the repository of `--repository URL` or of git's origin.
 * The environment's `RELEASE_KEY` is the Ed25519 key in PEM that signs
 * it. The signatures of all dependencies are checked at the registry first; `--offline` leaves that
 * out, for a rehearsal.
 */
import { execFileSync } from "node:child_process"
import { createPrivateKey } from "node:crypto"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import packageJson from "../../package.json" with { type: "json" }
import { bundledPackages } from "../console/bundledPackages.ts"
import { billOfMaterials } from "./billOfMaterials.ts"
import { envelopeOf, type HashedFile, sha256, statementOf } from "./provenance.ts"

const root = join(import.meta.dirname, "../..")
const { name, version } = packageJson
const FILE_NAME = `${name}-${version}`

const run = (command: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"]
  }).trim()

const hashFile = async (folder: string, file: string): Promise<HashedFile> => ({
  name: file,
  sha256: sha256(await readFile(join(folder, file)))
})

const originUrl = (): string | undefined => {
  try {
    return run("git", "config", "--get", "remote.origin.url")
  } catch {
    return undefined
  }
}

const release = async (out: string, repository: string, isOffline: boolean): Promise<void> => {
  const changes = run("git", "status", "--porcelain")
  if (changes !== "")
    throw new Error(`Expected a clean work tree, and these files differ:\n${changes}`)
  if ((await readdir(out).catch(() => [])).length > 0) throw new Error(`${out} is not empty`)
  const startedAt = new Date().toISOString()
  if (!isOffline) run("npm", "audit", "signatures")
  await mkdir(out, { recursive: true })
  run("npm", "pack", "--pack-destination", out)
  await writeFile(
    join(out, `${FILE_NAME}.cdx.json`),
    billOfMaterials(root, await bundledPackages())
  )
  const files = [
    await hashFile(out, `${FILE_NAME}.tgz`),
    await hashFile(out, `${FILE_NAME}.cdx.json`)
  ]
  await writeFile(
    join(out, "SHA256SUMS"),
    files.map((file) => `${file.sha256}  ${file.name}\n`).join("")
  )
  const key = process.env.RELEASE_KEY
  const statement = statementOf({
    files: [...files, await hashFile(out, "SHA256SUMS")],
    repository,
    commit: run("git", "rev-parse", "HEAD"),
    lockfile: await hashFile(root, "package-lock.json"),
    node: process.version,
    npm: run("npm", "--version"),
    startedAt,
    endedAt: new Date().toISOString()
  })
  const envelope = envelopeOf(statement, key === undefined ? null : createPrivateKey(key))
  await writeFile(join(out, `${FILE_NAME}.intoto.jsonl`), `${JSON.stringify(envelope)}\n`)
  console.log(
    `${out}: ${FILE_NAME} of ${statement.predicate.buildDefinition.externalParameters.commit}, ` +
      `${key === undefined ? "not signed, as RELEASE_KEY is not set" : "signed"}`
  )
}

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    repository: { type: "string" },
    offline: { type: "boolean", default: false }
  }
})
const repository = values.repository ?? originUrl()
if (repository === undefined) throw new Error("Expected --repository URL, as git has no origin")
await release(resolve(values.out ?? "release"), repository, values.offline)
