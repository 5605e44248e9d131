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
import { MAX_SHOTS } from "../video/shots.ts"
import { Ratio } from "../video/sizes.ts"
import { Resolution } from "../video/tiers.ts"
import { InputLimits, SecondsLimit, SecondsSpan } from "../video/videoLimits.ts"
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

/** No segment may be `.` or `..`, which would lead to another path than the one that is written. */
const withoutDots = Schema.isPattern(/^(?!(?:.*\/)?\.{1,2}(?:\/|$))/, {
  expected: "segments other than . and .."
})

const Path = Schema.String.check(
  Schema.isPattern(/^(?:\/(?:[A-Za-z0-9._~:-]|\{(?:id|model(?::[1-9])?)\})+)+$/, {
    expected: "a path such as /jobs/{id}, with {model}, {model:2} and {id} in places"
  }),
  withoutDots
)

const HeaderName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,63}$/, { expected: "the name of a header in lower case" })
)

const HeaderValue = Schema.String.check(
  Schema.isPattern(/^[!-~](?:[ -~]{0,198}[!-~])?$/, { expected: "the value of a header in ASCII" })
)

const Headers = Schema.Record(HeaderName, HeaderValue)

const callFields = {
  path: Path.annotate({ description: "Its path, with {model}, {model:2} and {id} in places" }),
  headers: optional(Headers.annotate({ description: "Headers of every such request" }))
}

const Submit = Schema.Struct({
  ...callFields,
  method: Schema.Literals(["POST", "PUT"]).annotate({ description: "Its method" }),
  image_headers: optional(
    Headers.annotate({ description: "Headers of orders of images, beside the others" })
  )
})

const Call = Schema.Struct({
  ...callFields,
  method: Schema.Literals(["GET", "POST", "PUT", "DELETE"]).annotate({
    description: "Its method"
  })
})
export type QueueCall = typeof Call.Type

const Answers = Schema.Struct({
  id: Places.annotate({ description: "The id of the job" }),
  status: Places.annotate({ description: "The name of its status" }),
  files: Places.annotate({ description: "The addresses of the files" }),
  code: Places.annotate({ description: "The code of an error" }),
  message: Places.annotate({ description: "The text of an error" }),
  seconds: optional(Places.annotate({ description: "The seconds of the video" })),
  tokens: optional(Places.annotate({ description: "The tokens of the video" })),
  bill: optional(
    Schema.Struct({
      unit: Schema.Literals(billUnits).annotate({ description: "What the vendor sells" }),
      amount: Places.annotate({ description: "How much of it is billed" })
    }).annotate({ description: "What the vendor says that it bills" })
  ),
  failed: optional(
    Places.annotate({ description: "A text there makes a finished job a failed one" })
  ),
  failed_result: optional(
    Places.annotate({ description: "A text there makes an error of the result a failed job" })
  )
})

const Names = Schema.Array(plainText(64))

/** The meanings of the names by which the vendor states how a job is. */
const Statuses = Schema.Struct({
  queued: optional(Names.annotate({ description: "Jobs that the vendor has not begun" })),
  open: optional(Names.annotate({ description: "Jobs that the vendor works on" })),
  finished: Names.annotate({ description: "Jobs whose files are ready" }),
  failed: optional(Names.annotate({ description: "Jobs that failed" })),
  cancelled: optional(
    Names.annotate({
      description: "Jobs that were cancelled, also as the code of an error beside `finished`"
    })
  ),
  expired: optional(Names.annotate({ description: "Jobs that ran out of time" }))
})

const Cancel = Schema.Struct({
  ...Call.fields,
  jobs: Schema.Literals(["queued", "unfinished"]).annotate({
    description:
      "Which jobs can be cancelled: those that have not begun, or all that have not ended"
  }),
  cancelled: optional(
    Names.annotate({ description: "Answers by which the job has ended without a charge" })
  ),
  requested: optional(Names.annotate({ description: "Answers by which a poll shows the end" })),
  refused: optional(Names.annotate({ description: "Answers by which the job goes on" }))
})

/** The meanings of a vendor's refusals, by the names of `meanings` of the refusal tables. */
const refusalMeanings = [
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
  shapes: Schema.Array(
    Schema.Struct({
      message: AnswerPointer.annotate({ description: "Where the text of such an error stands" }),
      codes: Places.annotate({ description: "Where its codes stand" })
    })
  ).annotate({ description: "The forms of the vendor's errors" }),
  codes: optional(Schema.Record(plainText(), Meaning).annotate({ description: "What codes mean" })),
  texts: optional(
    Schema.Record(plainText(), Meaning).annotate({
      description:
        "What a text in the message means, in any case, where the vendor has no code for it"
    })
  ),
  statuses: optional(
    Schema.Record(plainText(), Meaning).annotate({
      description: "What HTTP statuses of such errors mean: 400 to 404, 413, 415 and 422"
    })
  )
})

const valueFields = {
  to: BodyPointer.annotate({ description: "The place in the body" }),
  as: optional(
    Schema.Literals(["text", "number"]).annotate({ description: "The type that is sent" })
  ),
  values: optional(
    Schema.Record(Schema.String, Schema.Json).annotate({
      description: "The vendor's value for each value of an order"
    })
  )
}

const FieldRule = Schema.Union([
  BodyPointer,
  Schema.Struct({
    ...valueFields,
    inline: optional(
      Schema.Boolean.annotate({ description: "False where the vendor takes no data URLs" })
    )
  }),
  Schema.Struct({
    width: BodyPointer.annotate({ description: "The place of the width" }),
    height: BodyPointer.annotate({ description: "The place of the height" })
  })
]).annotate({
  expected: 'a place such as "/prompt", {to, as, values, inline}, or {width, height} of a size'
})
export type FieldRule = typeof FieldRule.Type

const ItemRule = Schema.Union([BodyPointer, Schema.Struct(valueFields)]).annotate({
  expected: 'a place in the item such as "/prompt", or {to, as, values}'
})

/** Where the shots of an order go: each becomes an object that is appended to a list. */
const ShotsRule = Schema.Struct({
  to: BodyPointer.annotate({ description: "The list, whose place ends with /-" }),
  prompt: ItemRule.annotate({ description: "Where the text of a shot goes in its item" }),
  seconds: ItemRule.annotate({ description: "Where the seconds of a shot go in its item" })
}).annotate({
  expected: 'a list such as {"to": "/shots/-", "prompt": "/text", "seconds": "/length"}'
})
export type ShotsRule = typeof ShotsRule.Type

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

const rule = (source: string) =>
  optional(FieldRule.annotate({ description: `Where ${source} goes` }))

const Fields = Schema.Struct({
  model: rule("the vendor's name of the model"),
  task: rule("the gateway's id of the task"),
  prompt: rule("the text"),
  seconds: rule("the length"),
  resolution: rule("the resolution"),
  ratio: rule("the aspect ratio"),
  size: rule("the size as WxH"),
  sound: rule("whether the video has sound"),
  n: rule("the number of images"),
  mask: rule("the mask of an edit"),
  first_frame: rule("the picture that a video begins with"),
  middle_frame: rule("pictures between the first and the last one"),
  last_frame: rule("the picture that it ends with"),
  reference_image: rule("reference pictures"),
  reference_video: rule("reference videos"),
  reference_audio: rule("reference sounds"),
  edit_video: rule("the video to edit"),
  extend_video: rule("the video to extend"),
  shots: optional(
    ShotsRule.annotate({
      description: "Where the shots of a video go, which an order has in place of the text"
    })
  )
} satisfies Record<ValueSource | InputRole | "shots", unknown>)
/** The parts of an order that are one value, or several of the same kind. */
export type Source = Exclude<keyof typeof Fields.Type, "shots">

const Form = Schema.Struct({
  takes: InputLimits.annotate({ description: "The most media of each role" }),
  needs: optional(
    Schema.Array(Schema.Literals(inputRoles)).annotate({
      description: "The roles of which one is required"
    })
  )
})

const sharedFields = {
  id: plainText().check(withoutDots).annotate({ description: "The vendor's name of the model" }),
  forms: optional(Schema.Array(Form).annotate({ description: "The media that it takes together" })),
  fields: Fields.annotate({ description: "Where the parts of an order go" }),
  ignores: optional(
    Schema.Array(Schema.Literal("prompt")).annotate({
      description: "Parts of an order that the model has no use for"
    })
  ),
  constants: optional(
    Schema.Record(BodyPointer, Schema.Json).annotate({
      description: "Values of every request, by place"
    })
  ),
  parameters: optional(
    Schema.Record(plainText(64), VendorParameter).annotate({
      description: "The model's own fields that clients may set"
    })
  ),
  input_schema: optional(
    Schema.Json.annotate({
      description: "The vendor's JSON Schema, from which further parameters follow"
    })
  ),
  input_schema_without: optional(
    Schema.Array(plainText(64)).annotate({
      description: "Fields of the schema that clients may not set"
    })
  )
}

const VideoModel = Schema.Struct({
  ...sharedFields,
  modality: Schema.Literal("video").annotate({ description: "A model of videos" }),
  seconds: SecondsLimit.annotate({ description: "The lengths" }),
  smart: optional(
    Schema.Boolean.annotate({ description: "Whether -1 lets the model choose the length" })
  ),
  resolutions: optional(
    Schema.Array(Resolution).annotate({
      description: "The resolutions; without, none is sent, and an order may name 720p alone"
    })
  ),
  ratios: optional(
    Schema.Array(Ratio).annotate({ description: "The only aspect ratios; any without" })
  ),
  shots: optional(
    Schema.Struct({
      most: Schema.Int.check(
        Schema.isBetween(
          { minimum: 1, maximum: MAX_SHOTS },
          { expected: `a whole number from 1 to ${MAX_SHOTS}` }
        )
      ).annotate({ description: "The largest number of shots" }),
      seconds: SecondsSpan.annotate({ description: "The shortest and the longest shot" })
    }).annotate({ description: "What it takes of a list of shots; no list without" })
  ),
  sound: optional(
    Schema.Literals(["switch", "always", "never", "unset"]).annotate({
      description: "When its videos have sound"
    })
  )
})

const ImageModel = Schema.Struct({
  ...sharedFields,
  modality: Schema.Literal("image").annotate({ description: "A model of images" }),
  max_images: optional(
    Schema.Int.check(
      Schema.isBetween({ minimum: 1, maximum: 10 }, { expected: "a whole number from 1 to 10" })
    ).annotate({ description: "The most images of one request" })
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
        Schema.isPattern(/^(?:\/[A-Za-z0-9._-]{1,64}){1,4}$/, { expected: "a path such as /v1" }),
        withoutDots
      )
    ).annotate({
      description: "Ends of the base address that the vendor's documentation has at times"
    })
  ),
  key: Schema.Struct({
    header: HeaderName.annotate({ description: "The header" }),
    scheme: optional(plainText(32).annotate({ description: "The word before the key" }))
  }).annotate({ description: "Where the key of an account stands" }),
  calls: Schema.Struct({
    submit: Submit.annotate({ description: "Orders a job" }),
    status: Call.annotate({ description: "Asks how a job is" }),
    result: optional(Call.annotate({ description: "Reads what a finished job has made" })),
    cancel: optional(Cancel.annotate({ description: "Cancels a job" }))
  }).annotate({ description: "The vendor's calls" }),
  answers: Answers.annotate({ description: "Where values stand in answers, in order of trial" }),
  statuses: Statuses.annotate({ description: "The names of statuses by meaning" }),
  refusals: Refusals.annotate({ description: "What proves that nothing was made" }),
  parameters_at: optional(
    AnswerPointer.annotate({
      description: "The object in the body that has the parameters; the body itself when left out"
    })
  ),
  models: Schema.Array(Model).annotate({ description: "The vendor's models" })
}).annotate({ identifier: "QueueDocument", description: "A vendor whose API is a queue of jobs" })
export type QueueDocument = typeof QueueDocument.Type

/** The models of one modality. */
export const videoModelsOf = ({ models }: QueueDocument): ReadonlyArray<QueueVideoModel> =>
  models.filter((model) => model.modality === "video")
export const imageModelsOf = ({ models }: QueueDocument): ReadonlyArray<QueueImageModel> =>
  models.filter((model) => model.modality === "image")
