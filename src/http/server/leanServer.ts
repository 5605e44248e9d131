/** Serving with a small context: what a request is given is added to it, and copied with it. */
import { Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"

/** Additions to a context before it is copied whole; a request makes about as many. */
const ADDITIONS = 24

/**
 * Our services and what their stores stand on: each was handed to whoever needs it when that was
 * built, and none is looked up around the routes, whose handlers bring a context of their own.
 */
const isBuiltIn = (key: string): boolean =>
  key.startsWith("gateway/") || key.startsWith("@effect/sql") || key.startsWith("effect/sql")

export const leanly = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe(new Map([...context.mapUnsafe].filter(([key]) => !isBuiltIn(key))), {
    maxDepth: ADDITIONS
  })

/** The server beneath, whose requests start with as little as they need. */
export const layerLeanServer = Layer.effect(
  HttpServer.HttpServer,
  Effect.map(HttpServer.HttpServer, ({ address, serve }) =>
    HttpServer.make({
      address,
      serve: (effect, middleware) =>
        Effect.updateContext(
          middleware === undefined ? serve(effect) : serve(effect, middleware),
          leanly
        )
    })
  )
)
