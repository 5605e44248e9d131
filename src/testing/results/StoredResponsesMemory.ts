/** Stored responses in memory. */
import { Clock, Effect, Layer } from "effect"
import { type NewResponse, StoredResponses } from "../../services/results/StoredResponses.ts"

interface TimedResponse {
  readonly added: NewResponse
  readonly expiresAt: number
}

export const layerStoredResponsesMemory = Layer.sync(StoredResponses, () => {
  const responses = new Map<string, TimedResponse>()
  const keyOf = (organizationId: string, id: string) => JSON.stringify([organizationId, id])
  const visible = Effect.map(
    Clock.currentTimeMillis,
    (now) => (organizationId: string, id: string) => {
      const found = responses.get(keyOf(organizationId, id))
      return found === undefined || found.expiresAt <= now ? null : found.added
    }
  )

  return StoredResponses.of({
    add: (added) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        responses.set(keyOf(added.organizationId, added.id), {
          added,
          expiresAt: now + added.lifetimeSeconds * 1000
        })
      }),
    find: (organizationId, id) => Effect.map(visible, (find) => find(organizationId, id)),
    conversation: (organizationId, id) =>
      Effect.map(visible, (find) => {
        const conversation: Array<NewResponse> = []
        for (let next: string | null = id; next !== null; ) {
          const response = find(organizationId, next)
          if (response === null) return null
          conversation.unshift(response)
          next = response.previousId
        }
        return conversation
      }),
    withItems: (organizationId, itemIds) =>
      Effect.map(visible, (find) =>
        [...responses.values()].flatMap(({ added }) => {
          const hasItem = added.itemIds.some((id) => itemIds.includes(id))
          const response = hasItem ? find(organizationId, added.id) : null
          return response === null ? [] : [response]
        })
      ),
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
