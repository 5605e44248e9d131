/** A vendor's answer that is read while it is being written, event by event. */
import { Duration, Effect, type Scope } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import type { VendorLost, VendorUnreachable } from "../../domain/VendorOutcome.ts"
import { makeStreamReservation } from "../../runtime/AnswerBudget.ts"
import { monotonicMillis } from "../../runtime/monotonic.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import { makeEventReader, startsEvents } from "./eventBlocks.ts"
import { recordCall } from "./recordCall.ts"
import type { BegunAnswer, VendorWire, WireFault, WireLate } from "./VendorWire.ts"
import { headOf, partOf, type SendOptions, type VendorAnswer } from "./vendorAnswer.ts"
import { tooLarge } from "./vendorFailures.ts"
import { lostOnTheWay, wholeAnswer } from "./vendorHttp.ts"
import type { VendorRequest } from "./vendorRequest.ts"

/** Of a stream the body is only how much came: nothing of what it said, and no digest. */
interface StreamedAnswer extends VendorAnswer {
  readonly streamed: boolean
}

/** All three limit waits for the vendor alone. */
export interface StreamOptions extends SendOptions {
  /** Until its first bytes, or the whole of an answer that is no stream. */
  readonly begin: Duration.Duration
  /** From any bytes to the next ones. */
  readonly idle: Duration.Duration
  /** Most bytes of one event; those of the whole answer when left out. */
  readonly eventBytes?: number
}

/** What is left of a limit; only waits take from it. */
const makePatience = (limit: Duration.Duration) => ({
  limit,
  leftMillis: Duration.toMillis(limit)
})
type Patience = ReturnType<typeof makePatience>

/** Waits for the vendor while both have time left. */
const waitFor = <A, R>(
  one: Patience,
  other: Patience,
  wait: (timeout: Duration.Duration) => Effect.Effect<A, WireFault | WireLate, R>,
  seen: () => BegunAnswer | null = () => null
): Effect.Effect<A, VendorLost | VendorUnreachable, R> =>
  Effect.flatMap(monotonicMillis, (started) => {
    const { limit, leftMillis } = other.leftMillis < one.leftMillis ? other : one
    return wait(Duration.millis(Math.max(0, leftMillis))).pipe(
      Effect.catch((failure) => lostOnTheWay(limit, seen())(failure)),
      asVendorTime,
      Effect.ensuring(
        Effect.map(monotonicMillis, (now) => {
          one.leftMillis -= now - started
          other.leftMillis -= now - started
        })
      )
    )
  })

const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && /^text\/event-stream\b/i.test(contentType)

/** The longest name of a field of events with its colon. */
const FIELD_NAME_BYTES = 6
/** A vendor that begins with more blanks than this begins with nothing. */
const MAX_BLANKS = 4096

/**
 * True when an answer is read event by event. What it begins with tells, as vendors leave out or
 * mix up the content type: a text in JSON is no stream, and fields of events are one. Null while too
 * little has come to tell.
 */
const isStream = (contentType: unknown, begun: ReadonlyArray<Uint8Array>): boolean | null => {
  const bytes = Buffer.concat(begun)
  const text = bytes.toString().trimStart()
  const enough = isEventStream(contentType) ? 1 : FIELD_NAME_BYTES
  if (text.length < enough && bytes.length < MAX_BLANKS) return null
  return isEventStream(contentType) ? !/^[{[]/.test(text) : startsEvents(text)
}

/** Shorter events do not count while they come: those of all streams fit into memory. */
const COUNTED_BYTES = 256 * 1024

/**
 * Has a long event that is not whole yet wait for room among the answers in memory. It waits as long as
 * its vendor may be silent, and is read on all the same then: by that time clients that take nothing are cut.
 */
const makeEventRoom = Effect.map(
  makeStreamReservation,
  (awaitRoom) =>
    (pendingBytes: number, { idle }: StreamOptions) =>
      pendingBytes > COUNTED_BYTES
        ? Effect.ignore(Effect.timeout(awaitRoom(pendingBytes), idle))
        : awaitRoom(0)
)

const exchange = Effect.fnUntraced(function* (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: StreamOptions,
  take: (event: Uint8Array) => Effect.Effect<boolean>
): Effect.fn.Return<StreamedAnswer, VendorLost | VendorUnreachable, Scope.Scope> {
  const throughout = makePatience(options.timeout)
  const atFirst = makePatience(options.begin)
  const response = yield* waitFor(throughout, atFirst, (left) => wire.open(request, left))
  const awaitRoom = yield* makeEventRoom
  const begun: Array<Uint8Array> = []
  let bytes = 0
  const read = (patience: Patience) =>
    Effect.tap(
      waitFor(throughout, patience, response.read, () => ({ head: response, bytes })),
      (chunk) =>
        Effect.sync(() => {
          bytes += chunk?.byteLength ?? 0
        })
    )
  const { "content-type": contentType } = response.headers
  let streamed = response.status < 300 ? isStream(contentType, begun) : false
  while (streamed === null) {
    const chunk = yield* read(atFirst)
    if (chunk !== null) begun.push(chunk)
    streamed = isStream(contentType, begun) ?? (chunk === null ? isEventStream(contentType) : null)
  }
  if (!streamed) {
    let whole = false
    while (!whole && bytes <= options.maxBytes) {
      const chunk = yield* read(atFirst)
      if (chunk !== null) begun.push(chunk)
      whole = chunk === null
    }
    const raw = new RawAnswer(begun)
    const answer = yield* wholeAnswer({ ...response, raw, whole }, request.body, options)
    return { ...answer, streamed: false }
  }

  const reader = makeEventReader(options.eventBytes ?? options.maxBytes)
  const head = headOf(response)
  let events = 0
  for (let isOver = false; !isOver; ) {
    yield* awaitRoom(reader.pendingBytes(), options)
    const patience = bytes === 0 ? atFirst : makePatience(options.idle)
    const chunk = begun.shift() ?? (yield* read(patience))
    const whole = chunk === null ? reader.rest() : reader.push(chunk)
    if (whole === null) return yield* tooLarge(head, bytes)
    isOver = chunk === null
    for (const event of whole) {
      events += 1
      if (yield* take(event)) {
        isOver = true
        break
      }
    }
  }
  return { ...partOf(head, { events, bytes }, bytes), streamed: true }
})

/**
 * Sends one request and hands every event of its answer to `take` as it comes, until that says it
 * was the last one. An answer that is an error or no stream is read whole and not handed on. The
 * `timeout` is for all the waits for the vendor together. Fails like `send`, also in mid-stream.
 */
export const sendForEvents = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: StreamOptions,
  take: (event: Uint8Array) => Effect.Effect<boolean>
): Effect.Effect<StreamedAnswer, VendorLost | VendorUnreachable> =>
  recordCall(request, Effect.scoped(exchange(wire, request, options, take)))
