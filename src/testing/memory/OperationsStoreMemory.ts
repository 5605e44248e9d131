/** The operations store in memory: totals and the state of the audit. */
import { Clock, Effect, Layer } from "effect"
import { OperationsStore } from "../../services/Operations.ts"
import { dateOrNull, MemoryStore, type StoredOrder, type StoredTask } from "./MemoryStore.ts"

/**
 * An audit that has not ended within this time is treated as aborted, because its gateway has
 * stopped.
 */
const MAX_AUDIT_MILLIS = 600_000
/** A hold counts as late this long after its expiry, which gives a sweep the time to release it. */
const LATE_MILLIS = 60_000

const MAX_COUNT = 10_000

const countOf = <A>(rows: ReadonlyMap<string, A>, isCounted: (row: A) => boolean): number =>
  Math.min(MAX_COUNT, [...rows.values()].filter(isCounted).length)

/** The time by which the hold should be closed. */
const dueAtOf = ({ task, expiresAt }: StoredOrder): number =>
  task?.state === "submitting" ? Math.min(task.submitDeadline, expiresAt) : expiresAt

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
      const books = [...organizations.values()]
      const orders = books.flatMap((one) => [...one.orders.values()])
      const openOrders = orders.filter(({ state }) => state === "open")
      const lateSeconds = openOrders.flatMap((order) => {
        const dueAt = dueAtOf(order)
        return dueAt > now - LATE_MILLIS ? [] : [(now - dueAt) / 1000]
      })
      const tasksIn = (state: StoredTask["state"]) =>
        orders.filter(({ task }) => task?.state === state).length
      return {
        submittingTasks: tasksIn("submitting"),
        processingTasks: tasksIn("processing"),
        openHolds: openOrders.length,
        lateHolds: lateSeconds.length,
        oldestLateSeconds: Math.max(0, ...lateSeconds),
        openOrphans: countOf(orphans, ({ resolvedAt }) => resolvedAt === null),
        waitingWebhooks: countOf(webhookMessages, ({ state }) => state === "pending"),
        waitingArchives: countOf(archives, ({ state }) => state === "waiting"),
        poolNano: books.reduce((sum, { pool }) => sum + pool.balanceNano, 0n),
        heldNano: books.reduce((sum, { pool }) => sum + pool.heldNano, 0n)
      }
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
              (endedAt !== null || begunAt <= now - MAX_AUDIT_MILLIS))
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
