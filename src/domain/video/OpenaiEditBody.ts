/** The request bodies of OpenAI's API for videos that are made from another video. */
import { Schema } from "effect"
import { urlOf, VideoRef, VideoTaskId } from "../mediaUrls.ts"
import { MAX_PROMPT, Prompt, plainText } from "../plainText.ts"
import { anyFields, fieldCheck, optional, unknownFields } from "../requestFields.ts"
import {
  commonFields,
  type OpenaiSource,
  type OpenaiVideoOrder,
  secondsField,
  secondsOfText,
  waitOfText
} from "./OpenaiVideoBody.ts"

const A_VIDEO = "a video: a file of the form, {id}, {file_id} or a URL"

const Source = Schema.Union([Schema.Struct({ id: VideoTaskId }), VideoRef]).annotate({
  expected: A_VIDEO
})

const prompt = Prompt.annotate({
  description: `What is to be seen: a text of at most ${MAX_PROMPT} characters`
})
const sourceFields = {
  prompt,
  video: Source.annotate({ description: `The video: ${A_VIDEO}` }),
  model: optional(plainText(), "the id of a model").annotate({
    description: "A model of modality video; that of the earlier video when left out"
  }),
  ...commonFields
}

const closedBody = <Fields extends Schema.Struct.Fields>(
  fields: Schema.Struct<Fields>,
  annotations: { readonly identifier: string; readonly description: string }
) =>
  Schema.StructWithRest(fields, anyFields)
    .check(fieldCheck((body) => unknownFields(body, fields.fields)))
    .annotate(annotations)

const RemixFields = Schema.Struct({ prompt, ...commonFields })
/** The body of `POST /v1/videos/{task_id}/remix`. */
export const OpenaiRemixBody: Schema.Codec<typeof RemixFields.Type, typeof RemixFields.Encoded> =
  closedBody(RemixFields, {
    identifier: "OpenaiVideoRemix",
    description: "What a finished video is to become"
  })

const EditFields = Schema.Struct(sourceFields)
/** The body of `POST /v1/videos/edits`. */
export const OpenaiEditBody: Schema.Codec<typeof EditFields.Type, typeof EditFields.Encoded> =
  closedBody(EditFields, {
    identifier: "OpenaiVideoEdit",
    description: "A video to edit, and what it is to become"
  })

const ExtensionFields = Schema.Struct({ ...sourceFields, seconds: secondsField })
/** The body of `POST /v1/videos/extensions`. */
export const OpenaiExtensionBody: Schema.Codec<
  typeof ExtensionFields.Type,
  typeof ExtensionFields.Encoded
> = closedBody(ExtensionFields, {
  identifier: "OpenaiVideoExtension",
  description: "A video to extend, and how it goes on"
})

type SourcedBody = typeof RemixFields.Type & Partial<Pick<typeof ExtensionFields.Type, "seconds">>

/** The id or the URL of the video of a body. */
export const sourceOfBody = ({ video }: { readonly video: typeof Source.Type }): string =>
  typeof video === "object" && "id" in video ? video.id : urlOf(video)

/**
 * The order of an edit or an extension by a model. The size is the resolution of the earlier video,
 * where it is made by the same model; its ratio is that of the video.
 */
export const orderFromSource = (
  body: SourcedBody,
  source: OpenaiSource,
  { model, size }: Pick<OpenaiVideoOrder, "model" | "size">
): OpenaiVideoOrder => ({
  model,
  prompt: body.prompt,
  image: null,
  source,
  seconds: secondsOfText(body.seconds),
  size,
  metadata: body.metadata ?? null,
  callbackUrl: body.callback_url ?? null,
  maxWait: waitOfText(body.max_wait)
})
