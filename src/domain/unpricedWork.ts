/**
 * Fields of vendors' APIs that no price of the gateway covers: they order more than is held, order
 * from another model, have the result delivered elsewhere than to the gateway, or repeat a field of
 * the gateway under another name. A body that is forwarded unchanged may not contain such fields.
 * Names match as in `resemblances`.
 */
import { Predicate } from "effect"
import { type ImageDimension, imageDimensions } from "./image/imagePrices.ts"
import { fieldKey, isPlain, resemblances, similarNames } from "./nearest.ts"
import { type FieldFault, MAX_FIELD_FAULTS, nameList } from "./requestFields.ts"

type ValuePredicate = (value: unknown) => boolean

interface UnpricedRule {
  readonly names: ReadonlyArray<string>
  /** Whether a value of the field changes nothing. */
  readonly isHarmless: ValuePredicate
  /** The second half of the error message. */
  readonly advice: string
}

const oneOf =
  (...values: ReadonlyArray<unknown>): ValuePredicate =>
  (value) =>
    values.includes(value)

/** Matches null, false and empty values. */
const noValues: ValuePredicate = (value) =>
  Predicate.isObjectOrArray(value) ? Object.keys(value).length === 0 : oneOf(null, false, "")(value)

const isSwitchedOff: ValuePredicate = (value) =>
  Predicate.isObjectOrArray(value) && "mode" in value && value.mode === "off"

const delivery = (product: string): UnpricedRule => ({
  names: nameList(`
    async is_async async_mode enable_async asynchronous delivery_method callback callback_url
    callback_uri callback_address callback_config notify notify_url notify_uri notify_hook
    hook_url webhook webhooks webhook_url webhook_uri webhook_endpoint webhook_config upload_url
    upload_endpoint storage_uri gcs_uri output_uri output_gcs_uri
  `),
  isHarmless: oneOf(null, false, "", "sync"),
  advice: `${product} with the answer, not later and not elsewhere`
})

const tiers: UnpricedRule = {
  names: ["service_tier"],
  isHarmless: oneOf(null, "", "auto", "default", "standard", "flex"),
  advice: "Orders are billed at the standard tier"
}

/** The forms of names for the number of what a noun, in place of `*`, stands for. */
const countForms = nameList(`
  n_* num_* number_* number_of_* max_* total_* batch_* num_*_per_prompt
  *_count *_num *_number *_quantity *_per_prompt
`)

/** The names that vendors give to the number of what a noun stands for. */
const countNames = (noun: string): ReadonlyArray<string> =>
  [noun, `${noun}s`].flatMap((counted) => countForms.map((form) => form.replace("*", counted)))

const imageNouns = nameList(
  "image picture pic output result sample generation variation candidate frame"
)

/** Fields that order more images than one, or have them delivered in another way. */
const imageAmounts: ReadonlyArray<UnpricedRule> = [
  {
    names: [
      ...imageNouns.flatMap(countNames),
      ...nameList(`
        n num number count quantity repeat repeats prompts batch batches batch_size batch_count
        batch_num num_batches n_iter samples variations candidates enable_sequential
        enable_interleave
      `)
    ],
    isHarmless: oneOf(null, false, 1),
    advice: "n is the field for the number of images"
  },
  {
    names: ["sequential_image_generation"],
    isHarmless: oneOf(null, false, "disabled"),
    advice: "n is the field for the number of images, which come one for each"
  },
  {
    names: nameList(`
      stream streaming is_stream enable_stream stream_mode stream_output sse incremental_output
      partial_images partial_image_count
    `),
    isHarmless: oneOf(null, false, 0),
    advice: "stream and partial_images are the fields for this"
  },
  delivery("Images come")
]

const imageWork: ReadonlyArray<UnpricedRule> = [
  ...imageAmounts,
  ...imageDimensions.map(
    (dimension): UnpricedRule => ({
      names: [dimension],
      isHarmless: () => false,
      advice: `${dimension} is read at the top of the order alone, in this very spelling`
    })
  ),
  tiers
]

/**
 * The vendors' names for the dimensions by which an image can be priced. These are not alternative
 * spellings of the gateway's fields, and are forwarded if the price does not depend on the
 * dimension.
 */
const dimensionAliases: Readonly<Record<ImageDimension, ReadonlyArray<string>>> = {
  quality: nameList(`
    image_quality img_quality output_quality picture_quality render_quality rendering_quality
    quality_level quality_mode quality_preset quality_tier definition hd is_hd enable_hd
  `),
  size: nameList(`
    image_size img_size image_sizes output_size picture_size pic_size target_size canvas_size
    sizes size_preset image_dimensions dimension dimensions resolution resolutions
    image_resolution output_resolution target_resolution width height w h image_width image_height
    output_width output_height target_width target_height img_width img_height aspect_ratio
    image_aspect_ratio aspect ratio image_ratio megapixels image_megapixels pixels max_pixels
    longest_side shortest_side upscale upscale_factor scale_factor hires_fix enable_hr hr_scale
  `)
}
const aliasedDimension = resemblances(
  imageDimensions.flatMap((dimension) =>
    dimensionAliases[dimension].map((alias) => [alias, dimension] as const)
  )
)

/** Fields that order more videos than one. */
const videoCounts = nameList("video clip").flatMap(countNames)

/** Fields that order a longer video than the one that is billed. */
const videoLengths = nameList(`
  duration durations duration_seconds duration_sec duration_ms video_duration video_length
  video_seconds num_seconds n_seconds seconds length_seconds frames video_frames
`)

/** Fields that may order dearer work: another model, a better result, sound, or a second step. */
const dearerWork = nameList(`
  mode variant version model_version model_type model_variant speed rendering_speed render_speed
  turbo hdr length frame_rate super_resolution sound audio with_sound has_sound enable_sound
  generate_sound add_sound has_audio add_audio generate_music
`)

/** Fields that have sound made, too. */
const soundSwitches = nameList(`
  output_audio audio_output enable_audio enable_audio_output with_audio generate_audio
  return_audio stream_audio enable_tts use_tts
`)

/** Matches keys of names for dearer work, or for another delivery, of which vendors have many. */
const dearerPart =
  /frames?$|fps|framerate|framespersecond|interpolat|sync|stream|webhook|callback|base64|b64|megapixel|priority|tier$|^(?:up)?scale|upscal|websearch|googlesearch/

const TOOLS = "What a vendor's own tools cost is not among the tokens that are billed"
const MEDIA = "what else a model makes is not among the tokens that are billed"

const isText = (modality: unknown): boolean =>
  typeof modality === "string" && fieldKey(modality) === "text"

const textWork: ReadonlyArray<UnpricedRule> = [
  {
    names: nameList(`
      n best_of num_choices num_completions num_generations num_responses candidate_count
      num_candidates num_return_sequences num_outputs n_samples num_samples use_beam_search
      num_beams beam_width beam_size
    `),
    isHarmless: oneOf(null, false, 1),
    advice: "n is the field for the number of choices"
  },
  { names: ["stream"], isHarmless: oneOf(null, false), advice: "stream is the field for this" },
  {
    names: nameList(
      "web_search web_search_options enable_search force_search enable_code_interpreter"
    ),
    isHarmless: oneOf(null, false, ""),
    advice: TOOLS
  },
  { names: ["plugins", "search_options"], isHarmless: noValues, advice: TOOLS },
  {
    names: ["search_parameters"],
    isHarmless: (value) => oneOf(null, false, "")(value) || isSwitchedOff(value),
    advice: TOOLS
  },
  {
    names: ["tools", "tool_list", "builtin_tools", "built_in_tools", "server_tools"],
    isHarmless: (value) => vendorToolIn(value, "") === null,
    advice: TOOLS
  },
  {
    names: ["modalities", "response_modalities", "output_modalities", "output_modality"],
    isHarmless: (value) => noValues(value) || [value].flat().every(isText),
    advice: `modalities may have text alone: ${MEDIA}`
  },
  {
    names: nameList(
      "audio audio_config audio_params speech speech_config voice voice_config tts_config"
    ),
    isHarmless: (value) => !Predicate.isObject(value) || noValues(value),
    advice: `modalities may have text alone: ${MEDIA}`
  },
  {
    names: soundSwitches,
    isHarmless: noValues,
    advice: `modalities may have text alone: ${MEDIA}`
  },
  delivery("Texts come"),
  tiers
]

type Rules = (key: string) => UnpricedRule | undefined

const rulesOf = (work: ReadonlyArray<UnpricedRule>): Rules =>
  resemblances(work.flatMap((rule) => rule.names.map((name) => [name, rule] as const)))

const imageRules = rulesOf(imageWork)
const textRules = rulesOf(textWork)

/** The `type` values of tools that the client runs. The client also runs a tool without a type. */
const clientTools: ReadonlySet<unknown> = new Set([undefined, null, "function", "custom"])
/** Fields that mark a tool as the vendor's, and the field for its type. */
const toolFields = resemblances([
  ["type", "type"],
  ...nameList(`
    web_search google_search google_search_retrieval enterprise_web_search
    code_execution code_interpreter url_context retrieval file_search mcp
  `).map((name) => [name, "tool"] as const)
])

/** The path of a tool that the client does not run; null if the client runs the tool. */
const vendorToolAt = (tool: unknown, path: string): string | null => {
  if (Array.isArray(tool) || isJson(tool)) return path
  if (!Predicate.isObject(tool)) return null
  for (const [name, value] of Object.entries(tool)) {
    if (name === "type") {
      if (!clientTools.has(value)) return path
      continue
    }
    const meaning = toolFields(fieldKey(name))
    if (meaning !== undefined) return meaning === "type" ? cutPath(`${path}.${name}`) : path
  }
  return null
}

/** The path of the first tool that the client does not run; null if there is none. */
const vendorToolIn = (tools: unknown, path: string): string | null => {
  if (!Array.isArray(tools)) return vendorToolAt(tools, path)
  for (const [index, tool] of tools.entries()) {
    const fault = vendorToolAt(tool, `${path}[${index}]`)
    if (fault !== null) return fault
  }
  return null
}

interface Field {
  readonly path: string
  readonly name: string
  readonly key: string
  /** The key of the enclosing field; null at the top level. */
  readonly under: string | null
  /** Whether a vendor may read the field as a top-level field of the body. */
  readonly isOfBody: boolean
  readonly value: unknown
  /**
   * Set on a placeholder that stands for all fields that were not checked. There is one if a body
   * has more fields than any normal order.
   */
  readonly isLimit?: boolean
}

/** The maximum length of a path in an error, in characters. */
const MAX_PATH = 200
const cutPath = (path: string): string =>
  path.length > MAX_PATH ? path.slice(0, MAX_PATH).toWellFormed() : path.toWellFormed()
/**
 * The maximum number of fields that are checked, twice as many as any normal body has. The limit is
 * needed because JSON inside strings may contain any number of fields.
 */
const MAX_FIELDS = 100_000
/** The number of characters of a JSON string that cost as much time as one field. */
const CHARACTERS_PER_FIELD = 10
/** The number of ASCII names that cost as much time as one name beyond ASCII. */
const FIELDS_PER_FOREIGN_NAME = 40

type Names = ReadonlySet<string>

/** The names of objects whose fields some vendor, relay or client library merges into the body. */
const bodyName = similarNames(
  nameList(`
    extra_body extra_fields extra_params extra_parameters extra_args extra extra_kwargs
    additional_params additional_parameters additional_fields additional_model_request_fields body
    request request_body payload json data params parameters input inputs args arguments kwargs
    model_kwargs model_params model_parameters config configuration settings generation_config
    generation_params image_config image_generation_config provider_options provider_params
    vendor_options vendor_params overrides passthrough custom raw instances requests proto
    constructor prototype
  `)
)

/**
 * Whether a value is a string of JSON. Some vendors parse such strings, which are the only way to
 * nest fields in a form.
 */
const isJson = (value: unknown): value is string =>
  typeof value === "string" && /^\s*[[{]/.test(value)

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The parts of a field name that some vendors read as a path, without those that name nothing. */
export const namesInName = (name: string): ReadonlyArray<string> =>
  name.split(/[.[\]/:]+/).filter((part) => fieldKey(part) !== "")

interface Place extends Pick<Field, "path" | "under" | "isOfBody" | "value"> {
  /** The name of the field; null for the body itself and for items of an array. */
  readonly name: string | null
}

const isNested = (value: unknown): boolean => isJson(value) || Predicate.isObjectOrArray(value)

/**
 * The fields or items of a value, the last one first; only items that can contain fields are
 * included.
 */
function* insideOf(
  { path, under, isOfBody, value }: Place,
  gatewayFields: Names | null
): Generator<Place> {
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      const item: unknown = value[index]
      if (!isNested(item)) continue
      yield { path: cutPath(`${path}[${index}]`), name: null, under, isOfBody, value: item }
    }
  } else if (Predicate.isObject(value)) {
    for (const [name, inner] of Object.entries(value).toReversed()) {
      if (gatewayFields?.has(name)) continue
      const step = gatewayFields === null ? `.${name}` : name
      yield { path: cutPath(`${path}${step}`), name, under, isOfBody, value: inner }
    }
  }
}

/**
 * The position of a field's contents in the body. `keys` are the parts of the field's name, which
 * some vendors read as a path.
 */
const placeInside = (place: Place, keys: ReadonlyArray<string>): Place => ({
  ...place,
  under: keys.at(-1) ?? place.under,
  isOfBody: place.isOfBody && keys.every((key) => bodyName(key) !== undefined)
})

/**
 * Every field in a value, outer fields first, without the top-level `gatewayFields` and their
 * contents. A name such as `extra_body.n` or `extra_body[n]` is also reported as the nested field
 * that some vendors read. A path that is too long is cut.
 */
export function* otherFields(body: unknown, gatewayFields: Names = new Set()): Generator<Field> {
  const places: Array<Place> = []
  let remainingFields = MAX_FIELDS
  let lastPath = ""
  /** The next place in depth-first order. */
  const nextPlace = (place: Place, names: Names | null): Place | undefined => {
    let { value } = place
    if (isJson(value)) {
      remainingFields -= Math.floor(value.length / CHARACTERS_PER_FIELD)
      value = remainingFields > 0 ? readJson(value) : null
    }
    for (const inner of insideOf({ ...place, value }, names)) {
      if (places.push(inner) > remainingFields) break
    }
    return places.pop()
  }
  const top: Place = { path: "", name: null, under: null, isOfBody: true, value: body }
  for (
    let place = nextPlace(top, gatewayFields);
    place !== undefined;
    place = nextPlace(place, null)
  ) {
    const { path, name } = place
    lastPath = path
    remainingFields -= name === null || isPlain(name) ? 1 : FIELDS_PER_FOREIGN_NAME
    if (places.length >= remainingFields) {
      yield { ...place, name: "", key: "", isLimit: true }
      return
    }
    if (name === null) continue
    const key = fieldKey(name)
    const parts = namesInName(name)
    const keys = parts.length > 1 ? parts.map(fieldKey) : [key]
    // The nested field is named first: as a whole, the name may also resemble another field.
    if (parts.length > 1) {
      const outer = placeInside(place, keys.slice(0, -1))
      yield { ...outer, name: parts.at(-1) ?? "", key: keys.at(-1) ?? "" }
    }
    yield { ...place, name, key }
    place = placeInside(place, keys)
  }
  if (remainingFields <= 0) yield { ...top, path: lastPath, name: "", key: "", isLimit: true }
}

/**
 * The fields of an order that the gateway reads, and the fields in which a client may write
 * anything.
 */
export interface GatewayFields {
  /** The names of fields that are not checked; their contents are not checked either. */
  readonly names: Names
  /** Returns the gateway's field that a key resembles. */
  readonly similarField: (key: string) => string | undefined
}

export const gatewayFieldsOf = (
  names: ReadonlyArray<string>,
  openFields: ReadonlyArray<string> = []
): GatewayFields => ({
  names: new Set([...names, ...openFields]),
  similarField: similarNames(names)
})

const isTheField = (name: string): string =>
  `${name} is the field for this, at its own place and in this very spelling: a vendor may read both`

/**
 * Faults for fields of an object that resemble a known field: a vendor may read either of the two.
 */
export const otherSpellings = (
  value: object,
  { names, similarField: fieldName }: GatewayFields
): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  for (const name of Object.keys(value)) {
    if (names.has(name)) continue
    const near = fieldName(fieldKey(name))
    if (near === undefined) continue
    const path = cutPath(name)
    if (faults.push({ path, message: isTheField(near) }) === MAX_FIELD_FAULTS) break
  }
  return faults
}

/**
 * The names of fields by which a router selects another model than the one that the order names.
 */
const otherModelName = similarNames(
  nameList(`
    models fallbacks fallback_models context_window_fallbacks content_policy_fallbacks model_list
    model_id model_name engine deployment deployment_id route preset
  `)
)
/** The prefix of fields by which some routers return mock answers instead of calling the model. */
const MOCK = /^mock_/i

/**
 * Whether a field selects another model, also inside an object that some vendors merge into the
 * body.
 */
const isOtherModel = ({ name, key, under, value }: Field): boolean =>
  (under === null || under === "extrabody") &&
  (otherModelName(key) !== undefined || MOCK.test(name)) &&
  !noValues(value)

const faultOf = (rules: Rules, field: Field, gatewayFields: GatewayFields): string | null => {
  if (field.isLimit) return "Expected fewer values in texts of JSON"
  const rule = rules(field.key)
  const advice = rule === undefined || rule.isHarmless(field.value) ? null : rule.advice
  const fieldName = field.isOfBody ? gatewayFields.similarField(field.key) : undefined
  if (fieldName !== undefined && advice?.includes(fieldName) !== true) return isTheField(fieldName)
  if (advice !== null) return advice
  return isOtherModel(field) ? isTheField("model") : null
}

const faultsOf = (
  rules: Rules,
  body: object,
  gatewayFields: GatewayFields
): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  if (Object.keys(body).every((name) => gatewayFields.names.has(name))) return faults
  for (const field of otherFields(body, gatewayFields.names)) {
    const message = faultOf(rules, field, gatewayFields)
    if (message === null || faults.at(-1)?.path === field.path) continue
    if (faults.push({ path: field.path, message }) === MAX_FIELD_FAULTS) break
  }
  return faults
}

/**
 * What a field of a vendor may change of the bill: the `amount` of what is made, or where it is
 * delivered, the `length` of a video, or the `price` of one product.
 */
export type BillEffect = "amount" | "length" | "price"

const entriesOf = (names: ReadonlyArray<string>, effect: BillEffect) =>
  names.map((name) => [name, effect] as const)

const namesOf = (rules: ReadonlyArray<UnpricedRule>) => rules.flatMap(({ names }) => names)

const billEffects = resemblances([
  ...entriesOf(dearerWork, "price"),
  ...entriesOf(soundSwitches, "price"),
  ...entriesOf(tiers.names, "price"),
  ...entriesOf(namesOf(textWork.filter(({ advice }) => advice === TOOLS)), "price"),
  ...entriesOf([...imageDimensions, ...Object.values(dimensionAliases).flat()], "price"),
  ...entriesOf(videoLengths, "length"),
  ...entriesOf(videoCounts, "amount"),
  ...entriesOf(namesOf(imageAmounts), "amount")
])

const billEffectOfKey = (key: string): BillEffect | null =>
  billEffects(key) ?? (dearerPart.test(key) || otherModelName(key) !== undefined ? "price" : null)

/**
 * What a field of this name may change of the bill, whatever its values are; null if it changes
 * nothing. Some vendors read a name as a path, so each part of it counts.
 */
export const billEffectOf = (name: string): BillEffect | null => {
  const effects = [name, ...namesInName(name)].map((part) => billEffectOfKey(fieldKey(part)))
  return effects.find((effect) => effect !== null) ?? null
}

/** Whether a field with this effect certainly orders more than what is billed. */
export const ordersMore = (effect: BillEffect | null): boolean =>
  effect === "amount" || effect === "length"

/** Faults for fields of an image request that order unpriced work. */
export const unpricedImageWork = (
  body: object,
  gatewayFields: GatewayFields
): ReadonlyArray<FieldFault> => faultsOf(imageRules, body, gatewayFields)

/**
 * Faults for fields from which a vendor may read a dimension that the price of an image depends on.
 */
export const dimensionFaults = (
  body: object,
  gatewayFields: GatewayFields,
  pricedDimensions: ReadonlySet<ImageDimension>
): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  if (pricedDimensions.size === 0) return faults
  for (const { path, key, value } of otherFields(body, gatewayFields.names)) {
    const dimension = aliasedDimension(key)
    if (dimension === undefined || !pricedDimensions.has(dimension) || noValues(value)) continue
    const message = `${dimension} is the field for this, as the price of this model depends on it`
    if (faults.push({ path, message }) === MAX_FIELD_FAULTS) break
  }
  return faults
}

/** Faults for fields of a text request that order unpriced work. */
export const unpricedTextWork = (
  body: Readonly<Record<string, unknown>>,
  gatewayFields: GatewayFields
): ReadonlyArray<FieldFault> => {
  const tool = vendorToolIn(body.tools, "tools")
  return [
    ...faultsOf(textRules, body, gatewayFields),
    ...(tool === null ? [] : [{ path: tool, message: TOOLS }])
  ]
}
