import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync
} from "node:fs"
import { dirname, join } from "node:path"
import { type MessagePort, parentPort, workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"
import type { DatabaseServerInput, DatabaseServerMessage } from "./DatabaseServer.ts"
import { SyncedNodeFs } from "./SyncedNodeFs.ts"

const startParams = [
  ...PGlite.defaultStartParams.filter((param) => param !== "-F"),
  ...[
    "fsync=on",
    "wal_sync_method=fsync",
    "synchronous_commit=on",
    "TimeZone=UTC",
    // Nobody reads the server's log, and statements with their values must not reach it.
    "log_min_messages=fatal",
    "log_min_error_statement=panic"
  ].flatMap((setting) => ["-c", setting])
]

const fatalMessage = /^\S+ \S+ \S+ \[\d+\] (?:FATAL|PANIC): |^Aborted\(/

const main = async (port: MessagePort): Promise<void> => {
  const input: DatabaseServerInput = workerData
  const post = (message: DatabaseServerMessage): void => port.postMessage(message)

  // PGlite keeps calling a PostgreSQL that has stopped, and loops for ever. Ending the thread is
  // safe: every acknowledged commit is in the write-ahead log.
  const onStderr = (line: string): boolean => {
    if (fatalMessage.test(line)) {
      post({ _tag: "Failed", message: line })
      process.exit(1)
    }
    return false
  }

  const open = (directory: string): Promise<PGlite> =>
    PGlite.create({
      fs: new SyncedNodeFs(directory),
      startParams,
      relaxedDurability: false,
      onStderr
    })

  const cluster = join(input.directory, "postgres")
  if (!existsSync(cluster)) await createCluster(cluster, open)
  const database = await open(cluster)
  // The limit of 8 leaves room for the connection in use, its successor after a failure, and cancel
  // requests of both.
  const server = new PGLiteSocketServer({
    db: database,
    path: input.socketPath,
    maxConnections: 8
  })
  await server.start()

  port.once("message", async () => {
    await server.stop()
    await database.close()
    process.exit(0)
  })
  post({ _tag: "Ready" })
}

/** Creates a cluster under another name, and renames it once it is complete and on the disk. */
const createCluster = async (
  cluster: string,
  open: (directory: string) => Promise<PGlite>
): Promise<void> => {
  const temporaryDirectory = `${cluster}.unfinished`
  rmSync(temporaryDirectory, { recursive: true, force: true })
  mkdirSync(temporaryDirectory, { mode: 0o700 })
  const database = await open(temporaryDirectory)
  await database.close()
  fsyncTree(temporaryDirectory)
  renameSync(temporaryDirectory, cluster)
  fsyncPath(dirname(cluster))
}

const fsyncTree = (directory: string): void => {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() || entry.isFile()) fsyncPath(join(entry.parentPath, entry.name))
  }
  fsyncPath(directory)
}

const fsyncPath = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

if (parentPort === null) throw new Error("this file runs as a worker thread only")
await main(parentPort)
