/**
 * elevenlabs: spoken texts in ElevenLabs' own form. The voice is a part of the address, and the format
 * of the sound a part of its query. The vendor's own fields of the order are forwarded. The answer is
 * the sound's bytes, which are also sent as events of the standard form where the client wants them.
 */
import { Effect, Predicate, Redacted, Result, Schema, Struct } from "effect"
import { audioProtocols } from "../domain/audio/AudioProtocol.ts"
import { type SpeechBody, speechFormatOf, voiceOf } from "../domain/speech/SpeechRequest.ts"
import type { VendorFailure } from "../domain/VendorOutcome.ts"
import type {
  AudioAdapter,
  ChannelAccount,
  ModelOrder,
  SpeechAdapter
} from "../services/ProtocolAdapter.ts"
import type { CheckDialect, ModelListDialect } from "./common/accountCheck.ts"
import { makeCheck, makeModelList } from "./common/adapterCalls.ts"
import { soundDelta, soundDone, soundPiece } from "./common/sounds.ts"
import { VendorLimits } from "./wire/limits.ts"
import { judgeFailure, meanings, refusalTable, type Shape } from "./wire/refusalTable.ts"
import { VendorWire } from "./wire/VendorWire.ts"
import type { VendorAnswer } from "./wire/vendorAnswer.ts"
import { localRefusal, refusal, unusableAnswer } from "./wire/vendorFailures.ts"
import { get, omitEmpty, post, rootOf, type VendorRequest } from "./wire/vendorRequest.ts"
import { sendForSound } from "./wire/vendorStream.ts"

// Wire schemas

const Text = Schema.NonEmptyString

/** The vendor's errors; older ones have only a `status`, newer ones a `code` and a `type` too. */
const isDetail = Schema.is(
  Schema.Struct({
    detail: Schema.Struct({
      message: Text,
      code: Schema.optional(Schema.Unknown),
      status: Schema.optional(Schema.Unknown)
    })
  })
)
const isFaultList = Schema.is(
  Schema.Struct({
    detail: Schema.NonEmptyArray(
      Schema.Struct({ loc: Schema.Array(Schema.Unknown), msg: Text, type: Text })
    )
  })
)
const isText = Schema.is(Text)
const isModels = Schema.is(
  Schema.Array(
    Schema.Struct({ model_id: Text, can_do_text_to_speech: Schema.optional(Schema.Unknown) })
  )
)

const detailShape: Shape = (body) =>
  isDetail(body) ? [body.detail.code, body.detail.status].filter(isText) : null

/** The shape `{detail: [{loc, msg, type}]}` of a body that the vendor cannot read, without a code. */
const faultListShape: Shape = (body) => (isFaultList(body) ? [] : null)

const MISSING_PERMISSIONS = "missing_permissions"

const refusals = refusalTable([detailShape, faultListShape], {
  concurrent_limit_exceeded: meanings.rate,
  [MISSING_PERMISSIONS]: meanings.access,
  needs_authorization: meanings.credentials,
  // The plan of the account lacks a voice or a format; the key works for others.
  "only_for_creator+": meanings.model,
  output_format_not_allowed: meanings.model,
  paid_plan_required: meanings.model,
  subscription_required: meanings.model,
  quota_exceeded: meanings.balance,
  rate_limit_exceeded: meanings.rate,
  system_busy: { ...meanings.rate, at: 429 },
  too_many_concurrent_requests: meanings.rate
})

// To the vendor

const urlOf = (account: ChannelAccount, path: string) => `${rootOf(account, "/v1")}/v1/${path}`

const headersOf = ({ apiKey }: ChannelAccount) => ({ "xi-api-key": Redacted.value(apiKey) })

const modelsRequest = (account: ChannelAccount) =>
  Result.succeed(get(urlOf(account, "models"), headersOf(account)))

/**
 * The vendor's name of each format, and the end of the address that makes it: WAV is made as a whole,
 * because its head states its length, and the others arrive as they are made. PCM and WAV have 24,000
 * samples per second, as in the common standard form.
 */
const outputs = new Map([
  ["mp3", "/stream?output_format=mp3_44100_128"],
  ["opus", "/stream?output_format=opus_48000_128"],
  ["pcm", "/stream?output_format=pcm_24000"],
  ["wav", "?output_format=wav_24000"]
])

const refuseField = (param: string, message: string) =>
  Result.fail(
    localRefusal(message, { detail: { type: "validation_error", message, param }, param })
  )

/** The fields of the standard form; all others are the vendor's own. */
const standardFields = [
  "model",
  "input",
  "voice",
  "instructions",
  "response_format",
  "speed",
  "stream_format"
] as const

/** The settings of the voice, in which the standard field for the speed counts. */
const settingsOf = (settings: unknown, speed: number | null): unknown =>
  speed === null ? settings : { ...(Predicate.isObject(settings) ? settings : {}), speed }

const speechRequest = (
  account: ChannelAccount,
  { body, upstreamModel }: ModelOrder<SpeechBody>
): Result.Result<VendorRequest, VendorFailure> => {
  const format = speechFormatOf(body, audioProtocols.elevenlabs.speech[0])
  const output = outputs.get(format)
  const voice = voiceOf(body)
  if (output === undefined) {
    return refuseField("response_format", `response_format ${format} is not offered`)
  }
  if (voice === null) return refuseField("voice", "voice is required")
  const fields: Readonly<Record<string, unknown>> = Struct.omit(body, standardFields)
  const path = `text-to-speech/${encodeURIComponent(voice.toWellFormed())}${output}`
  return Result.succeed(
    post(
      urlOf(account, path),
      headersOf(account),
      omitEmpty({
        ...fields,
        voice_settings: settingsOf(fields.voice_settings, body.speed ?? null),
        text: body.input,
        model_id: upstreamModel
      })
    )
  )
}

// From the vendor

const messageOf = (body: unknown): string | null => {
  if (isDetail(body)) return body.detail.message
  return isFaultList(body) ? body.detail.map(({ msg }) => msg).join("; ") : null
}

/** The failure of an answer that is not the requested one. */
const failureOf = (account: ChannelAccount, answer: VendorAnswer): VendorFailure => {
  const message = messageOf(answer.body)
  return answer.status >= 300 && message !== null
    ? refusal(account, answer, { message })
    : unusableAnswer(account, answer)
}

/** The failure of an order. A body that is no JSON may be the sound, and does not reach the client. */
const orderFailure = (account: ChannelAccount, answer: VendorAnswer): VendorFailure => {
  const readable = typeof answer.body === "string" ? { ...answer, body: null } : answer
  return judgeFailure(refusals, answer, failureOf(account, readable))
}

/** A key that may speak but not list models is refused so, which shows that the vendor knows it. */
const lacksPermission = (body: unknown): boolean =>
  detailShape(body)?.includes(MISSING_PERMISSIONS) === true

const readChecked: CheckDialect["readChecked"] = (account, answer) =>
  (answer.status < 300 && isModels(answer.body)) || lacksPermission(answer.body)
    ? Result.void
    : Result.fail(failureOf(account, answer))

const accountCheck: CheckDialect = {
  checkRequest: modelsRequest,
  readChecked,
  refusals,
  absentStatuses: new Set([404])
}

const modelList: ModelListDialect = {
  listRequest: modelsRequest,
  idsIn: (body) =>
    isModels(body)
      ? body
          .filter(({ can_do_text_to_speech: speaks }) => speaks !== false)
          .map(({ model_id }) => model_id)
      : null
}

// Calls

export const makeElevenLabs = Effect.gen(function* () {
  const wire = yield* VendorWire
  const limits = yield* VendorLimits

  const speak: SpeechAdapter["speak"] = Effect.fnUntraced(function* (account, order, take) {
    const request = yield* Effect.fromResult(speechRequest(account, order))
    const isInEvents = order.body.stream_format === "sse"
    const answer = yield* sendForSound(wire, request, limits.stream, (chunks) =>
      take(chunks.map((chunk) => soundPiece(isInEvents ? soundDelta(chunk) : chunk)))
    )
    if (!answer.isStream) return yield* orderFailure(account, answer)
    if (isInEvents) yield* take([{ ...soundPiece(soundDone()), hasProduct: false }])
  })

  return {
    speech: { speak },
    check: makeCheck(wire, accountCheck, limits),
    listModels: makeModelList(wire, limits, modelList)
  } satisfies AudioAdapter
})
