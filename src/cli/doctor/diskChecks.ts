/** Checks of the data directory and of the disk it is on. */
import { constants } from "node:fs"
import { access, stat, statfs } from "node:fs/promises"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { ownerOf } from "../../postgres/embedded/DataDirectoryLock.ts"
import { requireStoredSecrets } from "../../secrets.ts"
import {
  type Check,
  errorFinding,
  type Finding,
  okFinding,
  unknownFinding,
  warningFinding
} from "./findings.ts"

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
  if (fileStat === null) return [okFinding(`${file} does not exist yet: the first start makes it.`)]
  const findings: Array<Finding> = []
  if ((fileStat.mode & OTHERS) !== 0) {
    findings.push(
      errorFinding(
        `${file} has mode ${octal(fileStat.mode)}, so others may read it.`,
        `chmod 600 ${file}`
      )
    )
  }
  yield* requireStoredSecrets(dataDir).pipe(
    Effect.catch(() =>
      Effect.sync(() =>
        findings.push(
          errorFinding(
            `${file} cannot be read, or is not what a gateway wrote.`,
            "Restore it from a backup: without it the stored vendors' keys cannot be opened."
          )
        )
      )
    )
  )
  return findings.length === 0 ? [okFinding(`${file} is readable, by its owner alone.`)] : findings
})

export const dataDirectoryCheck: Check<Effect.Services<ReturnType<typeof requireStoredSecrets>>> = {
  name: "Data directory",
  run: Effect.fnUntraced(function* ({ config }) {
    if (config === null) return []
    if (config.databaseUrl !== null) {
      return [okFinding("DATA_DIR is not needed: the database is a server.")]
    }
    const dataDir = resolve(config.dataDir)
    const fileStat = yield* statOf(dataDir)
    if (fileStat === null)
      return [okFinding(`${dataDir} does not exist yet: the first start makes it.`)]
    if (!fileStat.isDirectory()) {
      return [errorFinding(`${dataDir} is no directory.`, "Name another DATA_DIR.")]
    }
    if (!(yield* mayWrite(dataDir))) {
      return [
        errorFinding(
          `${dataDir} cannot be written by this user.`,
          "Give it to the user of the gateway."
        )
      ]
    }
    const owner = ownerOf(dataDir)
    return [
      (fileStat.mode & OTHERS) === 0
        ? okFinding(`${dataDir} is a directory of this user's alone.`)
        : warningFinding(`${dataDir} has mode ${octal(fileStat.mode)}.`, `chmod 700 ${dataDir}`),
      owner === null
        ? okFinding("No process has it open.")
        : okFinding(`Process ${owner} has it open, as a gateway that runs does.`),
      ...(yield* secretsFile(dataDir))
    ]
  })
}

const GIB = 1024 ** 3
const FULL_BYTES = GIB / 10

export const diskCheck: Check = {
  name: "Disk",
  run: Effect.fnUntraced(function* ({ config }) {
    if (config === null || config.databaseUrl !== null) return []
    const dataDir = resolve(config.dataDir)
    const checkedDirectory = (yield* statOf(dataDir)) === null ? process.cwd() : dataDir
    const fileStat = yield* Effect.promise(() => statfs(checkedDirectory).catch(() => null))
    if (fileStat === null)
      return [unknownFinding(`The free space of ${checkedDirectory} cannot be read.`)]
    const freeBytes = fileStat.bavail * fileStat.bsize
    const says = `${(freeBytes / GIB).toFixed(1)} GiB are free under ${checkedDirectory}.`
    if (freeBytes < FULL_BYTES)
      return [errorFinding(says, "Make room: without it no order can be written.")]
    return [freeBytes < GIB ? warningFinding(says, "Make room soon.") : okFinding(says)]
  })
}
