/** Streamed answers whose end is a fault where switches say so. */
import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { hangUp } from "../placeOrder.ts"
import { countOf, isOn, type Switches } from "../switches.ts"

/** Closes the connection after a delay, so that the parts written before still arrive. */
const brokenConnection = Effect.sleep("50 millis").pipe(
  Effect.andThen(hangUp),
  Effect.andThen(Effect.never)
)

const MILLIS = 1000

/**
 * Streams the parts. With `sim:breaks=N`, `sim:stalls=N` or `sim:errors=N` the connection breaks or
 * stalls, or `error` follows, after N parts.
 */
export const streamParts = Effect.fnUntraced(function* (
  switches: Switches,
  parts: ReadonlyArray<string>,
  error: string
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const after = (name: string) => countOf(switches, name, isOn(switches, name) ? 1 : parts.length)
  const partCount = Math.min(after("breaks"), after("stalls"), after("errors"))
  const pauseMillis = (countOf(switches, "takes", 0) * MILLIS) / parts.length
  const endOf = (): Stream.Stream<string, never, HttpServerRequest.HttpServerRequest> => {
    if (isOn(switches, "stalls")) return Stream.never
    return isOn(switches, "errors") ? Stream.succeed(error) : Stream.fromEffect(brokenConnection)
  }
  const sent = Stream.fromIterable(parts.slice(0, partCount)).pipe(
    Stream.rechunk(1),
    Stream.tap(() => Effect.sleep(pauseMillis))
  )
  return HttpServerResponse.stream(
    (partCount < parts.length ? Stream.concat(sent, endOf()) : sent).pipe(
      Stream.map((part) => new TextEncoder().encode(part)),
      Stream.provideService(HttpServerRequest.HttpServerRequest, request)
    ),
    { contentType: "text/event-stream" }
  )
})
