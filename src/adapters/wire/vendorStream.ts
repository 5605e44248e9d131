/** Reads a vendor's streamed answer event by event. */
import { Clock, Duration, Effect, type Scope } from "effect"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import type { VendorLost, VendorUnreachable } from "../../domain/VendorOutcome.ts"
import { makeStreamReservation } from "../../runtime/AnswerBudget.ts"
import { monotonicMillisOf } from "../../runtime/monotonic.ts"
import { asVendorTime } from "../../services/ProtocolAdapter.ts"
import { makeEventReader, startsEvents } from "./eventBlocks.ts"
import { recordCall } from "./recordCall.ts"
import type { OpenAnswer, PartialAnswer, VendorWire, WireFault, WireLate } from "./VendorWire.ts"
import { headOf, partialAnswer, type SendOptions, type VendorAnswer } from "./vendorAnswer.ts"
import { oversizedAnswer } from "./vendorFailures.ts"
import { completeAnswer, toVendorFailure } from "./vendorHttp.ts"
import type { VendorRequest } from "./vendorRequest.ts"

/**
 * An answer that may be a stream. For a stream, `body` contains only the number of events and
 * bytes: no content and no digest.
 */
interface StreamedAnswer extends VendorAnswer {
  readonly isStream: boolean
}

/** The options of a stream. The time-outs count only waits for the vendor, not for the client. */
export interface StreamOptions extends SendOptions {
  /** The time-out of the first bytes of a stream, or of the whole answer if it is not a stream. */
  readonly firstBytesTimeout: Duration.Duration
  /** The time-out between two chunks. */
  readonly idleTimeout: Duration.Duration
  /** The maximum number of bytes of one event; the limit of the whole answer if missing. */
  readonly eventBytes?: number
}

/** The remaining time of a time-out, which is used up only by waits for the vendor. */
const makeTimeBudget = (limit: Duration.Duration) => ({
  limit,
  leftMillis: Duration.toMillis(limit)
})
type TimeBudget = ReturnType<typeof makeTimeBudget>

/** Waits for the vendor within the shorter of two time budgets. */
const waitFor = <A, R>(
  one: TimeBudget,
  other: TimeBudget,
  wait: (timeout: Duration.Duration) => Effect.Effect<A, WireFault | WireLate, R>,
  partialOf: () => PartialAnswer | null = () => null
): Effect.Effect<A, VendorLost | VendorUnreachable, R> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const startedAtMillis = monotonicMillisOf(clock)
    const { limit, leftMillis } = other.leftMillis < one.leftMillis ? other : one
    const waitResult = wait(Duration.millis(Math.max(0, leftMillis))).pipe(
      Effect.catch((failure) => toVendorFailure(limit, partialOf())(failure)),
      asVendorTime
    )
    return Effect.onExitPrimitive(waitResult, () => {
      const millis = monotonicMillisOf(clock) - startedAtMillis
      one.leftMillis -= millis
      other.leftMillis -= millis
      return undefined
    })
  })

const isEventStream = (contentType: unknown): boolean =>
  typeof contentType === "string" && /^text\/event-stream\b/i.test(contentType)

/** The length of the longest field name of an event, with its colon. */
const FIELD_NAME_BYTES = 6
/** The number of bytes after which the answer is judged even if only whitespace has arrived. */
const MAX_BLANKS = 4096

/**
 * Whether an answer is read event by event. Its first bytes decide, because vendors omit or confuse
 * the content type: JSON is not a stream, and event fields are one. Null while too few bytes have
 * arrived.
 */
const startsStream = (
  contentType: unknown,
  firstChunks: ReadonlyArray<Uint8Array>
): boolean | null => {
  const bytes = Buffer.concat(firstChunks)
  const text = bytes.toString().trimStart()
  const neededLength = isEventStream(contentType) ? 1 : FIELD_NAME_BYTES
  if (text.length < neededLength && bytes.length < MAX_BLANKS) return null
  return isEventStream(contentType) ? !/^[{[]/.test(text) : startsEvents(text)
}

/**
 * The size above which an incomplete event reserves memory budget; smaller events of all streams
 * fit into memory.
 */
const COUNTED_BYTES = 256 * 1024

/**
 * Makes a long incomplete event wait for memory budget. The event waits at most as long as the
 * vendor may be silent, and is then read in any case, because by that time clients that read
 * nothing have been disconnected.
 */
const makeEventRoom = Effect.map(
  makeStreamReservation,
  (awaitRoom) =>
    (pendingBytes: number, { idleTimeout: idle }: StreamOptions) =>
      pendingBytes > COUNTED_BYTES
        ? Effect.ignore(Effect.timeout(awaitRoom(pendingBytes), idle))
        : awaitRoom(0)
)

/** Reads the body of an answer chunk by chunk, with null at its end, and counts the bytes. */
const makeBodyReader = (response: OpenAnswer, total: TimeBudget) => {
  let bytes = 0
  return {
    bytes: () => bytes,
    read: (budget: TimeBudget) =>
      Effect.map(
        waitFor(total, budget, response.read, () => ({ head: response, bytes })),
        (chunk) => {
          bytes += chunk?.byteLength ?? 0
          return chunk
        }
      )
  }
}

type BodyReader = ReturnType<typeof makeBodyReader>

/** How a kind of stream is recognised, and how its pieces are cut out of its bytes. */
interface StreamForm {
  /** Whether an answer is a stream of this form; null while too few bytes have arrived. */
  readonly starts: (contentType: unknown, firstChunks: ReadonlyArray<Uint8Array>) => boolean | null
  /** Whether an answer that ended before `starts` could decide is a stream. */
  readonly isShortStream: (contentType: unknown) => boolean
  readonly makeReader: (maxBytes: number) => ReturnType<typeof makeEventReader>
}

const eventForm: StreamForm = {
  starts: startsStream,
  isShortStream: isEventStream,
  makeReader: makeEventReader
}

const soundType = /^(?:audio\/|video\/|application\/(?:octet-stream|ogg)\b)/i
const statedText = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i
const markup = /^\s*(?:\{\s*"|\[\s*[{"]|<[!?a-z])/i

/**
 * Whether an answer is a sound: its content type says so, or says nothing, and it does not begin
 * like JSON or a web page, which some vendors send under the type of a sound.
 */
const startsSound: StreamForm["starts"] = (contentType, firstChunks) => {
  if (typeof contentType === "string" && statedText.test(contentType)) return false
  const bytes = Buffer.concat(firstChunks)
  if (bytes.length === 0) return null
  const isStated = typeof contentType !== "string" || soundType.test(contentType)
  return isStated && !markup.test(bytes.subarray(0, MAX_BLANKS).toString("latin1"))
}

/** A sound is passed on as its bytes arrive. */
const soundForm: StreamForm = {
  starts: startsSound,
  isShortStream: () => false,
  makeReader: () => ({
    push: ({ buffer, byteOffset, byteLength }) => [Buffer.from(buffer, byteOffset, byteLength)],
    pendingBytes: () => 0,
    remainder: () => []
  })
}

/** Reads an answer until its first bytes decide whether it is a stream. */
const readBeginning = Effect.fnUntraced(function* (
  response: OpenAnswer,
  body: BodyReader,
  budget: TimeBudget,
  { starts, isShortStream }: StreamForm
) {
  const { "content-type": contentType } = response.headers
  const firstChunks: Array<Uint8Array> = []
  let isStream = response.status < 300 ? starts(contentType, firstChunks) : false
  while (isStream === null) {
    const chunk = yield* body.read(budget)
    if (chunk !== null) firstChunks.push(chunk)
    isStream =
      starts(contentType, firstChunks) ?? (chunk === null ? isShortStream(contentType) : null)
  }
  return { firstChunks, isStream }
})

/**
 * Reads the remaining chunks into `chunks`; false if the answer is larger than `maxBytes` and was
 * not read to its end.
 */
const readToEnd = Effect.fnUntraced(function* (
  chunks: Array<Uint8Array>,
  body: BodyReader,
  budget: TimeBudget,
  maxBytes: number
) {
  while (body.bytes() <= maxBytes) {
    const chunk = yield* body.read(budget)
    if (chunk === null) return true
    chunks.push(chunk)
  }
  return false
})

const exchange = Effect.fnUntraced(function* (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: StreamOptions,
  take: (events: ReadonlyArray<Buffer>) => Effect.Effect<boolean>,
  form: StreamForm
): Effect.fn.Return<StreamedAnswer, VendorLost | VendorUnreachable, Scope.Scope> {
  const total = makeTimeBudget(options.timeout)
  const untilFirstBytes = makeTimeBudget(options.firstBytesTimeout)
  const response = yield* waitFor(total, untilFirstBytes, (left) => wire.open(request, left))
  const awaitRoom = yield* makeEventRoom
  const body = makeBodyReader(response, total)
  const { firstChunks, isStream } = yield* readBeginning(response, body, untilFirstBytes, form)
  if (!isStream) {
    const isComplete = yield* readToEnd(firstChunks, body, untilFirstBytes, options.maxBytes)
    const raw = new RawAnswer(firstChunks)
    const answer = yield* completeAnswer({ ...response, raw, isComplete }, request.body, options)
    return { ...answer, isStream: false }
  }

  const reader = form.makeReader(options.eventBytes ?? options.maxBytes)
  const head = headOf(response)
  let events = 0
  for (let isOver = false; !isOver; ) {
    yield* awaitRoom(reader.pendingBytes(), options)
    const budget = body.bytes() === 0 ? untilFirstBytes : makeTimeBudget(options.idleTimeout)
    const chunk = firstChunks.shift() ?? (yield* body.read(budget))
    const completeEvents = chunk === null ? reader.remainder() : reader.push(chunk)
    if (completeEvents === null) return yield* oversizedAnswer(head, body.bytes())
    events += completeEvents.length
    isOver = completeEvents.length > 0 && (yield* take(completeEvents))
    isOver ||= chunk === null
  }
  const bytes = body.bytes()
  return { ...partialAnswer(head, { events, bytes }, bytes), isStream: true }
})

/**
 * Sends one request and passes the events of its answer to `take` as they arrive, until `take`
 * returns true, which means that the last one was among them. An answer that is an error or not a
 * stream is read to its end and not passed to `take`. `timeout` limits the sum of all waits for the
 * vendor. Fails like `send`, also in mid-stream.
 */
export const sendForEvents = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: StreamOptions,
  take: (events: ReadonlyArray<Buffer>) => Effect.Effect<boolean>
): Effect.Effect<StreamedAnswer, VendorLost | VendorUnreachable> =>
  recordCall(request, Effect.scoped(exchange(wire, request, options, take, eventForm)))

/** Like `sendForEvents`, for a sound, whose bytes are passed to `take` as they arrive. */
export const sendForSound = (
  wire: VendorWire["Service"],
  request: VendorRequest,
  options: StreamOptions,
  take: (chunks: ReadonlyArray<Buffer>) => Effect.Effect<void>
): Effect.Effect<StreamedAnswer, VendorLost | VendorUnreachable> =>
  recordCall(
    request,
    Effect.scoped(
      exchange(wire, request, options, (chunks) => Effect.as(take(chunks), false), soundForm)
    )
  )
