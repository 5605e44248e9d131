/** Clients of others, as a customer's program would make them for the gateway under test. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Effect } from "effect"
import OpenAI, { type ClientOptions } from "openai"
import { type Customer, Gateway } from "./gateway.ts"

/** The `openai` package with nothing but an address and a key, and what the test says. */
export const openaiOf = (who: Customer, options: Omit<ClientOptions, "apiKey"> = {}) =>
  Effect.map(
    Gateway,
    ({ url }) => new OpenAI({ baseURL: `${url}/v1`, apiKey: who.key, ...options })
  )

/** The same as a class that gives every order a key of its own, which its retries keep. */
class KeyedOpenAI extends OpenAI {
  protected override idempotencyHeader = "Idempotency-Key"
}

export const keyedOpenaiOf = (who: Customer, options: Omit<ClientOptions, "apiKey"> = {}) =>
  Effect.map(
    Gateway,
    ({ url }) => new KeyedOpenAI({ baseURL: `${url}/v1`, apiKey: who.key, ...options })
  )

/** The provider of the `ai` package for vendors that speak the common standard form. */
export const aiProviderOf = (who: Customer, fetch?: typeof globalThis.fetch) =>
  Effect.map(Gateway, ({ url }) =>
    createOpenAICompatible({
      name: "gateway",
      baseURL: `${url}/v1`,
      apiKey: who.key,
      includeUsage: true,
      ...(fetch === undefined ? {} : { fetch })
    })
  )

/** A promise's value; a rejection is a defect. */
export const done = <A>(start: () => PromiseLike<A>): Effect.Effect<A> =>
  Effect.promise(async () => await start())

/** What a promise is rejected with; a value is a defect. */
export const rejection = (start: () => PromiseLike<unknown>): Effect.Effect<unknown> =>
  Effect.tryPromise({ try: async () => await start(), catch: (error) => error }).pipe(
    Effect.flip,
    Effect.catch((value) =>
      Effect.die(new Error(`expected an error, got ${JSON.stringify(value)}`))
    )
  )

/** A `fetch` that keeps what became of each request: a status, or "lost". */
export const watchedFetch = () => {
  const seen: Array<number | "lost"> = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    try {
      const response = await globalThis.fetch(input, init)
      seen.push(response.status)
      return response
    } catch (error) {
      seen.push("lost")
      throw error
    }
  }
  return { seen, fetch }
}
