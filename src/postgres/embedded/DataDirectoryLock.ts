import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Option, Predicate, Schema } from "effect"
import { DataDirectoryInUse, EmbeddedDatabaseFailed } from "./embeddedErrors.ts"

const Owner = Schema.Struct({
  pid: Schema.Int,
  host: Schema.String,
  socketDirectory: Schema.String
})
const OwnerJson = Schema.fromJsonString(Owner)

const socketDirectoryPrefix = "media-gateway-"
const sqliteBusy = 5

const isRunning = (pid: number): boolean =>
  Option.isSome(Option.liftThrowable(() => process.kill(pid, 0))())

const readOwner = (file: string): typeof Owner.Type | null =>
  Option.liftThrowable(() => readFileSync(file, "utf8"))().pipe(
    Option.flatMap(Schema.decodeUnknownOption(OwnerJson)),
    Option.getOrNull
  )

const directoryInUse = (directory: string, owner: typeof Owner.Type | null): DataDirectoryInUse => {
  const isHere = owner?.host === hostname()
  // The file may still name a killed owner, since a new owner takes the lock before it writes the
  // file.
  const currentOwner = owner !== null && (!isHere || isRunning(owner.pid)) ? owner : null
  const hostText = isHere ? "" : ` on host ${owner?.host}`
  const holder =
    currentOwner === null ? "another process" : `process ${currentOwner.pid}${hostText}`
  return new DataDirectoryInUse({
    message:
      `The data directory ${directory} is in use by ${holder}. ` +
      "Stop that process, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.",
    directory,
    ...(currentOwner === null ? {} : { ownerPid: currentOwner.pid })
  })
}

/** The pid of the process on this machine that has the directory open; null if there is none. */
export const ownerOf = (dataDir: string): number | null => {
  const owner = readOwner(join(resolve(dataDir), "owner.json"))
  return owner !== null && owner.host === hostname() && isRunning(owner.pid) ? owner.pid : null
}

/** Removes the socket directory of a killed owner; only directories with our prefix are touched. */
const removeSocketDirectoryOf = ({ socketDirectory }: typeof Owner.Type): void => {
  if (
    dirname(socketDirectory) === tmpdir() &&
    basename(socketDirectory).startsWith(socketDirectoryPrefix)
  ) {
    rmSync(socketDirectory, { recursive: true, force: true })
  }
}

const openLocked = (file: string): DatabaseSync => {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    return lock
  } catch (cause) {
    lock.close()
    throw cause
  }
}

/**
 * Takes the data directory for this scope, and creates it with mode 0700 if it is missing. Returns
 * its absolute path, and the path of an empty directory for sockets, which is short enough for
 * socket paths, has mode 0700, and is removed when the lock is released.
 *
 * The lock is the one that SQLite holds on the file `lock` during an exclusive transaction: the
 * kernel grants it to one process and takes it back when that process ends in any way, and SQLite
 * itself refuses a second opening within the process. The file `owner.json` next to it only serves
 * the error message and the removal of a killed owner's socket directory.
 *
 * No other code may open the file `lock`: closing any of its file descriptors would drop the
 * kernel's lock.
 */
export const lockDataDirectory = Effect.fnUntraced(function* (dataDir: string) {
  const directory = resolve(dataDir)
  const ownerFile = join(directory, "owner.json")

  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        mkdirSync(directory, { recursive: true, mode: 0o700 })
        return openLocked(join(directory, "lock"))
      },
      catch: (cause) =>
        Predicate.hasProperty(cause, "errcode") && cause.errcode === sqliteBusy
          ? directoryInUse(directory, readOwner(ownerFile))
          : new EmbeddedDatabaseFailed({
              message: `The data directory ${directory} cannot be created or locked`,
              directory,
              cause
            })
    }),
    (lock) => Effect.sync(() => lock.close())
  )

  return yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        const killedOwner = readOwner(ownerFile)
        if (killedOwner !== null) removeSocketDirectoryOf(killedOwner)
        const socketDirectory = mkdtempSync(join(tmpdir(), socketDirectoryPrefix))
        const owner = { pid: process.pid, host: hostname(), socketDirectory }
        writeFileSync(ownerFile, `${JSON.stringify(owner)}\n`, { mode: 0o600 })
        return { directory, socketDirectory }
      },
      catch: (cause) =>
        new EmbeddedDatabaseFailed({
          message: `The data directory ${directory} cannot be prepared`,
          directory,
          cause
        })
    }),
    ({ socketDirectory }) =>
      Effect.sync(() => {
        rmSync(socketDirectory, { recursive: true, force: true })
        rmSync(ownerFile, { force: true })
      })
  )
})
