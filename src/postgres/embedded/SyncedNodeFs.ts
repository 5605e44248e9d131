import { fsyncSync } from "node:fs"
import { NodeFS } from "@electric-sql/pglite/nodefs"
import * as Predicate from "effect/Predicate"

type Init = NodeFS["init"]

/**
 * The WASI numbers of two errors. PostgreSQL ignores these errors when it syncs a directory; for a
 * file it panics on any error.
 */
const wasiErrors = new Map([
  ["EBADF", 8],
  ["EINVAL", 28]
])
const wasiInputOutputError = 29

/** Returns 0, or the WASI number of the error. */
const fsync = (stream: { readonly nfd: number }): number => {
  try {
    fsyncSync(stream.nfd)
    return 0
  } catch (cause) {
    const code = Predicate.hasProperty(cause, "code") ? cause.code : undefined
    return (Predicate.isString(code) ? wasiErrors.get(code) : undefined) ?? wasiInputOutputError
  }
}

const installFsync = (fileSystem: unknown): void => {
  if (
    Predicate.hasProperty(fileSystem, "filesystems") &&
    Predicate.hasProperty(fileSystem.filesystems, "NODEFS") &&
    Predicate.hasProperty(fileSystem.filesystems.NODEFS, "stream_ops") &&
    Predicate.isObject(fileSystem.filesystems.NODEFS.stream_ops)
  ) {
    Object.assign(fileSystem.filesystems.NODEFS.stream_ops, { fsync })
    return
  }
  throw new Error(
    "this PGlite has no NODEFS stream operations, so commits would not reach the disk"
  )
}

/**
 * PGlite's file system over a host directory, with an `fsync` that reaches the disk.
 *
 * PGlite runs PostgreSQL with `fsync` off, its `fdatasync` does nothing, and its `fsync` calls an
 * operation that the host's file system does not define: a commit reaches only the kernel's page
 * cache, which survives a crash of the process but not of the machine. With this file system,
 * without `-F` and with `wal_sync_method=fsync`, each commit is one `fsync` of the write-ahead log.
 */
export class SyncedNodeFs extends NodeFS {
  override async init(...[pg, options]: Parameters<Init>): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(pg, options)
    return {
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [...(emscriptenOpts.preRun ?? []), (module) => installFsync(module.FS)]
      }
    }
  }
}
