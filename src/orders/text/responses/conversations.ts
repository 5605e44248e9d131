/** The conversation of a request: its stored part, and its own items. */
import { Effect, Schema } from "effect"
import { InvalidRequest } from "../../../domain/Errors.ts"
import type { PlacedItem } from "../../../domain/responses/chatOfResponses.ts"
import { outputOf } from "../../../domain/responses/ownResponses.ts"
import {
  type InputItem,
  Item,
  type ItemReference,
  type ResponsesBody
} from "../../../domain/responses/ResponsesRequest.ts"
import { type StoredResponse, StoredResponses } from "../../../services/results/StoredResponses.ts"

const isItem = Schema.is(Item)

const isReference = (item: InputItem): item is ItemReference =>
  !("role" in item) && (item.type ?? "item_reference") === "item_reference"

/** The items of a stored response that a later request can repeat, its input first. */
const itemsOf = ({ input, response }: StoredResponse): ReadonlyArray<Item> => [
  ...input,
  ...outputOf(response).filter((item) => isItem(item))
]

const idOf = (item: Item): string | null => item.id ?? null

interface Conversation {
  /** All items, the oldest first. */
  readonly items: ReadonlyArray<PlacedItem>
  /** The items that are new in this request. */
  readonly input: ReadonlyArray<Item>
}

export const makeConversations = Effect.gen(function* () {
  const responseStore = yield* StoredResponses

  const earlierItems = Effect.fnUntraced(function* (organizationId: string, id: string) {
    const responses = yield* responseStore.conversation(organizationId, id)
    if (responses === null) {
      return yield* new InvalidRequest({
        message: `previous_response_id: Expected a stored response, and ${JSON.stringify(id)} or one that it continues is not stored any more`,
        param: "previous_response_id"
      })
    }
    return responses.flatMap(itemsOf)
  })

  /** The items of the request, with those that it refers to. */
  const ownItems = Effect.fnUntraced(function* (organizationId: string, { input }: ResponsesBody) {
    if (typeof input === "string") return [{ role: "user", content: input } satisfies Item]
    const ids = input.filter(isReference).map(({ id }) => id)
    const responses = ids.length === 0 ? [] : yield* responseStore.withItems(organizationId, ids)
    // Of several items with one id, which a client may have chosen, the newest one is meant.
    const itemsById = new Map(
      responses
        .toReversed()
        .flatMap(itemsOf)
        .map((item) => [idOf(item), item] as const)
    )
    return yield* Effect.forEach(input, (item, index) => {
      if (!isReference(item)) return Effect.succeed(item)
      const match = itemsById.get(item.id)
      return match === undefined
        ? Effect.fail(
            new InvalidRequest({
              message: `input[${index}].id: No stored item is called ${JSON.stringify(item.id)}`,
              param: `input[${index}].id`
            })
          )
        : Effect.succeed(match)
    })
  })

  return Effect.fnUntraced(function* (organizationId: string, body: ResponsesBody) {
    const previous = body.previous_response_id ?? null
    const earlier = previous === null ? [] : yield* earlierItems(organizationId, previous)
    const input = yield* ownItems(organizationId, body)
    const conversation: Conversation = {
      items: [
        ...earlier.map((item) => ({ item, path: "previous_response_id" })),
        ...input.map((item, index) => ({ item, path: `input[${index}]` }))
      ],
      input
    }
    return conversation
  })
})
