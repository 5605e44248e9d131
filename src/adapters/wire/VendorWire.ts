/**
 * The connections to vendors. Requests go directly to `undici`, without effect's HTTP client,
 * because every layer between socket and adapter costs CPU time on every order.
 */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { Context, Duration, Effect, Exit, Layer, Schema, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { type Dispatcher, interceptors } from "undici"
import { isLinkLocal } from "../../domain/catalog/linkLocal.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { CurrentAnswer, type Reservation } from "../../runtime/AnswerBudget.ts"
import { makeAlarms, type SetAlarm } from "../../runtime/alarms.ts"
import { filteredLookup, type LookupPolicy, makeAgent } from "../../runtime/filteredLookup.ts"
import { onScopeEnd } from "../../runtime/onScopeEnd.ts"
import { type LargeAnswer, type LargeAnswers, makeLargeAnswers } from "./largeAnswers.ts"
import { dispatch, encodeRequest, type VendorRequest } from "./vendorRequest.ts"

const HeaderValue = Schema.Union([Schema.String, Schema.Array(Schema.String), Schema.Undefined])

const WireHead = Schema.Struct({
  status: Schema.Int,
  /** The headers, with names in lower case. */
  headers: Schema.Record(Schema.String, HeaderValue)
})
export type WireHead = typeof WireHead.Type

/** The part of an answer that arrived before reading stopped. */
const PartialAnswer = Schema.Struct({ head: WireHead, bytes: Schema.Int })
export type PartialAnswer = typeof PartialAnswer.Type

/** The received part of the answer; null if nothing arrived. */
const partial = Schema.NullOr(PartialAnswer)

/**
 * The request was not sent, or the connection failed before the end of its answer. `cause`,
 * `partial` and `isSent` together show which of the two happened.
 */
export class WireFault extends Schema.TaggedError<WireFault>()("WireFault", {
  cause: Schema.Unknown,
  partial,
  /** Whether a connection existed and the request was being sent. */
  isSent: Schema.optionalKey(Schema.Boolean)
}) {}

/** The answer did not arrive within the time-out. */
export class WireLate extends Schema.TaggedError<WireLate>()("WireLate", { partial }) {}

export interface WireLimits {
  /** The time-out of the whole answer, counted from the call. */
  readonly timeout: Duration.Duration
  /** The maximum number of bytes; further bytes are not read. */
  readonly maxBytes: number
}

export interface WireAnswer extends WireHead {
  readonly raw: RawAnswer
  /** False if the answer is longer than `maxBytes`, so that only its beginning was read. */
  readonly isComplete: boolean
}

export interface OpenAnswer extends WireHead {
  /** Returns the next bytes, or null at the end. Only one reader may call it at a time. */
  read(timeout: Duration.Duration): Effect.Effect<Uint8Array | null, WireFault | WireLate>
}

export class VendorWire extends Context.Service<
  VendorWire,
  {
    /** Sends the request and reads its answer within the limits. Redirects are not followed. */
    exchange(
      request: VendorRequest,
      limits: WireLimits
    ): Effect.Effect<WireAnswer, WireFault | WireLate>
    /**
     * Sends the request and succeeds when the head of the answer has arrived. If the scope ends
     * with success, an unread body gets a short time to end, so that the connection can be reused;
     * after a failure the connection is closed.
     */
    open(
      request: VendorRequest,
      timeout: Duration.Duration
    ): Effect.Effect<OpenAnswer, WireFault | WireLate, Scope.Scope>
  }
>()("gateway/adapters/VendorWire") {}

/**
 * The maximum number of unread bytes of an open answer; above it, reading from the socket pauses.
 */
const MAX_UNREAD_BYTES = 256 * 1024

/** The maximum wait for the unread end of an answer, before its connection is closed. */
const END_WAIT_MILLIS = 250

/**
 * The size above which an answer reserves memory budget. Smaller answers fit into memory, even if
 * many arrive concurrently.
 */
const RESERVED_BYTES = 64 * 1024
/**
 * The size above which an answer is queued. Smaller answers fit into memory, even if many arrive
 * concurrently.
 */
const LARGE_BYTES = 512 * 1024
/**
 * The expected length of a large answer without `content-length`: the length of an image of the
 * usual size.
 */
const EXPECTED_BYTES = 4 * 1024 * 1024
/**
 * The byte budget of the queue. Sixteen images of the expected size keep a core busy if clients
 * read as fast as the vendor sends.
 */
const LARGE_BUDGET_BYTES = 64 * 1024 * 1024
/**
 * The maximum time that an answer waits in the queue, and that it occupies the queue after its end.
 * Delivery to a slow client may take longer; such an answer still counts in the memory budget.
 */
const LARGE_WAIT_MILLIS = 1000
/** The maximum wait in the queue of large answers, as a share of the answer's remaining time. */
const WAIT_SHARE = 0.1

/**
 * The expected number of bytes of the whole answer, from its `content-length`; at most `maxBytes`
 * are ever read.
 */
const expectedBytes = ({ headers }: WireHead, maxBytes: number): number =>
  Math.min(maxBytes, Number(headers["content-length"]) || EXPECTED_BYTES)

/** A callback with a time-out; `partialOf` returns the part of the answer received by then. */
const callbackWithTimeout = <A, E>(
  setAlarm: SetAlarm,
  timeout: Duration.Duration,
  register: (resume: (effect: Effect.Effect<A, E>) => void) => () => void,
  partialOf: () => PartialAnswer | null = () => null
): Effect.Effect<A, E | WireLate> =>
  Effect.callback<A, E | WireLate>((resume) => {
    const cancelAlarm = setAlarm(Duration.toMillis(timeout), () => {
      resume(Effect.fail(new WireLate({ partial: partialOf() })))
      stop()
    })
    const stop = register((effect) => {
      cancelAlarm()
      resume(effect)
    })
    return Effect.sync(() => {
      cancelAlarm()
      stop()
    })
  })

/**
 * Admits one answer to memory. The bytes of the answer count in the memory budget of the waiting
 * client, and a large answer also waits for its turn in the queue. The connection is paused while
 * the answer waits for the budget or for its turn.
 */
const makeAdmission = (
  answer: (typeof CurrentAnswer)["Service"],
  largeAnswers: LargeAnswers,
  bounds: { readonly maxBytes: number; readonly remainingMillis: () => number }
) => {
  let largeAnswer: LargeAnswer | null = null
  let reservation: Reservation | null = null
  return {
    reserve: (controller: Dispatcher.DispatchController, head: WireHead, length: number): void => {
      reservation?.growTo(length)
      if (reservation !== null || answer === null || length <= RESERVED_BYTES) return
      const expected = Math.max(length, Number(head.headers["content-length"]) || 0)
      let isPaused = false
      reservation = answer.reserve(Math.min(expected, bounds.maxBytes), () => {
        // The connection is resumed in a microtask, because reading from another connection must
        // not start while an HTTP parser runs.
        queueMicrotask(() => {
          if (isPaused && largeAnswer?.isReading() !== false) controller.resume()
        })
      })
      isPaused = reservation.isWaiting()
      if (isPaused) controller.pause()
    },
    enterQueue: (
      controller: Dispatcher.DispatchController,
      head: WireHead,
      length: number
    ): void => {
      largeAnswer?.noteArrived(length)
      if (largeAnswer !== null || length <= LARGE_BYTES) return
      const resume = () => {
        if (reservation?.isWaiting() !== true) controller.resume()
      }
      // The wait is limited to a share of the remaining time, so that the vendor keeps most of it.
      const maxWaitMillis = bounds.remainingMillis() * WAIT_SHARE
      largeAnswer = largeAnswers.enter(expectedBytes(head, bounds.maxBytes), resume, maxWaitMillis)
      if (!largeAnswer.isReading()) controller.pause()
    },
    /** Records that the answer has arrived; true if it holds memory that must be released. */
    end: (): boolean => {
      largeAnswer?.end()
      reservation?.begin()
      return largeAnswer !== null || reservation !== null
    },
    release: (): void => {
      largeAnswer?.release()
      reservation?.release()
    }
  }
}

/** What every request of a wire is sent with. */
interface WireTools {
  readonly agent: Dispatcher
  readonly setAlarm: SetAlarm
  readonly encode: (request: VendorRequest) => ReturnType<typeof encodeRequest>
}

const makeExchange =
  (
    { agent, setAlarm, encode }: WireTools,
    largeAnswers: LargeAnswers
  ): VendorWire["Service"]["exchange"] =>
  (request, { timeout, maxBytes }) =>
    Effect.flatMap(encode(request), (encodedRequest) =>
      Effect.withFiber((fiber) => {
        const answer = fiber.getRef(CurrentAnswer)
        let head: WireHead = { status: 0, headers: {} }
        let length = 0
        /** The received part; null while only hints (heads with a status below 200) have arrived. */
        const partialOf = () => (head.status < 200 ? null : { head, bytes: length })
        const register = (resume: (effect: Effect.Effect<WireAnswer, WireFault>) => void) => {
          const chunks: Array<Uint8Array> = []
          const sentAt = performance.now()
          const admission = makeAdmission(answer, largeAnswers, {
            maxBytes,
            remainingMillis: () => Duration.toMillis(timeout) - (performance.now() - sentAt)
          })
          const { release } = admission
          const fail = (cause: unknown, isSent: boolean) => {
            release()
            resume(Effect.fail(new WireFault({ cause, partial: partialOf(), isSent })))
          }
          const abort = dispatch(agent, encodedRequest, fail, {
            onResponseStart: (_, status, headers) => {
              head = { status, headers }
            },
            onResponseData: (controller, chunk) => {
              length += chunk.byteLength
              if (length > maxBytes) {
                release()
                resume(Effect.succeed({ ...head, raw: new RawAnswer(chunks), isComplete: false }))
                return abort()
              }
              chunks.push(chunk)
              admission.reserve(controller, head, length)
              admission.enterQueue(controller, head, length)
            },
            onResponseEnd: () => {
              const isReserved = admission.end()
              // The memory is released soon after the client's connection has closed, because the
              // order then needs the answer only for a short time.
              if (isReserved) answer?.onClose(() => setTimeout(release, LARGE_WAIT_MILLIS).unref())
              const raw = new RawAnswer(chunks, isReserved ? release : undefined)
              resume(Effect.succeed({ ...head, raw, isComplete: true }))
            }
          })
          return () => {
            release()
            abort()
          }
        }
        return callbackWithTimeout(setAlarm, timeout, register, partialOf)
      })
    )

/** Opens an answer whose body is read while it arrives. */
const makeOpen = ({ agent, setAlarm, encode }: WireTools): VendorWire["Service"]["open"] =>
  Effect.fnUntraced(function* (request, timeout) {
    const unreadChunks: Array<Uint8Array> = []
    let unreadBytes = 0
    let end: Effect.Effect<null, WireFault> | null = null
    let controller: Dispatcher.DispatchController | null = null
    let abort = (): void => undefined
    let wakeReader = (): void => undefined
    const stop = () => {
      if (end === null) abort()
    }
    yield* onScopeEnd((exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) stop()
        else if (end === null) setTimeout(stop, END_WAIT_MILLIS).unref()
      })
    )

    const encodedRequest = yield* encode(request)
    const head = yield* callbackWithTimeout<WireHead, WireFault>(setAlarm, timeout, (resume) => {
      const fail = (cause: unknown, isSent: boolean) => {
        // `partial` is null, because the reader of an open answer already has its head and counts
        // the bytes itself.
        const failure = Effect.fail(new WireFault({ cause, partial: null, isSent }))
        end = failure
        resume(failure)
        wakeReader()
      }
      abort = dispatch(agent, encodedRequest, fail, {
        onResponseStart: (_, status, headers) => {
          // A head with a status below 200 is only a hint that precedes the head of the answer.
          if (status >= 200) resume(Effect.succeed({ status, headers }))
        },
        onResponseData: (hasDispatched, bytes) => {
          controller = hasDispatched
          unreadChunks.push(bytes)
          unreadBytes += bytes.byteLength
          if (unreadBytes > MAX_UNREAD_BYTES) hasDispatched.pause()
          wakeReader()
        },
        onResponseEnd: () => {
          end = Effect.succeed(null)
          wakeReader()
        }
      })
      return stop
    })

    /** The next bytes, or the end; null while neither has arrived. */
    const next = (): Effect.Effect<Uint8Array | null, WireFault> | null => {
      const bytes = unreadChunks.shift()
      if (bytes === undefined) return end
      unreadBytes -= bytes.byteLength
      if (unreadBytes <= MAX_UNREAD_BYTES && controller?.paused === true) controller.resume()
      return Effect.succeed(bytes)
    }
    const read: OpenAnswer["read"] = (timeout) =>
      Effect.suspend(
        () =>
          next() ??
          callbackWithTimeout<Uint8Array | null, WireFault | WireLate>(
            setAlarm,
            timeout,
            (resume) => {
              // The reader takes the bytes when it runs, so that an interruption loses none.
              wakeReader = () => resume(read(timeout))
              // The check is repeated, because data may have arrived since the first one: fibers
              // yield at any step.
              if (unreadChunks.length > 0 || end !== null) wakeReader()
              return () => undefined
            }
          )
      )
    return { ...head, read }
  })

/**
 * Refuses host names that resolve to link-local addresses. A channel that is allowed to have such
 * an address must contain it in the base address itself, not behind a host name.
 */
const withoutLinkLocal: LookupPolicy = {
  isAllowed: (address) => !isLinkLocal(address),
  refusal: { message: "the name leads to no address that may be called", code: "EACCES" }
}

/**
 * Connections are kept open between requests. The caller sets all time-outs, except for the queue
 * of large answers.
 */
export const layerVendorWireWith = (
  makeQueue: () => LargeAnswers,
  resolve: LookupFunction = lookup
) =>
  Layer.effect(
    VendorWire,
    Effect.gen(function* () {
      const agent = yield* makeAgent(filteredLookup(resolve, withoutLinkLocal))
      // Some vendors compress answers although the request has no `accept-encoding`. The
      // decompressed size is limited while the answer is read.
      const reader = agent.compose(interceptors.decompress({ skipErrorResponses: false }))
      const random = yield* SecureRandom.SecureRandom
      const tools: WireTools = {
        agent: reader,
        setAlarm: yield* makeAlarms,
        encode: (request) => encodeRequest(random, request)
      }
      return VendorWire.of({ exchange: makeExchange(tools, makeQueue()), open: makeOpen(tools) })
    })
  )

export const layerVendorWire = layerVendorWireWith(() =>
  makeLargeAnswers({ budgetBytes: LARGE_BUDGET_BYTES, maxWaitMillis: LARGE_WAIT_MILLIS })
)
