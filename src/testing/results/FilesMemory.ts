/** Uploaded files in memory. */
import { Clock, Effect, Layer } from "effect"
import {
  Files,
  type MediaFile,
  REMOVAL_LEASE_SECONDS,
  UPLOAD_SECONDS
} from "../../services/files/Files.ts"
import type { StoredFile } from "../delivery/storedWebhooks.ts"
import { MemoryStore, pageOf } from "../memory/MemoryStore.ts"

const fileOf = (storedFile: StoredFile): MediaFile => {
  const { organizationId: _, memberId: __, lifetimeSeconds, ...file } = storedFile.added
  return {
    ...file,
    sha256: storedFile.sha256 ?? "",
    createdAt: new Date(storedFile.createdAt),
    expiresAt: new Date(storedFile.createdAt + lifetimeSeconds * 1000)
  }
}

const expiryOf = ({ added, createdAt }: StoredFile): number =>
  createdAt + added.lifetimeSeconds * 1000

export const layerFilesMemory = Layer.effect(
  Files,
  Effect.map(MemoryStore, ({ files }) => {
    const findOf = (organizationId: string, id: string): StoredFile | null => {
      const storedFile = files.get(id)
      return storedFile?.added.organizationId === organizationId ? storedFile : null
    }
    const isVisible = (storedFile: StoredFile | null, now: number): storedFile is StoredFile =>
      storedFile !== null && storedFile.state === "kept" && expiryOf(storedFile) > now

    return Files.of({
      add: (added, bounds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const otherFiles = [...files.values()].filter(
            (storedFile) =>
              storedFile.added.organizationId === added.organizationId &&
              storedFile.added.id !== added.id
          )
          const usedBytes = otherFiles.reduce((sum, storedFile) => sum + storedFile.added.bytes, 0)
          if (otherFiles.length + 1 > bounds.files) return "files"
          if (usedBytes + added.bytes > bounds.bytes) return "bytes"
          if (!files.has(added.id)) {
            files.set(added.id, {
              added,
              createdAt: now,
              chunks: new Map(),
              sha256: null,
              state: "pending",
              dueAt: now + UPLOAD_SECONDS * 1000,
              lease: 0n
            })
          }
          return null
        }),
      writeChunk: (organizationId, id, n, bytes) =>
        Effect.sync(() => {
          const storedFile = findOf(organizationId, id)
          if (storedFile?.state === "pending") storedFile.chunks.set(n, bytes.slice())
        }),
      completeUpload: (organizationId, id, sha256) =>
        Effect.sync(() => {
          const storedFile = findOf(organizationId, id)
          if (storedFile === null || storedFile.state === "removing") return null
          storedFile.state = "kept"
          storedFile.sha256 = sha256
          storedFile.dueAt = expiryOf(storedFile)
          return fileOf(storedFile)
        }),
      find: (organizationId, ids) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...new Set(ids)]
            .map((id) => findOf(organizationId, id))
            .filter((storedFile) => isVisible(storedFile, now))
            .map(fileOf)
        ),
      list: (organizationId, purpose, page) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          pageOf(
            [...files.values()]
              .filter((storedFile) => storedFile.added.organizationId === organizationId)
              .filter((storedFile) => isVisible(storedFile, now))
              .map(fileOf)
              .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
            page,
            (file) => purpose === null || file.purpose === purpose
          )
        ),
      readChunk: (organizationId, id, n) =>
        Effect.sync(() => findOf(organizationId, id)?.chunks.get(n) ?? null),
      remove: (organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const storedFile = findOf(organizationId, id)
          if (!isVisible(storedFile, now)) return false
          storedFile.state = "removing"
          storedFile.dueAt = now
          return true
        }),
      abandonUpload: (organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const storedFile = findOf(organizationId, id)
          if (storedFile?.state !== "pending") return
          storedFile.state = "removing"
          storedFile.dueAt = now
        }),
      claimRemovals: (limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...files.values()]
            .filter(({ dueAt }) => dueAt <= now)
            .toSorted((one, other) => one.dueAt - other.dueAt)
            .slice(0, limit)
            .map((storedFile) => {
              storedFile.state = "removing"
              storedFile.lease++
              storedFile.dueAt = now + REMOVAL_LEASE_SECONDS * 1000
              const { organizationId, id, isInBucket } = storedFile.added
              return { organizationId, id, isInBucket, lease: storedFile.lease }
            })
        ),
      completeRemoval: ({ organizationId, id, lease }) =>
        Effect.sync(() => {
          const storedFile = findOf(organizationId, id)
          if (storedFile?.state === "removing" && storedFile.lease === lease) files.delete(id)
        })
    })
  })
)
