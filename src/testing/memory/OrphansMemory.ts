/** Orphans in memory. They are written when their orders are closed. */
import { Clock, Effect, Layer } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { storable } from "../../domain/plainText.ts"
import type { Doubt } from "../../domain/VendorOutcome.ts"
import { OPERATORS } from "../../features/webhooks/WebhookEndpoints.ts"
import { Orphans } from "../../services/Orphans.ts"
import { notifyEndpoints } from "../delivery/notifications.ts"
import { type MemoryState, MemoryStore, pageOf, type StoredOrder } from "./MemoryStore.ts"

export const orphanName = (organizationId: string, id: string): string => `${organizationId} ${id}`

/** Adds the orphan of an order, unless the order already has one. */
export const addOrphan = (
  state: MemoryState,
  { chargeNano, job, request: { id, organizationId, amountNano } }: StoredOrder,
  { upstreamId, reason, answer, usage }: Doubt,
  nowMillis: number
): void => {
  const { orphans } = state
  const name = orphanName(organizationId, id)
  if (orphans.has(name)) return
  const data = {
    id,
    organization_id: organizationId,
    channel: job.channelId,
    protocol: job.protocol,
    upstream_model: job.upstreamModel,
    upstream_id: upstreamId,
    reason
  }
  const event = { type: "orphan.created", taskId: null, data }
  notifyEndpoints(state, OPERATORS, organizationId, event, nowMillis)
  orphans.set(name, {
    id,
    organizationId,
    job,
    upstreamId: upstreamId === null ? null : storable(upstreamId),
    reason,
    answer: answer ?? null,
    usage: usage ?? null,
    heldNano: amountNano,
    chargeNano,
    createdAt: new Date(nowMillis),
    resolvedAt: null,
    note: null
  })
}

export const layerOrphansMemory = Layer.effect(
  Orphans,
  Effect.map(MemoryStore, ({ orphans }) => {
    return Orphans.of({
      list: Effect.fn("Orphans.list")((filter, page) =>
        Effect.suspend(() =>
          pageOf(
            [...orphans.values()],
            page,
            ({ resolvedAt, organizationId, job, reason }) =>
              (resolvedAt !== null) === filter.isResolved &&
              (filter.organizationId ?? organizationId) === organizationId &&
              (filter.channelId ?? job.channelId) === job.channelId &&
              (filter.reason ?? reason) === reason
          )
        )
      ),
      resolve: Effect.fn("Orphans.resolve")(function* (id, note) {
        const now = yield* Clock.currentTimeMillis
        const storedOrphan = [...orphans.values()].find((orphan) => orphan.id === id)
        if (storedOrphan === undefined) {
          return yield* new NotFound({ message: `No orphan is called ${JSON.stringify(id)}` })
        }
        const after = {
          ...storedOrphan,
          note,
          resolvedAt: storedOrphan.resolvedAt ?? new Date(now)
        }
        orphans.set(orphanName(after.organizationId, id), after)
        return after
      })
    })
  })
)
