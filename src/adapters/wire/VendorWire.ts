/**
 * The connections to vendors. Requests go to `undici` straight from an effect: an answer is a handful
 * of events, and all that stands between them and the adapter is paid for by every order.
 */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { Context, Duration, Effect, Exit, Layer, Schema, type Scope } from "effect"
import { Agent, type Dispatcher, interceptors } from "undici"
import { isLinkLocal } from "../../domain/catalog/linkLocal.ts"
import { RawAnswer } from "../../domain/RawAnswer.ts"
import { CurrentAnswer, type Reservation } from "../../runtime/AnswerBudget.ts"
import { makeAlarms, type SetAlarm } from "../../runtime/alarms.ts"
import { filteredLookup, type LookupPolicy } from "../../runtime/filteredLookup.ts"
import { type LargeAnswer, type LargeAnswers, makeLargeAnswers } from "./largeAnswers.ts"
import { dispatch, type VendorRequest, written } from "./vendorRequest.ts"

const HeaderValue = Schema.Union([Schema.String, Schema.Array(Schema.String), Schema.Undefined])

const WireHead = Schema.Struct({
  status: Schema.Int,
  /** Names in lower case. */
  headers: Schema.Record(Schema.String, HeaderValue)
})
export type WireHead = typeof WireHead.Type

/** What had come of an answer that was not read to its end. */
const BegunAnswer = Schema.Struct({ head: WireHead, bytes: Schema.Int })
export type BegunAnswer = typeof BegunAnswer.Type

/** Null where nothing had come. */
const begun = Schema.NullOr(BegunAnswer)

/** The request was not sent or its answer not read to the end; the cause tells which. */
export class WireFault extends Schema.TaggedError<WireFault>()("WireFault", {
  cause: Schema.Unknown,
  begun,
  /** Set where a connection stood, and the request was on its way. */
  isSent: Schema.optionalKey(Schema.Boolean)
}) {}

/** The answer was not there in the time it had. */
export class WireLate extends Schema.TaggedError<WireLate>()("WireLate", { begun }) {}

export interface WireLimits {
  /** For the whole answer, from now on. */
  readonly timeout: Duration.Duration
  /** What is beyond is not read. */
  readonly maxBytes: number
}

export interface WireAnswer extends WireHead {
  readonly raw: RawAnswer
  /** False when it would have been longer than what was asked for; the rest was not read. */
  readonly whole: boolean
}

export interface OpenAnswer extends WireHead {
  /** The next bytes, or null at the end, within the time. For one reader. */
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
     * The same, answered when the answer begins. When the scope ends well, what was not read has a
     * moment to end, so that the connection is used again; else it is cut off.
     */
    open(
      request: VendorRequest,
      timeout: Duration.Duration
    ): Effect.Effect<OpenAnswer, WireFault | WireLate, Scope.Scope>
  }
>()("gateway/adapters/VendorWire") {}

/** Bytes of an answer that wait for a reader, before the vendor has to wait. */
const MAX_UNREAD = 256 * 1024

/** How long the end of an answer may take after all that is wanted of it. */
const END_PATIENCE_MILLIS = 250

/** Smaller answers do not count until they leave: as many as may be under way fit into memory. */
const COUNTED_BYTES = 64 * 1024
/** Smaller answers are read as they come: all of those that a process has open fit in its memory. */
const LARGE_BYTES = 512 * 1024
/** What a large answer that does not tell its length is taken for: an image of the usual size. */
const EXPECTED_BYTES = 4 * 1024 * 1024
/** Sixteen such images keep a core busy where clients take them as fast as they come. */
const LARGE_TOGETHER_BYTES = 64 * 1024 * 1024
/** Where clients are slow, an image's way to them is longer than this, and memory is there for them. */
const LARGE_PATIENCE_MILLIS = 1000
/** The part of its remaining time that an answer may wait for its turn. */
const WAIT_SHARE = 0.1

/** Bytes of the whole answer, as far as its head tells; no more than `maxBytes` are ever read. */
const expectedBytes = ({ headers }: WireHead, maxBytes: number): number =>
  Math.min(maxBytes, Number(headers["content-length"]) || EXPECTED_BYTES)

/** A callback that fails when it takes too long; `begun` is what had come of an answer by then. */
const callbackWithin = <A, E>(
  setAlarm: SetAlarm,
  timeout: Duration.Duration,
  register: (resume: (effect: Effect.Effect<A, E>) => void) => () => void,
  begun: () => BegunAnswer | null = () => null
): Effect.Effect<A, E | WireLate> =>
  Effect.callback<A, E | WireLate>((resume) => {
    const putOff = setAlarm(Duration.toMillis(timeout), () => {
      resume(Effect.fail(new WireLate({ begun: begun() })))
      stop()
    })
    const stop = register((effect) => {
      putOff()
      resume(effect)
    })
    return Effect.sync(() => {
      putOff()
      stop()
    })
  })

const makeExchange =
  (
    agent: Dispatcher,
    setAlarm: SetAlarm,
    largeAnswers: LargeAnswers
  ): VendorWire["Service"]["exchange"] =>
  (request, { timeout, maxBytes }) =>
    Effect.flatMap(Effect.zip(CurrentAnswer, written(request)), ([answer, body]) => {
      let head: WireHead = { status: 0, headers: {} }
      let length = 0
      /** Hints may come before the answer's own head. */
      const begun = () => (head.status < 200 ? null : { head, bytes: length })
      const register = (resume: (effect: Effect.Effect<WireAnswer, WireFault>) => void) => {
        const chunks: Array<Uint8Array> = []
        let large: LargeAnswer | null = null
        /** The answer's bytes in the budget, where somebody waits for it. */
        let counted: Reservation | null = null
        const leave = () => {
          large?.leave()
          counted?.release()
        }
        const sentAt = performance.now()
        const fail = (cause: unknown, isSent: boolean) => {
          leave()
          resume(Effect.fail(new WireFault({ cause, begun: begun(), isSent })))
        }
        const giveUp = dispatch(agent, request, body, fail, {
          onResponseStart: (_, status, headers) => {
            head = { status, headers }
          },
          onResponseData: (controller, chunk) => {
            length += chunk.byteLength
            if (length > maxBytes) {
              leave()
              resume(Effect.succeed({ ...head, raw: new RawAnswer(chunks), whole: false }))
              return giveUp()
            }
            chunks.push(chunk)
            if (answer !== null && counted === null && length > COUNTED_BYTES) {
              const expected = Math.max(length, Number(head.headers["content-length"]) || 0)
              let isPaused = false
              counted = answer.reserve(Math.min(expected, maxBytes), () => {
                // The HTTP parser that is at work must not be asked to read for another connection.
                queueMicrotask(() => {
                  if (isPaused && large?.isReading() !== false) controller.resume()
                })
              })
              isPaused = counted.isWaiting()
              if (isPaused) controller.pause()
            } else counted?.growTo(length)
            if (large !== null) large.reach(length)
            else if (length > LARGE_BYTES) {
              // What it has waited for its vendor is not to be lost because it waits for others.
              const left = Duration.toMillis(timeout) - (performance.now() - sentAt)
              const expected = expectedBytes(head, maxBytes)
              const goOn = () => {
                if (counted?.isWaiting() !== true) controller.resume()
              }
              large = largeAnswers.enter(expected, goOn, left * WAIT_SHARE)
              if (!large.isReading()) controller.pause()
            }
          },
          onResponseEnd: () => {
            large?.end()
            counted?.begin()
            const isCounted = large !== null || counted !== null
            // Where nobody waits for it any more, its order is done with it in a moment.
            if (isCounted) answer?.onClose(() => setTimeout(leave, LARGE_PATIENCE_MILLIS).unref())
            const raw = new RawAnswer(chunks, isCounted ? leave : undefined)
            resume(Effect.succeed({ ...head, raw, whole: true }))
          }
        })
        return () => {
          leave()
          giveUp()
        }
      }
      return callbackWithin(setAlarm, timeout, register, begun)
    })

/** An answer that comes while it is read. */
const makeOpen = (agent: Dispatcher, setAlarm: SetAlarm): VendorWire["Service"]["open"] =>
  Effect.fnUntraced(function* (request, timeout) {
    const unread: Array<Uint8Array> = []
    let unreadBytes = 0
    let end: Effect.Effect<null, WireFault> | null = null
    let running: Dispatcher.DispatchController | null = null
    let giveUp = (): void => undefined
    let wakeReader = (): void => undefined
    const stop = () => {
      if (end === null) giveUp()
    }
    yield* Effect.addFinalizer((exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) stop()
        else if (end === null) setTimeout(stop, END_PATIENCE_MILLIS).unref()
      })
    )

    const body = yield* written(request)
    const head = yield* callbackWithin<WireHead, WireFault>(setAlarm, timeout, (resume) => {
      const fail = (cause: unknown, isSent: boolean) => {
        // Whoever reads an open answer has its head.
        const failure = Effect.fail(new WireFault({ cause, begun: null, isSent }))
        end = failure
        resume(failure)
        wakeReader()
      }
      giveUp = dispatch(agent, request, body, fail, {
        onResponseStart: (_, status, headers) => {
          // Hints may come before the answer's own head.
          if (status >= 200) resume(Effect.succeed({ status, headers }))
        },
        onResponseData: (controller, bytes) => {
          running = controller
          unread.push(bytes)
          unreadBytes += bytes.byteLength
          if (unreadBytes > MAX_UNREAD) controller.pause()
          wakeReader()
        },
        onResponseEnd: () => {
          end = Effect.succeed(null)
          wakeReader()
        }
      })
      return stop
    })

    const read: OpenAnswer["read"] = (timeout) =>
      Effect.suspend(() => {
        const bytes = unread.shift()
        if (bytes !== undefined) {
          unreadBytes -= bytes.byteLength
          if (unreadBytes <= MAX_UNREAD && running?.paused === true) running.resume()
          return Effect.succeed(bytes)
        }
        if (end !== null) return end
        const arrival = callbackWithin<void, never>(setAlarm, timeout, (resume) => {
          wakeReader = () => resume(Effect.void)
          // It may have come since this was begun, as fibers make way for other work at any step.
          if (unread.length > 0 || end !== null) wakeReader()
          return () => undefined
        })
        return Effect.andThen(arrival, read(timeout))
      })
    return { ...head, read }
  })

/**
 * The catalog takes link-local addresses only where they stand in a base address themselves, so names
 * may not resolve to them.
 */
const withoutLinkLocal: LookupPolicy = {
  isAllowed: (address) => !isLinkLocal(address),
  refusal: { message: "the name leads to no address that may be called", code: "EACCES" }
}

/**
 * Connections are kept open between requests. The caller says how long anything may take, except for
 * the turns of large answers.
 */
export const layerVendorWireWith = (
  makeTurns: () => LargeAnswers,
  resolve: LookupFunction = lookup
) =>
  Layer.effect(
    VendorWire,
    Effect.gen(function* () {
      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              headersTimeout: 0,
              bodyTimeout: 0,
              connect: { lookup: filteredLookup(resolve, withoutLinkLocal) }
            })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )
      // Vendors compress although they are not asked to; what an answer becomes is bounded as it is read.
      const reader = agent.compose(interceptors.decompress({ skipErrorResponses: false }))
      const setAlarm = yield* makeAlarms
      return VendorWire.of({
        exchange: makeExchange(reader, setAlarm, makeTurns()),
        open: makeOpen(reader, setAlarm)
      })
    })
  )

export const layerVendorWire = layerVendorWireWith(() =>
  makeLargeAnswers({ budgetBytes: LARGE_TOGETHER_BYTES, patienceMillis: LARGE_PATIENCE_MILLIS })
)
