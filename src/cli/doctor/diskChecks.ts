/** Checks of the data directory and of the disk it is on. */
import { constants } from "node:fs"
import { access, stat, statfs } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { ownerOf } from "../../postgres/embedded/DataDirectoryLock.ts"
import { requireStoredSecrets } from "../../secrets.ts"
import { type Check, type Finding, ok, unknown, warning, wrong } from "./findings.ts"

const statOf = (path: string) => Effect.promise(() => stat(path).catch(() => null))

const mayWrite = (path: string) =>
  Effect.promise(() =>
    access(path, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false
    )
  )

/** The permission bits of the group and of other users. */
const OTHERS = 0o077

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0")

const secretsFile = Effect.fnUntraced(function* (dataDir: string) {
  const file = join(dataDir, "secrets.json")
  const fileStat = yield* statOf(file)
  if (fileStat === null) return [ok(`${file} does not exist yet: the first start makes it.`)]
  const findings: Array<Finding> = []
  if ((fileStat.mode & OTHERS) !== 0) {
    findings.push(
      wrong(`${file} has mode ${octal(fileStat.mode)}, so others may read it.`, `chmod 600 ${file}`)
    )
  }
  yield* requireStoredSecrets(dataDir).pipe(
    Effect.catch(() =>
      Effect.sync(() =>
        findings.push(
          wrong(
            `${file} cannot be read, or is not what a gateway wrote.`,
            "Restore it from a backup: without it the stored vendors' keys cannot be opened."
          )
        )
      )
    )
  )
  return findings.length === 0 ? [ok(`${file} is readable, by its owner alone.`)] : findings
})

export const dataDirectoryCheck: Check<Effect.Services<ReturnType<typeof requireStoredSecrets>>> = {
  name: "Data directory",
  look: Effect.fnUntraced(function* ({ config }) {
    if (config === null) return []
    if (config.databaseUrl !== null) {
      return [ok("DATA_DIR is not needed: the database is a server.")]
    }
    const dataDir = resolve(config.dataDir)
    const fileStat = yield* statOf(dataDir)
    if (fileStat === null) return [ok(`${dataDir} does not exist yet: the first start makes it.`)]
    if (!fileStat.isDirectory()) {
      return [wrong(`${dataDir} is no directory.`, "Name another DATA_DIR.")]
    }
    if (!(yield* mayWrite(dataDir))) {
      return [
        wrong(`${dataDir} cannot be written by this user.`, "Give it to the user of the gateway.")
      ]
    }
    const owner = ownerOf(dataDir)
    return [
      (fileStat.mode & OTHERS) === 0
        ? ok(`${dataDir} is a directory of this user's alone.`)
        : warning(`${dataDir} has mode ${octal(fileStat.mode)}.`, `chmod 700 ${dataDir}`),
      owner === null
        ? ok("No process has it open.")
        : ok(`Process ${owner} has it open, as a gateway that runs does.`),
      ...(yield* secretsFile(dataDir))
    ]
  })
}

const GIB = 1024 ** 3
const FULL_BYTES = GIB / 10

export const diskCheck: Check = {
  name: "Disk",
  look: Effect.fnUntraced(function* ({ config }) {
    if (config === null || config.databaseUrl !== null) return []
    const dataDir = resolve(config.dataDir)
    const place = (yield* statOf(dataDir)) === null ? process.cwd() : dataDir
    const fileStat = yield* Effect.promise(() => statfs(place).catch(() => null))
    if (fileStat === null) return [unknown(`The free space of ${place} cannot be read.`)]
    const free = fileStat.bavail * fileStat.bsize
    const says = `${(free / GIB).toFixed(1)} GiB are free under ${place}.`
    if (free < FULL_BYTES) return [wrong(says, "Make room: without it no order can be written.")]
    return [free < GIB ? warning(says, "Make room soon.") : ok(says)]
  })
}
