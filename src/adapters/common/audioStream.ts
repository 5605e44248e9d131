/** Streamed answers of speech: events that have a sound or a text, as they arrive. */
import { Effect, Predicate } from "effect"
import type { VendorFailure } from "../../domain/VendorOutcome.ts"
import type { ChannelAccount, WorkPiece } from "../../services/ProtocolAdapter.ts"
import { isDone, readEvent } from "../wire/eventBlocks.ts"
import type { VendorLimits } from "../wire/limits.ts"
import { judgeFailure, judgeStreamFailure, type RefusalTable } from "../wire/refusalTable.ts"
import type { VendorWire } from "../wire/VendorWire.ts"
import {
  boundsOf,
  eventHead,
  parseBody,
  partialAnswer,
  type SendOptions,
  type VendorAnswer
} from "../wire/vendorAnswer.ts"
import { brokenAnswer, refusal } from "../wire/vendorFailures.ts"
import type { VendorRequest } from "../wire/vendorRequest.ts"
import { sendForEvents } from "../wire/vendorStream.ts"

/** An event as the client gets it, and whether it is the end of the product. */
export interface AudioEvent {
  readonly piece: WorkPiece
  readonly isLast: boolean
}

/** How the events of a vendor are read. */
export interface AudioDialect {
  readonly readAudio: (event: object, bytes: Buffer) => AudioEvent
  /** Whether an event without a part of the product is an error. */
  readonly isError: (event: object) => boolean
  readonly refusals: RefusalTable
  /** The bytes for the client in place of an event without data; null for none. */
  readonly comment: Uint8Array | null
  /** The answer that is judged in place of one that is no stream. */
  readonly wholeAnswer?: (answer: VendorAnswer) => VendorAnswer
  /** The failure of an answer that is no stream. */
  readonly failureOf: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure
}

/** Reads the events of a sound or of a text in order. */
const makeEvents = (account: ChannelAccount, options: SendOptions, dialect: AudioDialect) => {
  let failure: VendorFailure | null = null
  let isFirst = true
  let hasProduct = false
  let isComplete = false
  const comment = { bytes: dialect.comment, hasProduct: false, usage: null, outputBytes: 0 }

  const read = (event: Buffer): { readonly piece: WorkPiece | null; readonly isLast: boolean } => {
    const { data } = readEvent(event)
    if (data === null) return { piece: comment, isLast: false }
    if (isDone(data)) return { piece: null, isLast: true }
    const value = parseBody(data, boundsOf(options))
    if (!Predicate.isObject(value)) return { piece: null, isLast: false }
    const { piece, isLast } = dialect.readAudio(value, event)
    if (!piece.hasProduct && dialect.isError(value)) {
      const answer = partialAnswer(eventHead, value, event.byteLength)
      failure = judgeStreamFailure(dialect.refusals, answer, refusal(account, answer), isFirst)
      return { piece: null, isLast: true }
    }
    isFirst = false
    hasProduct ||= piece.hasProduct
    isComplete ||= isLast
    return { piece, isLast }
  }

  return { read, failure: () => failure, isWhole: () => isComplete && hasProduct }
}

/** Passes the events of an answer on, and fails where they are not a whole product. */
export const makeAudioStreaming = (wire: VendorWire["Service"], limits: VendorLimits) =>
  Effect.fnUntraced(function* (
    account: ChannelAccount,
    request: VendorRequest,
    dialect: AudioDialect,
    take: (pieces: ReadonlyArray<WorkPiece>) => Effect.Effect<void>
  ) {
    const events = makeEvents(account, limits.stream, dialect)
    const takeEvents = Effect.fnUntraced(function* (arrived: ReadonlyArray<Buffer>) {
      const pieces = arrived.map(events.read)
      yield* take(pieces.flatMap(({ piece }) => piece ?? []))
      return pieces.some(({ isLast }) => isLast)
    })
    const answer = yield* sendForEvents(wire, request, limits.stream, takeEvents).pipe(
      Effect.catchTag("VendorLost", (lostAnswer) =>
        events.isWhole() ? Effect.succeed(null) : Effect.fail(lostAnswer)
      )
    )
    if (answer === null) return
    if (!answer.isStream) {
      const failedAnswer = dialect.wholeAnswer?.(answer) ?? answer
      const failure = dialect.failureOf(account, failedAnswer)
      return yield* judgeFailure(dialect.refusals, failedAnswer, failure)
    }
    const failure = events.failure() ?? (events.isWhole() ? null : brokenAnswer(answer))
    if (failure !== null) return yield* failure
  })
