/** The archive's results in memory. */
import { Clock, Effect, Layer } from "effect"
import {
  Archives,
  type ClaimedResult,
  COPY_LEASE_SECONDS
} from "../../services/results/Archives.ts"
import { taskSnapshot } from "../delivery/notifications.ts"
import { MemoryStore } from "../memory/MemoryStore.ts"

const LEASE_MILLIS = COPY_LEASE_SECONDS * 1000
const DAY_MILLIS = 86_400_000

export const layerArchivesMemory = Layer.effect(
  Archives,
  Effect.map(MemoryStore, ({ archives, organizations }) => {
    const findClaimed = ({ taskId, lease }: ClaimedResult) => {
      const archive = archives.get(taskId)
      return archive?.state === "waiting" && archive.lease === lease ? archive : null
    }
    return Archives.of({
      claimDue: (limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...archives.values()]
            .filter(({ state, nextTryAt }) => state === "waiting" && nextTryAt <= now)
            .toSorted((a, b) => a.nextTryAt - b.nextTryAt)
            .slice(0, limit)
            .flatMap((archive) => {
              const { organizationId, taskId, tries, createdAt } = archive
              const task = taskSnapshot(organizations.get(organizationId), taskId)
              if (task === null) return []
              archive.lease++
              archive.nextTryAt = now + LEASE_MILLIS
              const ageSeconds = (now - createdAt) / 1000
              return [{ organizationId, taskId, task, tries, ageSeconds, lease: archive.lease }]
            })
        ),
      renew: (result) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const archive = findClaimed(result)
          if (archive !== null) archive.nextTryAt = now + LEASE_MILLIS
          return archive !== null
        }),
      recordCopy: (result, end) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const archive = findClaimed(result)
          if (archive === null) return
          archive.tries++
          if (end._tag === "Again") archive.nextTryAt = now + end.afterSeconds * 1000
          else archive.state = end._tag === "Kept" ? "kept" : "failed"
          if (end._tag === "Kept") {
            archive.files = end.files
            archive.storedAt = now
          }
        }),
      files: (organizationId, taskId) =>
        Effect.sync(() => {
          const archive = archives.get(taskId)
          return archive?.organizationId === organizationId ? archive.files : null
        }),
      expire: (days, limit) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const expiredArchives = [...archives.values()]
            .filter(({ storedAt }) => storedAt !== null && storedAt <= now - days * DAY_MILLIS)
            .filter(({ state }) => state === "kept")
          for (const archive of expiredArchives.slice(0, limit)) {
            archive.state = "removing"
            archive.files = null
            archive.nextTryAt = now
          }
        }),
      claimRemovals: (limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          [...archives.values()]
            .filter(({ state, nextTryAt }) => state === "removing" && nextTryAt <= now)
            .toSorted((a, b) => a.nextTryAt - b.nextTryAt)
            .slice(0, limit)
            .map((archive) => {
              const { organizationId, taskId } = archive
              archive.lease++
              archive.nextTryAt = now + LEASE_MILLIS
              return { organizationId, taskId, lease: archive.lease }
            })
        ),
      completeRemoval: ({ taskId, lease }) =>
        Effect.sync(() => {
          const archive = archives.get(taskId)
          if (archive?.state === "removing" && archive.lease === lease) archives.delete(taskId)
        })
    })
  })
)
