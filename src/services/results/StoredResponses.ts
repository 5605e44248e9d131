/**
 * Responses that clients continue or read later, each with the input that it answered. They have
 * prompts and answers, so the store encrypts them, and deletes them when their time has come.
 *
 * A response is stored before the charge of its order, and is found only when the order has its
 * charge: a crash between the two leaves neither a response that nobody paid for, nor a charge
 * whose response is gone.
 */
import { Context, type Effect, Schema } from "effect"
import { NotFound } from "../../domain/Errors.ts"
import { Item } from "../../domain/responses/ResponsesRequest.ts"

const StoredOutput = Schema.Record(Schema.String, Schema.Unknown)

/** What is encrypted of a stored response. */
export const ResponseContent = Schema.Struct({
  /** The response object as its client got it. */
  response: StoredOutput,
  /** The items that were new in its request. */
  input: Schema.Array(Item)
})
export type ResponseContent = typeof ResponseContent.Type

export interface StoredResponse extends ResponseContent {
  readonly id: string
  /** The stored response that this one continues; null for the first of a conversation. */
  readonly previousId: string | null
}

export interface NewResponse extends StoredResponse {
  readonly organizationId: string
  /** The order whose charge pays for the response. */
  readonly orderId: string
  /** The ids of the items of its input and output, by which a later request may refer to them. */
  readonly itemIds: ReadonlyArray<string>
  readonly lifetimeSeconds: number
}

/**
 * The same error for a response of another organisation, an expired one, one without a charge, and
 * an unknown id.
 */
export const noSuchResponse = (id: string) =>
  new NotFound({ message: `No response is called ${JSON.stringify(id)}` })

/** The most stored responses that an order may repeat, and the most bytes of them. */
export const MAX_CONVERSATION = { responses: 1000, bytes: 32 * 1024 * 1024 }

/** A stored response that is not read yet. */
export interface ResponseSize {
  readonly id: string
  /** The size of the response and its input as they are stored. */
  readonly bytes: number
}

export class StoredResponses extends Context.Service<
  StoredResponses,
  {
    add(response: NewResponse): Effect.Effect<void>
    find(organizationId: string, id: string): Effect.Effect<StoredResponse | null>
    /**
     * The responses of the conversation that ends with `id`, the first one first, without their
     * content. Null where one of them is not stored any more, or where they are more than
     * `MAX_CONVERSATION`.
     */
    conversation(
      organizationId: string,
      id: string
    ): Effect.Effect<ReadonlyArray<ResponseSize> | null>
    /**
     * For each item the newest response that has it in its input or output, without its content, the
     * newest first.
     */
    withItems(
      organizationId: string,
      itemIds: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<ResponseSize>>
    /** The content of responses, in the order of the ids; those that are gone are left out. */
    load(
      organizationId: string,
      ids: ReadonlyArray<string>
    ): Effect.Effect<ReadonlyArray<StoredResponse>>
    /** False where there is no such response. */
    remove(organizationId: string, id: string): Effect.Effect<boolean>
    /** Deletes expired responses. */
    readonly removeExpired: Effect.Effect<void>
  }
>()("gateway/services/StoredResponses") {}
