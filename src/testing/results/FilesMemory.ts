/** Files that clients uploaded, in memory. */
import { Clock, Effect, Layer } from "effect"
import {
  Files,
  type MediaFile,
  REMOVAL_LEASE_SECONDS,
  UPLOAD_SECONDS
} from "../../services/files/Files.ts"
import type { StoredFile } from "../delivery/storedWebhooks.ts"
import { MemoryStore, pageOf } from "../memory/MemoryStore.ts"

const fileOf = (stored: StoredFile): MediaFile => {
  const { organizationId: _, memberId: __, lifeSeconds, ...file } = stored.added
  return {
    ...file,
    sha256: stored.sha256 ?? "",
    createdAt: new Date(stored.createdAt),
    expiresAt: new Date(stored.createdAt + lifeSeconds * 1000)
  }
}

const expiryOf = ({ added, createdAt }: StoredFile): number => createdAt + added.lifeSeconds * 1000

export const layerFilesMemory = Layer.effect(
  Files,
  Effect.map(MemoryStore, ({ files }) => {
    const own = (organizationId: string, id: string): StoredFile | null => {
      const stored = files.get(id)
      return stored?.added.organizationId === organizationId ? stored : null
    }
    const isSeen = (stored: StoredFile | null, now: number): stored is StoredFile =>
      stored !== null && stored.state === "kept" && expiryOf(stored) > now

    return Files.of({
      add: (added, bounds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const others = [...files.values()].filter(
            (stored) =>
              stored.added.organizationId === added.organizationId && stored.added.id !== added.id
          )
          const taken = others.reduce((sum, stored) => sum + stored.added.bytes, 0)
          if (others.length + 1 > bounds.files) return "files"
          if (taken + added.bytes > bounds.bytes) return "bytes"
          if (!files.has(added.id)) {
            files.set(added.id, {
              ...{ added, createdAt: now, chunks: new Map() },
              ...{ sha256: null, state: "pending", dueAt: now + UPLOAD_SECONDS * 1000, lease: 0n }
            })
          }
          return null
        }),
      writeChunk: (organizationId, id, n, bytes) =>
        Effect.sync(() => {
          const stored = own(organizationId, id)
          if (stored?.state === "pending") stored.chunks.set(n, bytes.slice())
        }),
      completeUpload: (organizationId, id, sha256) =>
        Effect.sync(() => {
          const stored = own(organizationId, id)
          if (stored === null || stored.state === "removing") return null
          stored.state = "kept"
          stored.sha256 = sha256
          stored.dueAt = expiryOf(stored)
          return fileOf(stored)
        }),
      find: (organizationId, ids) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...new Set(ids)]
            .map((id) => own(organizationId, id))
            .filter((stored) => isSeen(stored, now))
            .map(fileOf)
        ),
      list: (organizationId, purpose, page) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          pageOf(
            [...files.values()]
              .filter((stored) => stored.added.organizationId === organizationId)
              .filter((stored) => isSeen(stored, now))
              .map(fileOf)
              .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
            page,
            (file) => purpose === null || file.purpose === purpose
          )
        ),
      readChunk: (organizationId, id, n) =>
        Effect.sync(() => own(organizationId, id)?.chunks.get(n) ?? null),
      remove: (organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const stored = own(organizationId, id)
          if (!isSeen(stored, now)) return false
          stored.state = "removing"
          stored.dueAt = now
          return true
        }),
      abandonUpload: (organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const stored = own(organizationId, id)
          if (stored?.state !== "pending") return
          stored.state = "removing"
          stored.dueAt = now
        }),
      claimRemovals: (limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...files.values()]
            .filter(({ dueAt }) => dueAt <= now)
            .toSorted((one, other) => one.dueAt - other.dueAt)
            .slice(0, limit)
            .map((stored) => {
              stored.state = "removing"
              stored.lease++
              stored.dueAt = now + REMOVAL_LEASE_SECONDS * 1000
              const { organizationId, id, isInBucket } = stored.added
              return { organizationId, id, isInBucket, lease: stored.lease }
            })
        ),
      completeRemoval: ({ organizationId, id, lease }) =>
        Effect.sync(() => {
          const stored = own(organizationId, id)
          if (stored?.state === "removing" && stored.lease === lease) files.delete(id)
        })
    })
  })
)
