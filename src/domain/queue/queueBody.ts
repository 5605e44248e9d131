/**
 * Writes the body of a request from an order, as the document's mapping says. What the mapping
 * cannot carry is refused, because leaving it out would order something else.
 */
import { Result } from "effect"
import { parameterValues, type VendorValues } from "../catalog/vendorParameters.ts"
import type { PlainImageOrder } from "../image/ImageProtocol.ts"
import type { FieldFault } from "../requestFields.ts"
import {
  describeInputs,
  type InputRole,
  inputRoles,
  placeMedia,
  type VideoForm
} from "../video/families/VideoFamily.ts"
import { shotsOf } from "../video/shots.ts"
import { sizeNamed } from "../video/sizes.ts"
import { textOf, type VideoBlock } from "../video/VideoInput.ts"
import { hasOneOf, type SecondsLimit, secondsOfLimit } from "../video/videoLimits.ts"
import { fieldPointer, type MutableBody, writeAt } from "./jsonPointer.ts"
import type {
  FieldRule,
  QueueDocument,
  QueueImageModel,
  QueueModel,
  QueueVideoModel,
  Source
} from "./QueueDocument.ts"
import { parametersOfModel } from "./queueParameters.ts"

type Body = Readonly<Record<string, unknown>>
type Written = Result.Result<Body, FieldFault>

const fail = (path: string, message: string) => Result.fail<FieldFault>({ path, message })

/** The order of a video, as adapters get it. */
export interface QueueVideoOrder {
  readonly taskId: string
  readonly upstreamModel: string
  readonly blocks: ReadonlyArray<VideoBlock>
  readonly seconds: number | "smart"
  readonly resolution: string | null
  readonly ratio: string | null
  readonly generateAudio: boolean | null
  readonly parameters: VendorValues
}

/** A value of the order, and the field of the gateway's API that a fault names. */
interface Entry {
  readonly source: Source
  readonly path: string
  readonly value: string | number | boolean
}

const sizeSides = /^(\d{1,5})x(\d{1,5})$/i

const isInline = (value: unknown): boolean => typeof value === "string" && /^data:/i.test(value)

const writeSize = (
  body: MutableBody,
  { path, value }: Entry,
  rule: Extract<FieldRule, { readonly width: string }>
): Result.Result<void, FieldFault> => {
  const sides = sizeSides.exec(String(value))
  if (sides === null) return fail(path, "Expected a size such as 1024x1024")
  writeAt(body, rule.width, Number(sides[1]))
  writeAt(body, rule.height, Number(sides[2]))
  return Result.void
}

const valueBy = (
  { path, value }: Entry,
  { as, values, inline }: Exclude<FieldRule, string | { readonly width: string }>
): Result.Result<unknown, FieldFault> => {
  if (inline === false && isInline(value)) {
    return fail(path, "Expected an http or https URL: this model takes no inline files")
  }
  if (values !== undefined) {
    return Object.hasOwn(values, String(value))
      ? Result.succeed(values[String(value)])
      : fail(path, `Expected one of ${Object.keys(values).join(", ")}`)
  }
  if (as === "text") return Result.succeed(String(value))
  return Result.succeed(as === "number" ? Number(value) : value)
}

const writeEntry = (
  body: MutableBody,
  rule: FieldRule,
  entry: Entry
): Result.Result<void, FieldFault> => {
  if (typeof rule === "string") {
    writeAt(body, rule, entry.value)
    return Result.void
  }
  if (!("to" in rule)) return writeSize(body, entry, rule)
  return Result.map(valueBy(entry, rule), (value) => writeAt(body, rule.to, value))
}

/** A shot as an item of the body's list, with the place of the list. */
interface ShotItem {
  readonly to: string
  readonly item: Body
}

/** Writes the constants, the parameters, the entries and the shots; fails at the first that has no field. */
const writeBody = (
  { parameters_at = "" }: QueueDocument,
  { fields, constants = {}, ignores = [] }: QueueModel,
  entries: ReadonlyArray<Entry>,
  parameters: Readonly<Record<string, unknown>>,
  shots: ReadonlyArray<ShotItem> = []
): Written => {
  const body: MutableBody = {}
  for (const [pointer, value] of Object.entries(constants)) writeAt(body, pointer, value)
  for (const [name, value] of Object.entries(parameters)) {
    writeAt(body, fieldPointer(parameters_at, name), value)
  }
  for (const entry of entries) {
    const rule = fields[entry.source]
    if (rule === undefined) {
      if (entry.source === "prompt" && ignores.includes("prompt")) continue
      return fail(entry.path, "Expected nothing: this model has no such field")
    }
    const entryResult = writeEntry(body, rule, entry)
    if (Result.isFailure(entryResult)) return Result.fail(entryResult.failure)
  }
  for (const { to, item } of shots) writeAt(body, to, item)
  return Result.succeed(body)
}

/** The entry of a value, if the mapping has a place for it. */
const whereMapped = (
  { fields }: QueueModel,
  source: Source,
  value: Entry["value"]
): ReadonlyArray<Entry> => (fields[source] === undefined ? [] : [{ source, path: source, value }])

const fieldOfRole = (role: InputRole): string => {
  if (role.endsWith("_video")) return "video"
  return role.endsWith("_audio") ? "audio" : "image"
}

/** The forms of a document's model, as the families of videos have them. */
export const formsOf = ({ forms = [] }: Pick<QueueModel, "forms">): ReadonlyArray<VideoForm> =>
  forms.map(({ takes, needs }, index) => ({
    mode: `form ${index + 1}`,
    takes: Object.fromEntries(
      inputRoles.flatMap((role) => ((takes[role] ?? 0) > 0 ? [[role, takes[role]]] : []))
    ),
    ...(needs === undefined ? {} : { needs })
  }))

const mediaEntries = (
  model: QueueVideoModel,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<ReadonlyArray<Entry>, FieldFault> => {
  const forms = formsOf(model)
  const placement = placeMedia({ forms }, blocks)
  if (Result.isFailure(placement)) {
    const hasMedia = blocks.some(({ type }) => type !== "text")
    return fail(
      "content",
      `${hasMedia ? "Other media are expected" : "Media are missing"}: the model takes ${describeInputs({ forms })}`
    )
  }
  const { media, form } = placement.success
  for (const role of inputRoles) {
    const count = media.filter((medium) => medium.role === role).length
    if (count > (form.takes[role] ?? 0)) {
      return fail(
        fieldOfRole(role),
        `The order has ${count} of ${role}: the model takes ${describeInputs({ forms })}`
      )
    }
  }
  return Result.succeed(media.flatMap(({ role, url }) => entryOf(role, fieldOfRole(role), url)))
}

const describeLengths = (limit: SecondsLimit): string =>
  hasOneOf(limit) ? secondsOfLimit(limit).join(", ") : `whole seconds from ${limit.join(" to ")}`

const secondsFault = (
  { seconds: limit, smart = false }: QueueVideoModel,
  seconds: number | "smart"
): string | null => {
  const isOffered = seconds === "smart" ? smart : secondsOfLimit(limit).includes(seconds)
  return isOffered ? null : `Expected ${describeLengths(limit)}: the model has no other length`
}

const isShapedByImage = (entries: ReadonlyArray<Entry>): boolean =>
  entries.some(({ source }) => source === "first_frame")

/** The ratio; the image that the video begins with decides it where the model has no field. */
const ratioEntries = (
  { fields }: QueueVideoModel,
  { ratio }: QueueVideoOrder,
  media: ReadonlyArray<Entry>
): ReadonlyArray<Entry> => {
  if (ratio === null || fields.size !== undefined) return []
  return fields.ratio === undefined && isShapedByImage(media)
    ? []
    : [{ source: "ratio", path: "ratio", value: ratio }]
}

const entryOf = (source: Source, path: string, value: Entry["value"]): ReadonlyArray<Entry> => [
  { source, path, value }
]

/** The choices of an order beside its text and its media. */
const choiceEntries = (
  model: QueueVideoModel,
  { seconds, resolution, ratio, generateAudio }: QueueVideoOrder
): ReadonlyArray<Entry> => {
  const isSounding = generateAudio === null || isSoundOf(model, generateAudio)
  return [
    ...whereMapped(model, "seconds", seconds === "smart" ? -1 : seconds),
    ...(resolution === null ? [] : whereMapped(model, "resolution", resolution)),
    ...(resolution === null ? [] : whereMapped(model, "size", sizeNamed(resolution, ratio))),
    ...(isSounding ? [] : entryOf("sound", "generate_audio", generateAudio))
  ]
}

/** The items of the shots; fails where the model has no list for them. */
const shotItems = (
  { fields, shots: limits }: QueueVideoModel,
  shots: ReadonlyArray<{ readonly text: string; readonly seconds: number }>
): Result.Result<ReadonlyArray<ShotItem>, FieldFault> =>
  Result.gen(function* () {
    const rule = fields.shots
    if (shots.length === 0) return []
    if (rule === undefined || limits === undefined) {
      return yield* fail("shots", "Expected nothing: this model has no list of shots")
    }
    const items: Array<ShotItem> = []
    for (const [index, { text, seconds }] of shots.entries()) {
      const path = `shots[${index}]`
      const item: MutableBody = {}
      const prompt: Entry = { source: "prompt", path: `${path}.prompt`, value: text }
      yield* writeEntry(item, rule.prompt, prompt)
      yield* writeEntry(item, rule.seconds, {
        source: "seconds",
        path: `${path}.seconds`,
        value: seconds
      })
      items.push({ to: rule.to, item })
    }
    return items
  })

/** The body of a video order. */
export const videoBodyOf = (
  document: QueueDocument,
  model: QueueVideoModel,
  order: QueueVideoOrder
): Written =>
  Result.gen(function* () {
    const { resolutions = [], ratios } = model
    const { resolution, ratio } = order
    const wrongSeconds = secondsFault(model, order.seconds)
    if (wrongSeconds !== null) return yield* fail("duration", wrongSeconds)
    if (resolution !== null && !resolutions.some((name) => name === resolution)) {
      return yield* fail("resolution", `Expected one of ${resolutions.join(", ")}`)
    }
    const media = yield* mediaEntries(model, order.blocks)
    const shape = ratioEntries(model, order, media)
    if (shape.length > 0 && ratios !== undefined && !ratios.some((name) => name === ratio)) {
      return yield* fail("ratio", `Expected one of ${ratios.join(", ")}`)
    }
    const shots = yield* shotItems(model, shotsOf(order.blocks))
    const text = shots.length > 0 ? "" : textOf(order.blocks)
    const entries = [
      ...whereMapped(model, "model", order.upstreamModel),
      ...whereMapped(model, "task", order.taskId),
      ...(text === "" ? [] : entryOf("prompt", "prompt", text)),
      ...choiceEntries(model, order),
      ...shape,
      ...media
    ]
    return yield* writeBody(document, model, entries, order.parameters, shots)
  })

/** Whether the model makes exactly this choice of sound without a field for it. */
const isSoundOf = ({ sound, fields }: QueueVideoModel, hasSound: boolean): boolean =>
  fields.sound === undefined && sound === (hasSound ? "always" : "never")

const mostReferences = ({ forms = [] }: QueueImageModel): number =>
  Math.max(0, ...forms.map(({ takes }) => takes.reference_image ?? 0))

const leastReferences = ({ forms = [] }: QueueImageModel): number =>
  forms.length > 0 && forms.every(({ needs = [] }) => needs.includes("reference_image")) ? 1 : 0

/** The number of images that the model takes as input. */
export const referencesOf = (model: QueueImageModel) => ({
  least: leastReferences(model),
  most: mostReferences(model)
})

/** Whether a request to the model makes a single image. */
export const isSingleImage = ({ fields }: QueueImageModel): boolean => fields.n === undefined

const imageFault = (model: QueueImageModel, order: PlainImageOrder): FieldFault | null => {
  const { least, most } = referencesOf(model)
  const count = order.references.length
  if (count > most) {
    const expectation = most === 0 ? "no images" : `at most ${most} images`
    return { path: "image", message: `Expected ${expectation} for this model` }
  }
  if (count < least) return { path: "image", message: "Expected an image: the model changes one" }
  const images = model.max_images ?? 1
  return !isSingleImage(model) && order.n > images
    ? { path: "n", message: `Expected at most ${images} images of this model in an order` }
    : null
}

/** The body of an image order. */
export const imageBodyOf = (
  document: QueueDocument,
  model: QueueImageModel,
  order: PlainImageOrder
): Written => {
  const fault = imageFault(model, order)
  if (fault !== null) return Result.fail(fault)
  return writeBody(
    document,
    model,
    [
      ...whereMapped(model, "model", model.id),
      ...entryOf("prompt", "prompt", order.prompt),
      ...whereMapped(model, "n", order.n),
      ...(order.size === null ? [] : entryOf("size", "size", order.size)),
      ...order.references.flatMap((value) => entryOf("reference_image", "image", value)),
      ...(order.mask === null ? [] : entryOf("mask", "mask", order.mask))
    ],
    parameterValues(order.fields, parametersOfModel(model, document))
  )
}
