/**
 * The video protocol veo: Google Veo through the Gemini API. A job is a long-running operation, media
 * are sent as bytes, and a video is loaded with the key of the account that made it.
 */
import { Result, Schema } from "effect"
import { JobId, WebAddress } from "../domain/plainText.ts"
import type { VendorRefused } from "../domain/VendorOutcome.ts"
import {
  canSound,
  describeInputs,
  type InputRole,
  type PlacedOrder,
  placeMedia
} from "../domain/video/families/VideoFamily.ts"
import {
  EXTENDED_RESOLUTION,
  FULL_SECONDS,
  type VeoMode,
  veoFormsOf
} from "../domain/video/families/veo.ts"
import { textOf } from "../domain/video/VideoInput.ts"
import type { VideoOrder } from "../services/ProtocolAdapter.ts"
import { type VideoDialect, videoCalls } from "./common/adapterCalls.ts"
import {
  googleKey,
  googleModels,
  googleRefusals,
  googleUrl,
  type InlineMedium,
  inlineMedium,
  methodUrl,
  refuseArgument
} from "./common/googleApi.ts"
import { type StatusNames, taskStatus, unknownTask } from "./common/videoStatus.ts"
import { errorText } from "./wire/errorText.ts"
import { listOf } from "./wire/vendorAnswer.ts"
import { unusableAnswer } from "./wire/vendorFailures.ts"
import { get, omitEmpty, post } from "./wire/vendorRequest.ts"

// Wire schemas

/** The name of an operation, whose segments are a part of the path of every poll. */
const OperationName = JobId.check(
  Schema.isPattern(/^(?!.*(?:^|\/)(?:\.{0,2})(?:\/|$))/, {
    expected: "a name without empty steps of a path"
  })
)
const isSubmitted = Schema.is(Schema.Struct({ name: OperationName }))
/** Matches an operation. A result without `done` is not read, as it may not be complete. */
const isOperation = Schema.is(
  Schema.Struct({
    name: Schema.String,
    done: Schema.optional(Schema.Unknown),
    error: Schema.optional(Schema.Unknown),
    response: Schema.optional(Schema.Unknown)
  })
)
const isVideoResponse = Schema.is(
  Schema.Struct({
    generateVideoResponse: Schema.Struct({
      generatedSamples: Schema.optional(Schema.Unknown),
      raiMediaFilteredCount: Schema.optional(Schema.Unknown),
      raiMediaFilteredReasons: Schema.optional(Schema.Unknown)
    })
  })
)
const isSample = Schema.is(Schema.Struct({ video: Schema.Struct({ uri: WebAddress }) }))
const isCount = Schema.is(Schema.Int.check(Schema.isGreaterThan(0)))
const areReasons = Schema.is(Schema.NonEmptyArray(Schema.NonEmptyString))

// To the vendor

type PlacedVeoOrder = PlacedOrder<VeoMode>

const toImage = ({ mimeType, data }: InlineMedium) => ({ bytesBase64Encoded: data, mimeType })

/** The images by role, in the client's order; fails for an image that is an address. */
const readImages = ({ media }: PlacedVeoOrder) =>
  Result.gen(function* () {
    const images: Array<readonly [InputRole, InlineMedium]> = []
    for (const { role, url } of media) {
      if (role === "extend_video") continue
      const medium = inlineMedium(url)
      if (medium === undefined) {
        return yield* refuseArgument(
          "image: Expected an image as a data URL in base64, or an uploaded file: Google loads no image from an address",
          "image"
        )
      }
      images.push([role, medium])
    }
    return images
  })

const toInstance = (
  order: VideoOrder,
  { media }: PlacedVeoOrder,
  images: ReadonlyArray<readonly [InputRole, InlineMedium]>
) => {
  const video = media.find(({ role }) => role === "extend_video")
  const imageOf = (role: InputRole) => images.find((image) => image[0] === role)?.[1]
  const [first, last] = [imageOf("first_frame"), imageOf("last_frame")]
  const references = images.filter(([role]) => role === "reference_image")
  return omitEmpty({
    prompt: textOf(order.blocks),
    image: first === undefined ? null : toImage(first),
    lastFrame: last === undefined ? null : toImage(last),
    video: video === undefined ? null : { uri: video.url },
    referenceImages:
      references.length === 0
        ? null
        : references.map(([, image]) => ({ image: toImage(image), referenceType: "asset" }))
  })
}

const parametersOf = ({ parameters, ratio, resolution, seconds }: VideoOrder) =>
  omitEmpty({
    aspectRatio: ratio,
    durationSeconds: seconds,
    resolution: resolution?.toLowerCase(),
    negativePrompt: parameters.negative_prompt,
    personGeneration: parameters.person_generation,
    seed: parameters.seed
  })

/** Refuses lengths and resolutions that the vendor does not make of these inputs together. */
const checkLength = (
  { resolution, seconds }: VideoOrder,
  { mode }: PlacedVeoOrder
): Result.Result<void, VendorRefused> => {
  const isExtension = mode === "extension"
  const isFullOnly =
    isExtension || mode === "references" || (resolution !== null && resolution !== "720p")
  if (isFullOnly && seconds !== FULL_SECONDS) {
    return refuseArgument(
      `duration: Expected ${FULL_SECONDS} seconds with reference images, a video to extend or a resolution above 720p, not ${seconds}`,
      "duration"
    )
  }
  return isExtension && resolution !== EXTENDED_RESOLUTION
    ? refuseArgument(
        `resolution: Expected ${EXTENDED_RESOLUTION} with a video to extend`,
        "resolution"
      )
    : Result.void
}

/** Whether two frames have the same role, of which the vendor has one field each. */
const hasEqualFrames = ({ mode, media }: PlacedVeoOrder): boolean =>
  mode === "frames" && new Set(media.map(({ role }) => role)).size < media.length

const placeInputs = (order: VideoOrder): Result.Result<PlacedVeoOrder, VendorRefused> => {
  const family = veoFormsOf(order.upstreamModel)
  const placedOrder = placeMedia(family, order.blocks)
  return Result.isFailure(placedOrder) || hasEqualFrames(placedOrder.success)
    ? refuseArgument(`Not all of this input has a place: the model takes ${describeInputs(family)}`)
    : Result.succeed(placedOrder.success)
}

const submitRequest: VideoDialect["submitRequest"] = (account, order) =>
  Result.gen(function* () {
    if (!canSound(veoFormsOf(order.upstreamModel).sound, order.generateAudio)) {
      return yield* refuseArgument(
        "generate_audio: The model always makes sound: it has no field by which it can be false",
        "generate_audio"
      )
    }
    const placedOrder = yield* placeInputs(order)
    const images = yield* readImages(placedOrder)
    yield* checkLength(order, placedOrder)
    return post(methodUrl(account, order.upstreamModel, "predictLongRunning"), googleKey(account), {
      instances: [toInstance(order, placedOrder, images)],
      parameters: parametersOf(order)
    })
  })

const pollRequest: VideoDialect["pollRequest"] = (account, { upstreamId }) => {
  const path = upstreamId.split("/").map(encodeURIComponent).join("/")
  return Result.succeed(get(googleUrl(account, path), googleKey(account)))
}

const TWO_DAYS_SECONDS = 2 * 86_400

// From the vendor

const readSubmitted: VideoDialect["readSubmitted"] = (account, answer) =>
  answer.status < 300 && isSubmitted(answer.body)
    ? Result.succeed(answer.body.name)
    : Result.fail(unusableAnswer(account, answer))

/** The names that `statusOf` gives the states of an operation. */
const statusNames: StatusNames = {
  open: ["running"],
  finished: ["done"],
  failed: ["error", "filtered"]
}

const filteredMessage = "The vendor withheld the video because of its content"

/** The address of the video in a result; undefined where it has none. */
const videoIn = (response: unknown): string | undefined =>
  isVideoResponse(response)
    ? listOf(response.generateVideoResponse.generatedSamples).find(isSample)?.video.uri
    : undefined

/**
 * The state of an operation, with the vendor's reason where it ended without a video. A video that
 * stands beside an error was made all the same.
 */
const reportOf = ({ done, error, response }: Readonly<Record<string, unknown>>) => {
  if (done !== true) return { status: "running", videoUrl: undefined, message: null }
  const videoUrl = videoIn(response)
  if (videoUrl !== undefined) return { status: "done", videoUrl, message: null }
  if (error !== undefined && error !== null) {
    return { status: "error", videoUrl: undefined, ...errorText(error) }
  }
  if (!isVideoResponse(response)) return { status: "done", videoUrl: undefined, message: null }
  const { raiMediaFilteredCount: count, raiMediaFilteredReasons: reasons } =
    response.generateVideoResponse
  return isCount(count) || areReasons(reasons)
    ? {
        status: "filtered",
        videoUrl: undefined,
        code: "raiMediaFiltered",
        message: areReasons(reasons) ? reasons.join(" ") : filteredMessage
      }
    : { status: "done", videoUrl: undefined, message: null }
}

const readPolled: VideoDialect["readPolled"] = (account, answer) => {
  if (answer.status === 404) return unknownTask
  return answer.status < 300 && isOperation(answer.body)
    ? taskStatus(account, answer, statusNames, reportOf(answer.body))
    : Result.fail(unusableAnswer(account, answer))
}

// Calls

export const makeVeo = videoCalls("veo", {
  submitRequest,
  readSubmitted,
  pollRequest,
  readPolled,
  refusals: () => googleRefusals,
  noTask: { upstreamId: "models/veo-3.1-generate-preview/operations/none" },
  models: googleModels("predictLongRunning", /veo/i),
  takesBytes: true,
  fileHeaders: googleKey,
  ownVideos: { resolutions: [EXTENDED_RESOLUTION], keptSeconds: TWO_DAYS_SECONDS }
})
