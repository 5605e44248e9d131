/** The conversation of a request: its stored part, and its own items. */
import { Context, Effect, Layer, Schema } from "effect"
import { InvalidRequest, Overloaded, RateLimited } from "../../../domain/Errors.ts"
import type { PlacedItem } from "../../../domain/responses/chatOfResponses.ts"
import { outputOf } from "../../../domain/responses/ownResponses.ts"
import {
  type InputItem,
  Item,
  type ItemReference,
  type ResponsesBody
} from "../../../domain/responses/ResponsesRequest.ts"
import { makeFairLane } from "../../../runtime/FairLane.ts"
import { Settings } from "../../../runtime/Settings.ts"
import {
  MAX_CONVERSATION,
  type ResponseSize,
  type StoredResponse,
  StoredResponses
} from "../../../services/results/StoredResponses.ts"
import { StoredContentMemory } from "../../StoredContentMemory.ts"

const isItem = Schema.is(Item)

const isReference = (item: InputItem): item is ItemReference =>
  !("role" in item) && (item.type ?? "item_reference") === "item_reference"

/** The items of a stored response that a later request can repeat, its input first. */
const itemsOf = ({ input, response }: StoredResponse): ReadonlyArray<Item> => [
  ...input,
  ...outputOf(response).filter((item) => isItem(item))
]

const idOf = (item: Item): string | null => item.id ?? null

const bytesOf = (sizes: ReadonlyArray<ResponseSize>): number =>
  sizes.reduce((sum, { bytes }) => sum + bytes, 0)

/** Responses up to this size share a turn, as reading them takes about as long as a look-up. */
const SMALL_BYTES = 64 * 1024

const { responses: maxResponses, bytes: maxBytes } = MAX_CONVERSATION
const limits = `${maxResponses} responses and ${maxBytes / 1024 / 1024} MiB`

const cutConversation = (id: string) =>
  new InvalidRequest({
    message:
      `previous_response_id: Expected a stored response, and ${JSON.stringify(id)} or one that it ` +
      `continues is not stored any more, or they are more than ${limits}`,
    param: "previous_response_id"
  })

const tooManyReferences = new InvalidRequest({
  message: `input: Expected items of at most ${limits} that are stored; send some of them again as they are`,
  param: "input"
})

const memoryExhausted = new Overloaded({
  message:
    "Other orders' files and conversations take all the room there is for them; send this one again in a moment",
  retryAfterSeconds: 1
})

interface Conversation {
  /** All items, the oldest first. */
  readonly items: ReadonlyArray<PlacedItem>
  /** The items that are new in this request. */
  readonly input: ReadonlyArray<Item>
}

/**
 * Reads conversations. A small request can name megabytes of stored responses, so few are read at a
 * time, in turns of their organisations. Their memory is reserved until the scope closes, before
 * they are read.
 */
export class Conversations extends Context.Service<Conversations>()(
  "gateway/orders/Conversations",
  {
    make: Effect.gen(function* () {
      const responseStore = yield* StoredResponses
      const memory = yield* StoredContentMemory
      const { listsInFlight, organizationLists, organizationListQueue } = yield* Settings
      const lane = yield* makeFairLane({
        total: listsInFlight,
        perOwner: Math.min(organizationLists, listsInFlight),
        maxWaiting: organizationListQueue
      })
      const queueFull = new RateLimited({
        message: `This organisation has ${organizationListQueue} conversations waiting at this gateway; send this one again when others are answered`,
        retryAfterSeconds: 1
      })

      const inLane = <A, E>(owner: string, sharesPermit: boolean, read: Effect.Effect<A, E>) =>
        lane.hasRoom(owner) ? lane.inTurn(owner, read, { sharesPermit }) : Effect.fail(queueFull)

      const load = Effect.fnUntraced(function* (
        organizationId: string,
        sizes: ReadonlyArray<ResponseSize>
      ) {
        const bytes = bytesOf(sizes)
        if (sizes.length === 0) return []
        if (!(yield* memory.reserve(organizationId, bytes))) return yield* memoryExhausted
        const ids = sizes.map(({ id }) => id)
        const read = responseStore.load(organizationId, ids)
        return yield* inLane(organizationId, bytes <= SMALL_BYTES, read)
      })

      const earlierItems = Effect.fnUntraced(function* (organizationId: string, id: string) {
        const sizes = yield* responseStore.conversation(organizationId, id)
        if (sizes === null) return yield* cutConversation(id)
        const responses = yield* load(organizationId, sizes)
        if (responses.length < sizes.length) return yield* cutConversation(id)
        return responses.flatMap(itemsOf)
      })

      /** The newest stored items by their ids. */
      const storedItems = Effect.fnUntraced(function* (
        organizationId: string,
        ids: ReadonlyArray<string>
      ) {
        const sizes = ids.length === 0 ? [] : yield* responseStore.withItems(organizationId, ids)
        if (sizes.length > maxResponses || bytesOf(sizes) > maxBytes)
          return yield* tooManyReferences
        const responses = yield* load(organizationId, sizes)
        // Of several items with one id, which a client may have chosen, the newest one is meant.
        return new Map(
          responses
            .toReversed()
            .flatMap(itemsOf)
            .map((item) => [idOf(item), item] as const)
        )
      })

      /** The items of the request, with those that it refers to. */
      const ownItems = Effect.fnUntraced(function* (
        organizationId: string,
        { input }: ResponsesBody
      ) {
        if (typeof input === "string") return [{ role: "user", content: input } satisfies Item]
        const itemsById = yield* storedItems(
          organizationId,
          input.filter(isReference).map(({ id }) => id)
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

      return {
        /** A stored response, read in its organisation's turn; null if there is none. */
        find: (organizationId: string, id: string) =>
          inLane(organizationId, false, responseStore.find(organizationId, id)),
        /** Reads the conversation of a request. */
        read: Effect.fnUntraced(function* (organizationId: string, body: ResponsesBody) {
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
      }
    })
  }
) {}

export const layerConversations = Layer.effect(Conversations, Conversations.make)
