import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { hostname, tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Option, Predicate, Schema, type Scope } from "effect"
import { DataDirectoryInUse, EmbeddedDatabaseFailed } from "./embeddedErrors.ts"

const Owner = Schema.Struct({
  pid: Schema.Int,
  host: Schema.String,
  socketDirectory: Schema.String
})
const OwnerJson = Schema.fromJsonString(Owner)

const socketDirectoryPrefix = "media-gateway-"
const sqliteBusy = 5

/** What the holder of a data directory may use. All paths are absolute. */
export interface LockedDataDirectory {
  readonly directory: string
  /** Empty, mode 0700, and with a path short enough for unix sockets; removed with the lock. */
  readonly socketDirectory: string
}

const readOwner = (file: string): Option.Option<typeof Owner.Type> =>
  Option.liftThrowable(() => readFileSync(file, "utf8"))().pipe(
    Option.flatMap(Schema.decodeUnknownOption(OwnerJson))
  )

const isRunning = (pid: number): boolean =>
  Option.isSome(Option.liftThrowable(() => process.kill(pid, 0))())

const inUse = (directory: string, owner: Option.Option<typeof Owner.Type>): DataDirectoryInUse => {
  // The file may still be the one a killed owner left: the new owner locks before it writes.
  const known = Option.filter(owner, ({ host, pid }) => host !== hostname() || isRunning(pid))
  const who = Option.match(known, {
    onNone: () => "another process",
    onSome: ({ host, pid }) =>
      host === hostname() ? `process ${pid}` : `process ${pid} on host ${host}`
  })
  return new DataDirectoryInUse({
    message:
      `The data directory ${directory} is in use by ${who}. ` +
      "Stop that process, choose another DATA_DIR, or set DATABASE_URL to share a PostgreSQL server.",
    directory,
    ...Option.match(known, { onNone: () => ({}), onSome: ({ pid }) => ({ ownerPid: pid }) })
  })
}

/** A killed owner could not remove its socket directory; only names of our own making are touched. */
const removeAbandonedSocketDirectory = ({ socketDirectory }: typeof Owner.Type): void => {
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
 * Takes the data directory for this scope, creating it with mode 0700 if it is missing.
 *
 * The lock is the one SQLite holds on the file `lock` during an exclusive transaction: the kernel
 * grants it to one process and takes it back when that process ends in any way, and SQLite itself
 * refuses a second opening within the process. The file `owner.json` beside it only serves the error
 * message and the removal of a killed owner's socket directory.
 *
 * Nothing else may open the file `lock`: closing any descriptor of it would drop the kernel's lock.
 */
export const lockDataDirectory = Effect.fnUntraced(function* (
  dataDir: string
): Effect.fn.Return<LockedDataDirectory, DataDirectoryInUse | EmbeddedDatabaseFailed, Scope.Scope> {
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
          ? inUse(directory, readOwner(ownerFile))
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
        Option.map(readOwner(ownerFile), removeAbandonedSocketDirectory)
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
