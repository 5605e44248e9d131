/** What running the gateway asks, kept in memory. */
import { Clock, Effect, Layer } from "effect"
import { OperationsStore } from "../../services/Operations.ts"
import { dateOrNull, MemoryStore } from "./MemoryStore.ts"

/** An audit that has not ended within this time died with its gateway. */
const LONGEST_AUDIT_MILLIS = 600_000
/** What a sweep may take to give back what is due. */
const LATE_MILLIS = 60_000

const MOST_COUNTED = 10_000

const countOf = <A>(all: ReadonlyMap<string, A>, isSuch: (one: A) => boolean): number =>
  Math.min(MOST_COUNTED, [...all.values()].filter(isSuch).length)

export const layerOperationsStoreMemory = Layer.effect(
  OperationsStore,
  Effect.gen(function* () {
    const { organizations, audit, orphans, webhookMessages, archives } = yield* MemoryStore

    const report = Effect.map(Clock.currentTimeMillis, (now) => ({
      schema: "ready" as const,
      writable: true,
      audit: {
        auditedAt: dateOrNull(audit.auditedAt),
        ageSeconds: audit.auditedAt === null ? null : (now - audit.auditedAt) / 1000,
        violations: audit.violations,
        stopped: [...organizations.values()].filter(({ pool }) => pool.stoppedReason !== null)
          .length
      }
    }))

    const totals = Effect.map(Clock.currentTimeMillis, (now) => {
      const sum = {
        submittingTasks: 0,
        processingTasks: 0,
        openHolds: 0,
        lateHolds: 0,
        oldestLateSeconds: 0,
        openOrphans: countOf(orphans, ({ resolvedAt }) => resolvedAt === null),
        waitingWebhooks: countOf(webhookMessages, ({ state }) => state === "pending"),
        waitingArchives: countOf(archives, ({ state }) => state === "waiting"),
        poolNano: 0n,
        heldNano: 0n
      }
      const due = (deadline: number): void => {
        if (deadline > now - LATE_MILLIS) return
        sum.lateHolds += 1
        sum.oldestLateSeconds = Math.max(sum.oldestLateSeconds, (now - deadline) / 1000)
      }
      for (const { pool, orders } of organizations.values()) {
        sum.poolNano += pool.balanceNano
        sum.heldNano += pool.heldNano
        for (const { state, expiresAt, task } of orders.values()) {
          if (task?.state === "submitting") sum.submittingTasks += 1
          if (task?.state === "processing") sum.processingTasks += 1
          if (state !== "open") continue
          sum.openHolds += 1
          due(task?.state === "submitting" ? Math.min(task.submitDeadline, expiresAt) : expiresAt)
        }
      }
      return sum
    })

    return OperationsStore.of({
      report,
      totals,
      takeAudit: Effect.fn("OperationsStore.takeAudit")((everySeconds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const { begunAt, endedAt } = audit
          const isFree =
            begunAt === null ||
            (begunAt <= now - everySeconds * 1000 &&
              (endedAt !== null || begunAt <= now - LONGEST_AUDIT_MILLIS))
          if (isFree) {
            audit.begunAt = now
            audit.endedAt = null
          }
          return isFree
        })
      ),
      endAudit: Effect.fn("OperationsStore.endAudit")((violations) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          audit.endedAt = now
          if (violations === null) return
          audit.auditedAt = now
          audit.violations = violations
        })
      )
    })
  })
)
