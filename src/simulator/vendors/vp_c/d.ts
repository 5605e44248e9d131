import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AcceptedEntry, type EndedEntry, millisOf } from "../../Book.ts"
import { randomText } from "../../digest.ts"
import { MediaLinks } from "../../Media.ts"
import { placeOrder } from "../../placeOrder.ts"
import { type PollResult, Tasks } from "../../Tasks.ts"
import {
  type Call,
  type Desk,
  decodeBody,
  isMissingModel,
  refusedField,
  type VendorRoute
} from "../../Vendor.ts"
import { longestNewSeconds } from "../ModelFamily.ts"
import { familyOf } from "../vp_d/families.ts"
import { ofFault, refusal } from "../vp_d/modes.ts"
import { failures, lifecycle, moderatedInput, noModel, receipt, success } from "../vp_dVendor.ts"

const Prompt = Schema.NonEmptyString.check(Schema.isMaxLength(2500))
const Url = Schema.String.check(Schema.isPattern(/^(https?:\/\/\S|data:[^;,]+;base64,.)/))

const resolutions = { std: "720p", pro: "1080p", "4k": "4k" } as const

const baseFields = {
  model_name: Schema.NonEmptyString,
  /** The length in whole seconds, as text. */
  duration: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,3}$/))),
  mode: Schema.optionalKey(Schema.Literals(["std", "pro", "4k"])),
  sound: Schema.optionalKey(Schema.Literals(["on", "off"]))
}

const TextSubmit = Schema.Struct({
  ...baseFields,
  prompt: Prompt,
  image: refusedField,
  aspect_ratio: Schema.optionalKey(Schema.Literals(["16:9", "9:16", "1:1"]))
})

const ImageSubmit = Schema.Struct({
  ...baseFields,
  prompt: Schema.optionalKey(Prompt),
  image: Url,
  aspect_ratio: refusedField
})

/** A request of any mode. */
type Submission = Omit<typeof TextSubmit.Type, "prompt" | "image"> &
  Partial<Omit<typeof ImageSubmit.Type, "aspect_ratio">>

const lenient = { unknownFields: "ignored", refuse: ofFault } as const
const decodeText = decodeBody(TextSubmit, lenient)
const decodeImage = decodeBody(ImageSubmit, lenient)

const noTask = (id: string) => refusal(404, 1203, `The requested task does not exist: ${id}`)

const row = (acceptedEntry: AcceptedEntry, status: string, updatedAtMillis: number) => ({
  task_id: acceptedEntry.upstream_id,
  task_status: status,
  created_at: millisOf(acceptedEntry),
  updated_at: updatedAtMillis
})

const endOf = Effect.fnUntraced(function* (acceptedEntry: AcceptedEntry, endedEntry: EndedEntry) {
  if (endedEntry.reason !== null) {
    const failedRow = row(acceptedEntry, "failed", millisOf(endedEntry))
    return { ...failedRow, task_status_msg: failures[endedEntry.reason] }
  }
  const url = (yield* MediaLinks).video(endedEntry)
  const id = `${acceptedEntry.upstream_id}-1`
  return {
    ...row(acceptedEntry, "succeed", millisOf(endedEntry)),
    task_status_msg: "",
    final_unit_deduction: receipt(acceptedEntry),
    task_result: { videos: [{ id, url, duration: `${endedEntry.produced.seconds}.041` }] }
  }
})

const pollAnswer = Effect.fnUntraced(function* (desk: Desk, id: string, pollResult: PollResult) {
  switch (pollResult._tag) {
    case "Broken":
      return yield* desk.refuse(500)
    case "Forgotten":
      return yield* noTask(id)
    case "Between": {
      const { acceptedEntry, status } = pollResult
      return { ...row(acceptedEntry, status, millisOf(acceptedEntry)), task_status_msg: "" }
    }
    case "Ended":
      return yield* endOf(pollResult.acceptedEntry, pollResult.endedEntry)
  }
})

/** Whether the model makes the length: 3 to 15 seconds, and more only for models newer than the families. */
const isOffered = ({ duration = "5", model_name }: Submission): boolean => {
  const isNew = familyOf(model_name).accepts !== undefined
  return Number(duration) >= 3 && Number(duration) <= (isNew ? longestNewSeconds : 15)
}

const newId = (): string => `8${randomText("0123456789", 17)}`

const modes = {
  text2video: decodeText,
  image2video: decodeImage
}

const routesOfMode = (
  relay: Pick<Desk, "protocol" | "refuse">,
  mode: keyof typeof modes
): ReadonlyArray<VendorRoute> => {
  // A task is only known under the path at which it was ordered.
  const desk: Desk = { ...relay, family: `d/${mode}`, moderatedInput }
  const decode: (body: unknown) => Effect.Effect<Submission, ReturnType<typeof ofFault>> =
    modes[mode]
  const path = `/v1/videos/${mode}` as const
  return [
    {
      method: "POST",
      path,
      handle: Effect.fnUntraced(function* (call: Call) {
        const submission = yield* decode(call.body)
        if (!isOffered(submission)) return yield* ofFault({ path: "duration", problem: "invalid" })
        if (isMissingModel(submission.model_name)) return yield* noModel(submission.model_name)
        return yield* placeOrder(
          desk,
          call,
          {
            kind: "video",
            model: submission.model_name,
            prompt: submission.prompt ?? "",
            order: {
              seconds: Number(submission.duration ?? "5"),
              resolution: resolutions[submission.mode ?? "std"],
              ratio: mode === "text2video" ? (submission.aspect_ratio ?? "16:9") : null,
              n: null,
              size: null,
              inputs: { images: submission.image === undefined ? 0 : 1, videos: 0, audios: 0 },
              generate_audio: submission.sound === "on"
            },
            clientToken: null,
            echo: {},
            newId
          },
          (acceptedEntry) =>
            Effect.succeed(success(row(acceptedEntry, "submitted", millisOf(acceptedEntry))))
        )
      })
    },
    {
      method: "GET",
      path: `${path}/:id`,
      handle: Effect.fnUntraced(function* (call: Call) {
        const id = call.params.id ?? ""
        const pollResult = yield* (yield* Tasks).poll(desk, id, lifecycle)
        return HttpServerResponse.jsonUnsafe(success(yield* pollAnswer(desk, id, pollResult)))
      })
    }
  ]
}

/** The older API of vp_d's vendor: the model is in the body and the length is text. */
export const routesOfD = (relay: Pick<Desk, "protocol" | "refuse">): ReadonlyArray<VendorRoute> => [
  ...routesOfMode(relay, "text2video"),
  ...routesOfMode(relay, "image2video")
]
