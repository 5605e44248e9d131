/** The connection of the console to the gateway that serves it, through the typed client. */
import { Cause, Effect, Exit, Layer, ManagedRuntime } from "effect"
import { FetchHttpClient } from "effect/http"
import { layer, MediaGateway } from "../../client/typedClient.ts"
import { authenticationOf } from "./files.ts"
import { requireNetwork } from "./network.ts"
import type { Session } from "./session.ts"

type Gateway = MediaGateway["Service"]
export type ApiCall<A, E = unknown> = (gateway: Gateway) => Effect.Effect<A, E>

export interface Connection {
  /** Runs a call. Rejects with the call's typed error, which `failureOf` reads. */
  readonly send: <A, E>(call: ApiCall<A, E>, signal?: AbortSignal) => Promise<A>
  readonly end: () => void
}

/** Sends the requests of the typed client, which has a bearer token in each of them. */
const fetchOf =
  (session: Session): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers)
    const bearer = headers.get("authorization")?.replace(/^Bearer /, "") ?? ""
    headers.delete("authorization")
    for (const [name, value] of Object.entries(authenticationOf(session, bearer))) {
      headers.set(name, value)
    }
    return fetch(input, { ...init, headers })
  }

export const connect = (session: Session): Connection => {
  const { apiKey, operator } = session
  const runtime = ManagedRuntime.make(
    layer({
      baseUrl: window.location.origin,
      apiKey: apiKey ?? "",
      ...(operator === null ? {} : { adminToken: operator.token })
    }).pipe(
      Layer.provide(FetchHttpClient.layer),
      Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetchOf(session)))
    )
  )
  return {
    send: async (call, signal) => {
      requireNetwork()
      const exit = await runtime.runPromiseExit(
        Effect.flatMap(MediaGateway, call),
        signal === undefined ? undefined : { signal }
      )
      if (Exit.isSuccess(exit)) return exit.value
      throw Cause.squash(exit.cause)
    },
    end: () => void runtime.dispose()
  }
}
