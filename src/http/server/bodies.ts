/**
 * Reads request bodies within a memory budget. Arrived bytes count until their request is answered.
 * A customer's large body does not reserve its declared length, as otherwise slow clients could use
 * up the budget by sending headers alone.
 */
import { IncomingMessage } from "node:http"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { InvalidRequest, Overloaded, PayloadTooLarge } from "../../domain/Errors.ts"
import { makeShares } from "../../runtime/Shares.ts"
import { type ExceededLimit, type JsonBounds, walkJson } from "../../runtime/texts/jsonWalk.ts"
import { MAX_FIELD_BYTES } from "../api/forms.ts"
import { joinBuffers, parseJson, textOf } from "./jsonBody.ts"

/** The maximum share of the budget for one organisation, so that room is left for others. */
const OWNER_SHARE = 0.5
/**
 * The maximum declared length of a body that reserves its whole size from the budget immediately,
 * which is cheaper than reserving chunk by chunk.
 */
const SHORT_BYTES = 16 * 1024
/**
 * The size of the blocks into which small chunks are copied: without them, a chunk of one byte
 * would use hundreds of bytes of memory.
 */
const BLOCK_BYTES = 4 * 1024
/** The budget owner of all operators' bodies, as operators have no organisation. */
const OPERATOR = "operator"

type Request = HttpServerRequest.HttpServerRequest

const budgetExhausted = new Overloaded({
  message:
    "Other requests' bodies take all the room there is for them; send this one again in a moment",
  retryAfterSeconds: 1
})

/**
 * The limit of a body without media, which is far more text than any model reads in one request.
 */
export const MAX_TEXTS_BYTES = 1024 * 1024

export const bodyTooLarge = (limit: number): PayloadTooLarge => {
  const message = `The body of this request may have at most ${limit} bytes`
  const hint = "; give addresses in place of inline media"
  return new PayloadTooLarge({ message: limit === MAX_TEXTS_BYTES ? `${message}${hint}` : message })
}

export const unreadableBody = new InvalidRequest({ message: "The body could not be read" })

/** The limits of a route's body. */
interface BodyBounds extends JsonBounds {
  readonly maxBytes: number
}

const limitExceeded = (limit: ExceededLimit, bounds: JsonBounds): InvalidRequest => {
  const limits = {
    levels: `${bounds.levels} levels`,
    values: `${bounds.values} values`,
    otherBytes: `${bounds.otherBytes} bytes beside long texts of ASCII, such as media in base64`
  }
  return new InvalidRequest({ message: `The body may have at most ${limits[limit]}` })
}

/** Reads a short body from its socket, which takes half the time of Effect's own reader. */
const readFromSocket = (source: IncomingMessage): Effect.Effect<Buffer, InvalidRequest> =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    const add = (chunk: Buffer) => void chunks.push(chunk)
    const end = () => {
      removeListeners()
      resume(Effect.succeed(joinBuffers(chunks)))
    }
    const fail = () => {
      removeListeners()
      resume(Effect.fail(unreadableBody))
    }
    const removeListeners = () => {
      source.off("data", add).off("end", end).off("error", fail).off("close", fail)
    }
    source.on("data", add).on("end", end).on("error", fail).on("close", fail)
    return Effect.sync(removeListeners)
  })

/** Collects the chunks of a body. Their memory is reserved as they arrive. */
const makeBlocks = (grow: (bytes: number) => boolean) => {
  const blocks: Array<Buffer> = []
  let block = Buffer.alloc(0)
  let usedBytes = 0
  const closeBlock = () => {
    blocks.push(block.subarray(0, usedBytes))
    block = block.subarray(usedBytes)
    usedBytes = 0
  }
  return {
    /** Appends a chunk; false when the budget has no room for it. */
    append: (chunk: Buffer): boolean => {
      if (chunk.byteLength >= BLOCK_BYTES) {
        if (!grow(chunk.byteLength)) return false
        closeBlock()
        blocks.push(chunk)
        return true
      }
      if (chunk.byteLength > block.byteLength - usedBytes) {
        if (!grow(BLOCK_BYTES)) return false
        closeBlock()
        block = Buffer.allocUnsafe(BLOCK_BYTES)
      }
      block.set(chunk, usedBytes)
      usedBytes += chunk.byteLength
      return true
    },
    /** Returns all blocks; the last block is cut to its used length. */
    end: (): Array<Buffer> => {
      closeBlock()
      return blocks
    }
  }
}

export const makeBodies = (budgetBytes: number) => {
  const budget = makeShares({
    perOwner: Math.floor(budgetBytes * OWNER_SHARE),
    total: budgetBytes
  })

  const reserve = (owner: string, bytes: number) =>
    Effect.flatMap(budget.reserve(owner, bytes), (isReserved) =>
      isReserved ? Effect.void : Effect.fail(budgetExhausted)
    )

  const readInChunks = Effect.fnUntraced(function* (
    owner: string,
    request: Request,
    bounds: BodyBounds
  ) {
    const reservation = yield* budget.openReservation(owner)
    const walk = walkJson(bounds)
    const blocks = makeBlocks(reservation.grow)
    let length = 0
    const append = ({ buffer, byteOffset, byteLength }: Uint8Array) => {
      const chunk = Buffer.from(buffer, byteOffset, byteLength)
      length += byteLength
      if (length > bounds.maxBytes) return bodyTooLarge(bounds.maxBytes)
      const violation = walk.push(chunk)
      if (violation !== null) return limitExceeded(violation, bounds)
      return blocks.append(chunk) ? null : budgetExhausted
    }
    const appendAll = (
      chunks: ReadonlyArray<Uint8Array>
    ): Effect.Effect<void, InvalidRequest | Overloaded | PayloadTooLarge> => {
      for (const chunk of chunks) {
        const error = append(chunk)
        if (error !== null) return Effect.fail(error)
      }
      return Effect.void
    }
    yield* Stream.runForEachArray(Stream.orDie(request.stream), appendAll)
    return { pieces: blocks.end(), walk }
  })

  const readAtOnce = (
    owner: string,
    request: Request,
    bounds: BodyBounds,
    declaredBytes: number
  ) => {
    const { source, headers } = request
    // Effect's own reader is used for operators, as the audit reads their bodies again, and for
    // clients that send `Expect: 100-continue`, as it answers them.
    const bytes =
      owner !== OPERATOR && source instanceof IncomingMessage && headers.expect === undefined
        ? readFromSocket(source)
        : Effect.map(Effect.orDie(request.arrayBuffer), (content) => Buffer.from(content))
    return Effect.andThen(reserve(owner, declaredBytes), bytes).pipe(
      Effect.flatMap((content) => {
        const walk = walkJson(bounds)
        const violation = walk.push(content)
        return violation === null
          ? Effect.succeed({ pieces: [content], walk })
          : Effect.fail(limitExceeded(violation, bounds))
      })
    )
  }

  return {
    /**
     * Reads a body within its bounds and keeps its bytes reserved until the scope closes. The body
     * can be parsed once, or be read as text any number of times. The organisation is null for operators:
     * their bodies of any size reserve their declared length immediately.
     */
    read: (organizationId: string | null, request: Request, bounds: BodyBounds) => {
      const owner = organizationId ?? OPERATOR
      const contentLength = request.headers["content-length"]
      // Of customers' bodies, only a short body of a known length is read in one piece. Any other
      // body is read in chunks, so that its limit is checked while chunks arrive.
      const isShort = contentLength !== undefined && Number(contentLength) <= SHORT_BYTES
      const body =
        organizationId === null || isShort
          ? readAtOnce(owner, request, bounds, Number(contentLength ?? bounds.maxBytes))
          : readInChunks(owner, request, bounds)
      return Effect.map(body, (bytes) => ({
        json: parseJson(bytes),
        text: Effect.sync(() => textOf(bytes.pieces))
      }))
    },
    /** Reserves room for a form whose files are skipped: one field at a time is in memory. */
    reserveSkippedForm: (organizationId: string | null) =>
      reserve(organizationId ?? OPERATOR, MAX_FIELD_BYTES),
    /** Reserves room for a form's bytes as they arrive, until the scope closes. */
    reserveStoredForm: (organizationId: string | null) =>
      Effect.map(
        budget.openReservation(organizationId ?? OPERATOR),
        (reservation) =>
          (bytes: number): Effect.Effect<void, Overloaded> =>
            reservation.grow(bytes) ? Effect.void : Effect.fail(budgetExhausted)
      )
  }
}
