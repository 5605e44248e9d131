/**
 * A vendor as a document: an API that is a queue of jobs, with its calls, the places of values in
 * its answers, and how the fields of an order become the body of a request. The rows and adapters of
 * the protocol that the document names are built from it.
 */
import { Schema } from "effect"
import { VendorParameter } from "../catalog/vendorParameters.ts"
import { billUnits } from "../money/vendorBill.ts"
import { plainText } from "../plainText.ts"
import { type InputRole, inputRoles } from "../video/families/VideoFamily.ts"
import { Ratio } from "../video/sizes.ts"
import { Resolution } from "../video/tiers.ts"
import { InputLimits, SecondsLimit } from "../video/videoLimits.ts"
import { AnswerPointer, BodyPointer } from "./jsonPointer.ts"

/**
 * The name of a protocol. The catalog may name a protocol without an adapter, but calls to it are
 * refused.
 */
export const ProtocolName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9_]{0,31}$/, { expected: "a protocol such as vp_a or ip_b" })
)

const optional = Schema.optionalKey

/** Places that are tried in order; the first one with a usable value counts. */
const Places = Schema.Array(AnswerPointer).check(
  Schema.isMaxLength(16, { expected: "at most 16 places" })
)

const Path = Schema.String.check(
  Schema.isPattern(/^(?:\/(?:[A-Za-z0-9._~:-]|\{(?:id|model(?::[1-9])?)\})+)+$/, {
    expected: "a path such as /jobs/{id}, with {model}, {model:2} and {id} in places"
  })
)

const HeaderName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/, { expected: "the name of a header in lower case" })
)

const HeaderValue = Schema.String.check(
  Schema.isPattern(/^[!-~](?:[ -~]{0,198}[!-~])?$/, { expected: "the value of a header in ASCII" })
)

const Headers = Schema.Record(HeaderName, HeaderValue)

const callFields = { path: Path, headers: optional(Headers) }

const Submit = Schema.Struct({
  ...callFields,
  method: Schema.Literals(["POST", "PUT"]),
  image_headers: optional(Headers)
})

const Call = Schema.Struct({
  ...callFields,
  method: Schema.Literals(["GET", "POST", "PUT", "DELETE"])
})
export type QueueCall = typeof Call.Type

const Answers = Schema.Struct({
  id: Places,
  status: Places,
  files: Places,
  code: Places,
  message: Places,
  seconds: optional(Places),
  tokens: optional(Places),
  bill: optional(Schema.Struct({ unit: Schema.Literals(billUnits), amount: Places })),
  failed: optional(Places),
  failed_result: optional(Places)
})

const Names = Schema.Array(plainText(64))

/** The meanings of the names by which the vendor states how a job is. */
const Statuses = Schema.Struct({
  queued: optional(Names),
  open: optional(Names),
  finished: Names,
  failed: optional(Names),
  cancelled: optional(Names),
  expired: optional(Names)
})

const Cancel = Schema.Struct({
  ...Call.fields,
  jobs: Schema.Literals(["queued", "unfinished"]),
  cancelled: optional(Names),
  requested: optional(Names),
  refused: optional(Names)
})

/** The meanings of a vendor's refusals, by the names of `meanings` of the refusal tables. */
export const refusalMeanings = [
  "order",
  "credentials",
  "access",
  "balance",
  "model",
  "rate",
  "maintenance",
  "overload",
  "failure",
  "timeout",
  "uncertain"
] as const
const Meaning = Schema.Literals(refusalMeanings)

const Refusals = Schema.Struct({
  shapes: Schema.Array(Schema.Struct({ message: AnswerPointer, codes: Places })),
  codes: optional(Schema.Record(plainText(), Meaning)),
  statuses: optional(
    Schema.Record(
      Schema.String.check(
        Schema.isPattern(/^(?:40[0-4]|413|415|422)$/, {
          expected: "a status of refusals: 400 to 404, 413, 415 or 422"
        })
      ),
      Meaning
    )
  )
})

const FieldRule = Schema.Union([
  BodyPointer,
  Schema.Struct({
    to: BodyPointer,
    as: optional(Schema.Literals(["text", "number"])),
    values: optional(Schema.Record(Schema.String, Schema.Json)),
    inline: optional(Schema.Boolean)
  }),
  Schema.Struct({ width: BodyPointer, height: BodyPointer })
]).annotate({
  expected: 'a place such as "/prompt", {to, as, values, inline}, or {width, height} of a size'
})
export type FieldRule = typeof FieldRule.Type

/** What an order has beside its media, by the names of the mapping. */
type ValueSource =
  | "model"
  | "task"
  | "prompt"
  | "seconds"
  | "resolution"
  | "ratio"
  | "size"
  | "sound"
  | "n"
  | "mask"

const rule = optional(FieldRule)

const Fields = Schema.Struct({
  model: rule,
  task: rule,
  prompt: rule,
  seconds: rule,
  resolution: rule,
  ratio: rule,
  size: rule,
  sound: rule,
  n: rule,
  mask: rule,
  first_frame: rule,
  last_frame: rule,
  reference_image: rule,
  reference_video: rule,
  reference_audio: rule
} satisfies Record<ValueSource | InputRole, unknown>)
export type Source = keyof typeof Fields.Type

const Form = Schema.Struct({
  takes: InputLimits,
  needs: optional(Schema.Array(Schema.Literals(inputRoles)))
})

const sharedFields = {
  id: plainText(),
  forms: optional(Schema.Array(Form)),
  fields: Fields,
  ignores: optional(Schema.Array(Schema.Literals(["prompt"]))),
  constants: optional(Schema.Record(BodyPointer, Schema.Json)),
  parameters: optional(Schema.Record(plainText(64), VendorParameter)),
  input_schema: optional(Schema.Json),
  input_schema_without: optional(Schema.Array(plainText(64)))
}

const VideoModel = Schema.Struct({
  ...sharedFields,
  modality: Schema.Literal("video"),
  seconds: SecondsLimit,
  smart: optional(Schema.Boolean),
  resolutions: optional(Schema.Array(Resolution)),
  ratios: optional(Schema.Array(Ratio)),
  sound: optional(Schema.Literals(["switch", "always", "never", "unset"]))
})

const ImageModel = Schema.Struct({
  ...sharedFields,
  modality: Schema.Literal("image"),
  max_images: optional(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: 10 }, { expected: "a whole number from 1 to 10" })
    )
  )
})

const Model = Schema.Union([VideoModel, ImageModel])
export type QueueModel = typeof Model.Type
export type QueueVideoModel = typeof VideoModel.Type
export type QueueImageModel = typeof ImageModel.Type

export const QueueDocument = Schema.Struct({
  id: ProtocolName.annotate({ description: "The name of the protocol" }),
  versions: optional(
    Schema.Array(
      Schema.String.check(
        Schema.isPattern(/^(?:\/[A-Za-z0-9._-]{1,64}){1,4}$/, { expected: "a path such as /v1" })
      )
    ).annotate({
      description: "Ends of the base address that the vendor's documentation has at times"
    })
  ),
  key: Schema.Struct({
    header: HeaderName,
    scheme: optional(plainText(32))
  }).annotate({ description: "Where the key of an account stands" }),
  calls: Schema.Struct({
    submit: Submit,
    status: Call,
    result: optional(Call),
    cancel: optional(Cancel)
  }),
  answers: Answers,
  statuses: Statuses,
  refusals: Refusals,
  parameters_at: optional(
    AnswerPointer.annotate({
      description: "The object in the body that has the parameters; the body itself when left out"
    })
  ),
  models: Schema.Array(Model)
}).annotate({ identifier: "QueueDocument", description: "A vendor whose API is a queue of jobs" })
export type QueueDocument = typeof QueueDocument.Type

/** The models of one modality. */
export const videoModelsOf = ({ models }: QueueDocument): ReadonlyArray<QueueVideoModel> =>
  models.filter((model) => model.modality === "video")
export const imageModelsOf = ({ models }: QueueDocument): ReadonlyArray<QueueImageModel> =>
  models.filter((model) => model.modality === "image")
