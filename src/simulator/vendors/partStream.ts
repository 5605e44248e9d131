/** Answers that are sent part by part, whose end is a fault where switches say so. */
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

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** An event with one line of data. */
export const eventOf = (data: string): string => `data: ${data}\n\n`

/** The parts of an answer, and how they are sent. */
interface PartStream<A> {
  readonly parts: ReadonlyArray<A>
  /** Makes the bytes of a part as its turn comes. */
  readonly encode: (part: A) => Effect.Effect<Uint8Array>
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  /** The last part with `sim:errors`; without it, the connection breaks. */
  readonly errorPart?: Uint8Array
}

/**
 * Streams the parts within the seconds of `sim:takes`. With `sim:breaks=N`, `sim:stalls=N` or
 * `sim:errors=N` the connection breaks or stalls, or the error follows, after N parts.
 */
export const streamParts = Effect.fnUntraced(function* <A>(
  switches: Switches,
  { parts, encode, errorPart, ...head }: PartStream<A>
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const after = (name: string) => countOf(switches, name, isOn(switches, name) ? 1 : parts.length)
  const partCount = Math.min(after("breaks"), after("stalls"), after("errors"))
  const pauseMillis = (countOf(switches, "takes", 0) * MILLIS) / parts.length
  const endOf = (): Stream.Stream<Uint8Array, never, HttpServerRequest.HttpServerRequest> => {
    if (isOn(switches, "stalls")) return Stream.never
    return errorPart !== undefined && isOn(switches, "errors")
      ? Stream.succeed(errorPart)
      : Stream.fromEffect(brokenConnection)
  }
  const sent = Stream.fromIterable(parts.slice(0, partCount)).pipe(
    Stream.rechunk(1),
    Stream.mapEffect(encode),
    Stream.tap(() => Effect.sleep(pauseMillis))
  )
  return HttpServerResponse.stream(
    (partCount < parts.length ? Stream.concat(sent, endOf()) : sent).pipe(
      Stream.provideService(HttpServerRequest.HttpServerRequest, request)
    ),
    head
  )
})

/** Streams texts that are events. */
export const streamEvents = (switches: Switches, events: ReadonlyArray<string>, error: string) =>
  streamParts(switches, {
    parts: events,
    encode: (event) => Effect.succeed(utf8(event)),
    contentType: "text/event-stream",
    errorPart: utf8(error)
  })
