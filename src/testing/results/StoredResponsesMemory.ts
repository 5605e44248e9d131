/** Stored responses in memory. */
import { Clock, Effect, Layer } from "effect"
import {
  MAX_CONVERSATION,
  type NewResponse,
  type ResponseSize,
  StoredResponses
} from "../../services/results/StoredResponses.ts"
import { MemoryStore } from "../memory/MemoryStore.ts"

interface TimedResponse {
  readonly added: NewResponse
  readonly expiresAt: number
}

const sizeOf = ({ id, response, input }: NewResponse): ResponseSize => ({
  id,
  bytes: Buffer.byteLength(JSON.stringify({ response, input }))
})

export const layerStoredResponsesMemory = Layer.effect(
  StoredResponses,
  Effect.gen(function* () {
    const { organizations } = yield* MemoryStore
    const responses = new Map<string, TimedResponse>()
    const keyOf = (organizationId: string, id: string) => JSON.stringify([organizationId, id])
    const isCharged = ({ organizationId, orderId }: NewResponse) =>
      organizations.get(organizationId)?.orders.get(orderId)?.state === "captured"

    const visible = Effect.map(
      Clock.currentTimeMillis,
      (now) => (organizationId: string, id: string) => {
        const match = responses.get(keyOf(organizationId, id))
        const isVisible = match !== undefined && match.expiresAt > now && isCharged(match.added)
        return isVisible ? match.added : null
      }
    )

    return StoredResponses.of({
      add: (added) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const key = keyOf(added.organizationId, added.id)
          if (responses.has(key)) return
          responses.set(key, { added, expiresAt: now + added.lifetimeSeconds * 1000 })
        }),
      find: (organizationId, id) => Effect.map(visible, (find) => find(organizationId, id)),
      conversation: (organizationId, id) =>
        Effect.map(visible, (find) => {
          const conversation: Array<ResponseSize> = []
          let allBytes = 0
          for (let next: string | null = id; next !== null; ) {
            const response = find(organizationId, next)
            if (response === null || conversation.length === MAX_CONVERSATION.responses) return null
            const size = sizeOf(response)
            allBytes += size.bytes
            if (allBytes > MAX_CONVERSATION.bytes) return null
            conversation.unshift(size)
            next = response.previousId
          }
          return conversation
        }),
      withItems: (organizationId, itemIds) =>
        Effect.map(visible, (find) => {
          const newestFirst = [...responses.values()]
            .toReversed()
            .filter(({ added }) => find(organizationId, added.id) === added)
          const newestIds = itemIds.map(
            (itemId) => newestFirst.find(({ added }) => added.itemIds.includes(itemId))?.added.id
          )
          return newestFirst.flatMap(({ added }) =>
            newestIds.includes(added.id) ? [sizeOf(added)] : []
          )
        }),
      load: (organizationId, ids) =>
        Effect.map(visible, (find) => ids.flatMap((id) => find(organizationId, id) ?? [])),
      remove: (organizationId, id) =>
        Effect.map(
          visible,
          (find) => find(organizationId, id) !== null && responses.delete(keyOf(organizationId, id))
        ),
      removeExpired: Effect.map(Clock.currentTimeMillis, (now) => {
        for (const [key, { expiresAt }] of responses) {
          if (expiresAt <= now) responses.delete(key)
        }
      })
    })
  })
)
