/** Spans of what every order does: none is made where none is collected. */
import { Effect, References } from "effect"

/** Names in traces what the effect does. */
export const spanned =
  (name: string) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) =>
      fiber.getRef(References.TracerEnabled)
        ? Effect.withSpan(effect, name, { kind: "client" })
        : effect
    )
