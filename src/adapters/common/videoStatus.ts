/** Translates a vendor's status of a video task into the status that all protocols share. */
import { Result } from "effect"
import type { VendorFailure, VendorLost } from "../../domain/VendorOutcome.ts"
import type { VideoUsage } from "../../domain/video/VideoCharge.ts"
import type { VideoStills } from "../../domain/video/videoStills.ts"
import { scrubText } from "../../redaction/credentialsFromClients.ts"
import type { CancelAnswer, ChannelAccount, VideoStatus } from "../../services/ProtocolAdapter.ts"
import { errorOf } from "../wire/errorText.ts"
import type { VendorAnswer } from "../wire/vendorAnswer.ts"
import { brokenAnswer } from "../wire/vendorFailures.ts"

type Status = Result.Result<VideoStatus, VendorLost>

/** The status of a task that the vendor does not know or has deleted. */
export const unknownTask: Status = Result.succeed({ _tag: "Unknown" })

/**
 * The status of a cancelled task. Its code is the same for all vendors, so that clients need not
 * know how their vendor spells it.
 */
const cancelledTask = (message: string = failures.cancelled): Status =>
  Result.succeed({ _tag: "Failed", code: "cancelled", message })

/**
 * Reads an answer to a cancel of a vendor whose success shows only that it took the request.
 * `isRefusal` tells from the vendor's code whether the vendor does not cancel the job in its present
 * state; `failureOf` reads every other error.
 */
export const readCancelledWith =
  (
    failureOf: (account: ChannelAccount, answer: VendorAnswer) => VendorFailure,
    isRefusal: (code: string) => boolean
  ) =>
  (account: ChannelAccount, answer: VendorAnswer): Result.Result<CancelAnswer, VendorFailure> => {
    if (answer.status < 300) return Result.succeed({ _tag: "Requested" })
    const { code } = errorOf(answer.body)
    const failure = failureOf(account, answer)
    return code !== null && isRefusal(code)
      ? Result.succeed({ _tag: "Refused", message: failure.message })
      : Result.fail(failure)
  }

/** Default messages for failed tasks whose vendor gives none. */
const failures = {
  failed: "The vendor failed to make the video",
  cancelled: "The vendor cancelled the task",
  expired: "The task expired at the vendor"
}

const meanings = [
  "queued",
  "open",
  "finished",
  "unknown",
  "failed",
  "cancelled",
  "expired"
] as const

/** The vendor's status names of a task, by meaning. */
export type StatusNames = {
  readonly [Meaning in (typeof meanings)[number]]?: ReadonlyArray<string>
}

/** A vendor's report on a task; `taskStatus` reads only the fields that belong to the status. */
interface TaskReport {
  readonly status: string
  readonly videoUrl: string | undefined
  readonly usage?: VideoUsage
  /** The pictures beside the video, each undefined where the vendor has none. */
  readonly stills?: { readonly [Name in keyof VideoStills]: string | undefined }
  /** The error code; if it is null or missing, the status name is used. */
  readonly code?: string | null
  readonly message: string | null
}

/** The usage of a vendor that reports no counts. */
export const noUsage: VideoUsage = { completionTokens: null, outputSeconds: null }

const knownStills = ({ lastFrameUrl, coverUrl }: NonNullable<TaskReport["stills"]>) => {
  const stills = {
    ...(lastFrameUrl === undefined ? {} : { lastFrameUrl }),
    ...(coverUrl === undefined ? {} : { coverUrl })
  }
  return Object.keys(stills).length === 0 ? {} : { stills }
}

/**
 * The status of a task. An unknown status name never ends a task, but it is reported, so that
 * operators learn of a vendor's new status.
 */
export const taskStatus = (
  account: ChannelAccount,
  answer: VendorAnswer,
  statusNames: StatusNames,
  { status: statusName, videoUrl, usage = noUsage, stills = {}, code, message }: TaskReport
): Status => {
  const meaning = meanings.find((one) => statusNames[one]?.includes(statusName))
  switch (meaning) {
    case undefined:
      return Result.succeed({ _tag: "Processing", unknownStatus: statusName })
    case "queued":
      return Result.succeed({ _tag: "Processing", isQueued: true })
    case "open":
      return Result.succeed({ _tag: "Processing" })
    case "unknown":
      return unknownTask
    case "finished":
      // A finished task without the address of a video is a broken answer.
      return videoUrl === undefined
        ? Result.fail(brokenAnswer(answer))
        : Result.succeed({ _tag: "Succeeded", videoUrl, usage, ...knownStills(stills) })
    case "cancelled":
      return cancelledTask(scrubText(account, message ?? failures.cancelled))
    default:
      return Result.succeed({
        _tag: "Failed",
        code: scrubText(account, code ?? statusName),
        message: scrubText(account, message ?? failures[meaning])
      })
  }
}
