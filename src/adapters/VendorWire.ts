/**
 * The connections to vendors. Requests go to `undici` straight from an effect: an answer is a handful
 * of events, and whatever stands between them and the adapter is paid for by every order.
 */
import { Context, Effect, Latch, Layer, Schema, type Scope } from "effect"
import { Agent, type Dispatcher } from "undici"
import type { VendorRequest } from "./vendorRequest.ts"

/** The request was not sent or its answer not read to the end; the cause tells which. */
export class WireFault extends Schema.TaggedError<WireFault>()("WireFault", {
  cause: Schema.Unknown
}) {}

export interface WireHead {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
}

export interface WireAnswer extends WireHead {
  /** In the pieces it came in. */
  readonly chunks: ReadonlyArray<Uint8Array>
  /** False when it would have been longer than what was asked for; the rest was not read. */
  readonly whole: boolean
}

export interface OpenAnswer extends WireHead {
  /** The next bytes, or null at the end. For one reader. */
  readonly read: Effect.Effect<Uint8Array | null, WireFault>
}

export class VendorWire extends Context.Service<
  VendorWire,
  {
    /** Sends the request and reads at most `maxBytes` of its answer. Redirects are not followed. */
    exchange(request: VendorRequest, maxBytes: number): Effect.Effect<WireAnswer, WireFault>
    /** The same, answered when the answer begins; what is not read by the scope's end is cut off. */
    open(request: VendorRequest): Effect.Effect<OpenAnswer, WireFault, Scope.Scope>
  }
>()("gateway/adapters/VendorWire") {}

/** Bytes of an answer that wait for a reader, before the vendor has to wait. */
const MAX_UNREAD = 256 * 1024

const notWanted = new Error("the answer is not wanted any more")

const optionsOf = ({ method, url, headers, body }: VendorRequest): Dispatcher.DispatchOptions => {
  const { origin, pathname, search } = new URL(url)
  return {
    origin,
    path: `${pathname}${search}`,
    method,
    headers,
    body: body === null ? null : JSON.stringify(body)
  }
}

const makeExchange =
  (agent: Dispatcher): VendorWire["Service"]["exchange"] =>
  (request, maxBytes) =>
    Effect.callback((resume) => {
      let running: Dispatcher.DispatchController | null = null
      let isWanted = true
      let head: WireHead = { status: 0, headers: {} }
      const chunks: Array<Uint8Array> = []
      let length = 0
      const fail = (cause: unknown) => resume(Effect.fail(new WireFault({ cause })))
      try {
        agent.dispatch(optionsOf(request), {
          onRequestStart: (controller) => {
            running = controller
            // It may have been given up while it waited for a connection.
            if (!isWanted) controller.abort(notWanted)
          },
          onResponseStart: (_, status, headers) => {
            head = { status, headers }
          },
          onResponseData: (controller, chunk) => {
            length += chunk.byteLength
            if (length <= maxBytes) {
              chunks.push(chunk)
              return
            }
            resume(Effect.succeed({ ...head, chunks, whole: false }))
            controller.abort(notWanted)
          },
          onResponseEnd: () => resume(Effect.succeed({ ...head, chunks, whole: true })),
          onResponseError: (_, error) => fail(error)
        })
      } catch (cause) {
        fail(cause)
      }
      return Effect.sync(() => {
        isWanted = false
        running?.abort(notWanted)
      })
    })

/** An answer that comes while it is read. */
const makeOpen = (agent: Dispatcher): VendorWire["Service"]["open"] =>
  Effect.fnUntraced(function* (request) {
    const arrived = yield* Latch.make(false)
    const unread: Array<Uint8Array> = []
    const state: {
      running: Dispatcher.DispatchController | null
      end: "open" | "ended" | WireFault
      isWanted: boolean
      waiting: number
    } = { running: null, end: "open", isWanted: true, waiting: 0 }
    const end = (how: "ended" | WireFault) => {
      if (state.end === "open") state.end = how
      arrived.openUnsafe()
    }
    const stop = Effect.sync(() => {
      state.isWanted = false
      if (state.end === "open") state.running?.abort(notWanted)
    })
    yield* Effect.addFinalizer(() => stop)

    const head = yield* Effect.callback<WireHead, WireFault>((resume) => {
      const fail = (cause: unknown) => {
        const fault = new WireFault({ cause })
        end(fault)
        resume(Effect.fail(fault))
      }
      try {
        agent.dispatch(optionsOf(request), {
          onRequestStart: (controller) => {
            state.running = controller
            // It may have been given up while it waited for a connection.
            if (!state.isWanted) controller.abort(notWanted)
          },
          onResponseStart: (_, status, headers) => resume(Effect.succeed({ status, headers })),
          onResponseData: (controller, chunk) => {
            unread.push(chunk)
            state.waiting += chunk.byteLength
            if (state.waiting > MAX_UNREAD) controller.pause()
            arrived.openUnsafe()
          },
          onResponseEnd: () => end("ended"),
          onResponseError: (_, error) => fail(error)
        })
      } catch (cause) {
        fail(cause)
      }
      return stop
    })

    const read: OpenAnswer["read"] = Effect.suspend(() => {
      const chunk = unread.shift()
      if (chunk !== undefined) {
        state.waiting -= chunk.byteLength
        if (state.running?.paused === true && state.waiting <= MAX_UNREAD) state.running.resume()
        return Effect.succeed(chunk)
      }
      if (state.end === "ended") return Effect.succeed(null)
      if (state.end !== "open") return Effect.fail(state.end)
      arrived.closeUnsafe()
      return Effect.andThen(arrived.await, read)
    })
    return { ...head, read }
  })

/** Connections are kept open between requests; how long anything may take is the caller's to say. */
export const layerVendorWire = Layer.effect(
  VendorWire,
  Effect.gen(function* () {
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ headersTimeout: 0, bodyTimeout: 0 })),
      (agent) => Effect.promise(() => agent.destroy())
    )
    return VendorWire.of({ exchange: makeExchange(agent), open: makeOpen(agent) })
  })
)
