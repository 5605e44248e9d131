/**
 * How bodies are read, and the room there is for them. What has arrived of a body counts until its
 * request is answered; what it says of its length does not, or slow clients would take all the room
 * with nothing but a head.
 */
import { IncomingMessage } from "node:http"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { InvalidRequest, Overloaded, PayloadTooLarge } from "../../domain/Errors.ts"
import { makeShares } from "../../runtime/Shares.ts"
import { type JsonBounds, type Passed, walkJson } from "../../runtime/texts/jsonWalk.ts"
import { MAX_FIELD_BYTES } from "../api/forms.ts"
import { parseJson, textOf } from "./jsonBody.ts"

/** Of the bytes of all bodies: so that one organisation leaves room for the others. */
const SHARE_OF_BODIES = 0.5
/** Bodies that are to be no longer count whole from the start, which costs least. */
const SHORT_BYTES = 16 * 1024
/** Small pieces are put total: one of a single byte would take hundreds of them. */
const BLOCK_BYTES = 4 * 1024
/** Whose bodies count together where no key is asked for: the operator's. */
const OPERATOR = "operator"

type Request = HttpServerRequest.HttpServerRequest

const noRoom = new Overloaded({
  message:
    "Other requests' bodies take all the room there is for them; send this one again in a moment",
  retryAfterSeconds: 1
})

/** Of a body without media: far beyond the texts that any model reads at once. */
export const MAX_TEXTS_BYTES = 1024 * 1024

export const bodyTooLarge = (limit: number): PayloadTooLarge => {
  const most = `The body of this request may have at most ${limit} bytes`
  const hint = "; give addresses in place of inline media"
  return new PayloadTooLarge({ message: limit === MAX_TEXTS_BYTES ? `${most}${hint}` : most })
}

export const unreadableBody = new InvalidRequest({ message: "The body could not be read" })

/** What a route takes of a body. */
interface BodyBounds extends JsonBounds {
  readonly maxBytes: number
}

const passes = (passed: Passed, bounds: JsonBounds): InvalidRequest => {
  const most = {
    levels: `${bounds.levels} levels`,
    values: `${bounds.values} values`,
    otherBytes: `${bounds.otherBytes} bytes beside long texts of ASCII, such as media in base64`
  }
  return new InvalidRequest({ message: `The body may have at most ${most[passed]}` })
}

/** Reads a short body off its socket, in half the time of Effect's own reader. */
const readFromSocket = (source: IncomingMessage): Effect.Effect<Buffer, InvalidRequest> =>
  Effect.callback((resume) => {
    const pieces: Array<Buffer> = []
    const add = (piece: Buffer) => void pieces.push(piece)
    const end = () => {
      leave()
      const [only] = pieces
      resume(
        Effect.succeed(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces))
      )
    }
    const fail = () => {
      leave()
      resume(Effect.fail(unreadableBody))
    }
    const leave = () => {
      source.off("data", add).off("end", end).off("error", fail).off("close", fail)
    }
    source.on("data", add).on("end", end).on("error", fail).on("close", fail)
    return Effect.sync(leave)
  })

export const makeBodies = (budgetBytes: number) => {
  const room = makeShares({
    perOwner: Math.floor(budgetBytes * SHARE_OF_BODIES),
    total: budgetBytes
  })

  const take = (owner: string, bytes: number) =>
    Effect.flatMap(room.reserve(owner, bytes), (isRoom) =>
      isRoom ? Effect.void : Effect.fail(noRoom)
    )

  const readAsItComes = Effect.fnUntraced(function* (
    owner: string,
    request: Request,
    bounds: BodyBounds
  ) {
    const share = yield* room.openReservation(owner)
    const walk = walkJson(bounds)
    const full: Array<Buffer> = []
    let block = Buffer.alloc(0)
    let used = 0
    let length = 0
    const keep = (
      arrived: ReadonlyArray<Uint8Array>
    ): Effect.Effect<void, InvalidRequest | Overloaded | PayloadTooLarge> => {
      for (const { buffer, byteOffset, byteLength } of arrived) {
        const piece = Buffer.from(buffer, byteOffset, byteLength)
        length += byteLength
        if (length > bounds.maxBytes) return Effect.fail(bodyTooLarge(bounds.maxBytes))
        const passed = walk.push(piece)
        if (passed !== null) return Effect.fail(passes(passed, bounds))
        const isLarge = byteLength >= BLOCK_BYTES
        if (isLarge || byteLength > block.byteLength - used) {
          if (!share.grow(isLarge ? byteLength : BLOCK_BYTES)) return Effect.fail(noRoom)
          full.push(block.subarray(0, used))
          block = isLarge ? block.subarray(used) : Buffer.allocUnsafe(BLOCK_BYTES)
          used = 0
        }
        if (isLarge) full.push(piece)
        else {
          block.set(piece, used)
          used += byteLength
        }
      }
      return Effect.void
    }
    yield* Stream.runForEachArray(Stream.orDie(request.stream), keep)
    full.push(block.subarray(0, used))
    return { pieces: full, walk }
  })

  const readWhole = Effect.fnUntraced(function* (
    owner: string,
    request: Request,
    bounds: BodyBounds,
    expected: number
  ) {
    yield* take(owner, expected)
    const { source, headers } = request
    // Who expects to be told to go on is told by Effect's own reader.
    const bytes =
      owner !== OPERATOR && source instanceof IncomingMessage && headers.expect === undefined
        ? yield* readFromSocket(source)
        : Buffer.from(yield* Effect.orDie(request.arrayBuffer))
    const walk = walkJson(bounds)
    const passed = walk.push(bytes)
    return passed === null ? { pieces: [bytes], walk } : yield* passes(passed, bounds)
  })

  return {
    /**
     * Reads a body within its bounds and keeps its room until the scope closes. The body is read once,
     * either as a text or as parsed JSON. Null stands for the operator, who is trusted with the room,
     * and whose writes are audited with their bodies.
     */
    read: (organizationId: string | null, request: Request, bounds: BodyBounds) => {
      const owner = organizationId ?? OPERATOR
      const told = request.headers["content-length"]
      // What tells no length may be longer than it should, which is seen as it comes.
      const isShort = told !== undefined && Number(told) <= SHORT_BYTES
      const body =
        organizationId === null || isShort
          ? readWhole(owner, request, bounds, Number(told ?? bounds.maxBytes))
          : readAsItComes(owner, request, bounds)
      return Effect.map(body, (bytes) => ({
        json: parseJson(bytes),
        text: Effect.sync(() => textOf(bytes.pieces.splice(0)))
      }))
    },
    /** Keeps room for a form that is read over: one field at a time is in memory. */
    form: (organizationId: string | null) => take(organizationId ?? OPERATOR, MAX_FIELD_BYTES),
    /** Makes room for a form's bytes as they come, and keeps it until the scope closes. */
    keptForm: (organizationId: string | null) =>
      Effect.map(
        room.openReservation(organizationId ?? OPERATOR),
        (share) =>
          (bytes: number): Effect.Effect<void, Overloaded> =>
            share.grow(bytes) ? Effect.void : Effect.fail(noRoom)
      )
  }
}
