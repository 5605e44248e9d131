/**
 * Fields of vendors' interfaces that no price of ours covers: they have more made than is held for,
 * have another model make it, or have it delivered past the gateway. Bodies that are handed on may not
 * have them, at whatever depth. Names are matched by `fieldKey`.
 */
import { Predicate } from "effect"
import { fieldKey } from "./nearest.ts"
import { type FieldFault, MAX_FIELD_FAULTS } from "./requestFields.ts"

type Values = (value: unknown) => boolean

interface Refused {
  readonly names: ReadonlyArray<string>
  /** Values that change nothing. */
  readonly harmless: Values
  /** What an error says. */
  readonly advice: string
}

const oneOf =
  (...values: ReadonlyArray<unknown>): Values =>
  (value) =>
    values.includes(value)

/** What says nothing, or has nothing in it. */
const nothing: Values = (value) =>
  Predicate.isObjectOrArray(value) ? Object.keys(value).length === 0 : oneOf(null, false, "")(value)

const isSwitchedOff: Values = (value) =>
  Predicate.isObjectOrArray(value) && "mode" in value && value.mode === "off"

const delivery = (product: string): Refused => ({
  names: [
    ...["async", "is_async", "async_mode", "enable_async", "asynchronous", "delivery_method"],
    ...["callback", "callback_url", "callback_uri", "callback_address", "callback_config"],
    ...["notify", "notify_url", "notify_uri", "notify_hook", "hook_url"],
    ...["webhook", "webhooks", "webhook_url", "webhook_uri", "webhook_endpoint", "webhook_config"],
    ...["upload_url", "upload_endpoint", "storage_uri", "gcs_uri", "output_uri", "output_gcs_uri"]
  ],
  harmless: oneOf(null, false, "", "sync"),
  advice: `${product} with the answer, not later and not elsewhere`
})

const tiers: Refused = {
  names: ["service_tier"],
  harmless: oneOf(null, "", "auto", "default", "standard", "flex"),
  advice: "Orders are billed at the standard tier"
}

const imageWork: ReadonlyArray<Refused> = [
  {
    names: [
      ...["n", "num", "number", "count", "quantity", "repeat", "repeats", "prompts"],
      ...["batch", "batches", "batch_size", "batch_count", "batch_num", "num_batches", "n_iter"],
      ...["samples", "n_samples", "num_samples", "sample_num", "sample_count"],
      ...["num_images", "n_images", "image_num", "images_num", "image_count", "images_count"],
      ...["number_of_images", "num_images_per_prompt", "images_per_prompt", "max_images"],
      ...["image_number", "image_quantity", "num_pictures", "picture_count", "pic_num"],
      ...["num_outputs", "n_outputs", "number_of_outputs", "output_num", "output_count"],
      ...["num_results", "number_results", "number_of_results", "result_count"],
      ...["num_generations", "generation_count", "num_variations", "variations", "variation_count"],
      ...["candidates", "candidate_count", "num_candidates", "number_of_candidates"],
      ...["enable_sequential", "enable_interleave", "frame_count"]
    ],
    harmless: oneOf(null, false, 1),
    advice: "n is the field for the number of images"
  },
  {
    names: ["sequential_image_generation"],
    harmless: oneOf(null, false, "disabled"),
    advice: "n is the field for the number of images, which come one for each"
  },
  {
    names: [
      ...["stream", "streaming", "is_stream", "enable_stream", "stream_mode", "stream_output"],
      ...["sse", "incremental_output", "partial_images", "partial_image_count"]
    ],
    harmless: oneOf(null, false, 0),
    advice: "stream and partial_images are the fields for this"
  },
  delivery("Images come"),
  tiers
]

const TOOLS = "What a vendor's own tools cost is not among the tokens that are billed"

const textWork: ReadonlyArray<Refused> = [
  {
    names: [
      ...["n", "best_of", "num_choices", "num_completions", "num_generations", "num_responses"],
      ...["candidate_count", "num_candidates", "num_return_sequences", "num_outputs"],
      ...["n_samples", "num_samples", "use_beam_search", "num_beams", "beam_width", "beam_size"]
    ],
    harmless: oneOf(null, false, 1),
    advice: "n is the field for the number of choices"
  },
  { names: ["stream"], harmless: oneOf(null, false), advice: "stream is the field for this" },
  {
    names: [
      ...["web_search", "web_search_options", "enable_search", "force_search"],
      "enable_code_interpreter"
    ],
    harmless: oneOf(null, false, ""),
    advice: TOOLS
  },
  { names: ["plugins", "search_options"], harmless: nothing, advice: TOOLS },
  {
    names: ["search_parameters"],
    harmless: (value) => oneOf(null, false, "")(value) || isSwitchedOff(value),
    advice: TOOLS
  },
  delivery("Texts come"),
  tiers
]

type Rules = ReadonlyMap<string, Refused>

const rulesOf = (work: ReadonlyArray<Refused>): Rules =>
  new Map(work.flatMap((rule) => rule.names.map((name) => [fieldKey(name), rule] as const)))

const imageRules = rulesOf(imageWork)
const textRules = rulesOf(textWork)

/** Tools that the client runs, by their `type`; a tool without one is taken for such. */
const clientTools: ReadonlySet<unknown> = new Set([undefined, null, "function", "custom"])
/** Where a tool has no `type`, these fields make it one of the vendor's. */
const vendorTools: ReadonlySet<string> = new Set(
  [
    ...["web_search", "google_search", "google_search_retrieval", "enterprise_web_search"],
    ...["code_execution", "code_interpreter", "url_context", "retrieval", "file_search", "mcp"]
  ].map(fieldKey)
)

interface Field {
  readonly path: string
  readonly name: string
  readonly key: string
  /** The key of the field it is in; null at the top. */
  readonly under: string | null
  readonly value: unknown
}

/** Of a path in an error. */
const MAX_PATH = 200

type Names = ReadonlySet<string>
const none: Names = new Set()

/**
 * Every field in a value, the outer ones first, but for its own of the names `own` and what is in
 * them. A path that is too long is cut.
 */
export function* otherFields(
  value: unknown,
  own = none,
  parent = "",
  under: string | null = null
): Generator<Field> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      yield* otherFields(item, none, `${parent}[${index}]`, under)
    }
  } else if (Predicate.isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      if (own.has(name)) continue
      const path = `${parent === "" ? "" : `${parent}.`}${name}`.slice(0, MAX_PATH).toWellFormed()
      const key = fieldKey(name)
      yield { path, name, key, under, value: inner }
      yield* otherFields(inner, none, path, key)
    }
  }
}

/** Fields that ask a router for another model than the order names. */
const otherModels: ReadonlySet<string> = new Set(
  [
    ...["models", "fallbacks", "fallback_models", "context_window_fallbacks"],
    ...["content_policy_fallbacks", "model_list", "model_id", "model_name", "engine"],
    ...["deployment", "deployment_id", "route", "preset"]
  ].map(fieldKey)
)
/** Where a field begins so, some routers answer in the place of the model. */
const MOCK = /^mock_/i

/** `model` in other letters and the like, also where some vendors merge it into the body. */
const isOtherModel = ({ name, key, under, value }: Field): boolean => {
  if (under !== null && under !== "extrabody") return false
  return key === "model" || ((otherModels.has(key) || MOCK.test(name)) && !nothing(value))
}

const faultsOf = (rules: Rules, body: object, own: Names): ReadonlyArray<FieldFault> => {
  const faults: Array<FieldFault> = []
  for (const field of otherFields(body, own)) {
    if (faults.length === MAX_FIELD_FAULTS) break
    const rule = rules.get(field.key)
    if (isOtherModel(field)) {
      faults.push({ path: field.path, message: "model is the field for the model" })
    } else if (rule !== undefined && !rule.harmless(field.value)) {
      faults.push({ path: field.path, message: rule.advice })
    }
  }
  return faults
}

const isVendorTool = (tool: unknown): boolean =>
  Predicate.isObjectOrArray(tool) &&
  (("type" in tool && !clientTools.has(tool.type)) ||
    Object.keys(tool).some((name) => vendorTools.has(fieldKey(name))))

const toolFaults = (tools: unknown): ReadonlyArray<FieldFault> => {
  const index = [tools].flat().findIndex(isVendorTool)
  return index < 0 ? [] : [{ path: `tools[${index}]`, message: TOOLS }]
}

/** What of an image request would be made and is not paid for; `own` are the fields of ours. */
export const unpricedImageWork = (body: object, own: Names): ReadonlyArray<FieldFault> =>
  faultsOf(imageRules, body, own)

/** What of a text request would be done and is not paid for; `own` are the fields of ours. */
export const unpricedTextWork = (
  body: Readonly<Record<string, unknown>>,
  own: Names
): ReadonlyArray<FieldFault> => [...faultsOf(textRules, body, own), ...toolFaults(body.tools)]
