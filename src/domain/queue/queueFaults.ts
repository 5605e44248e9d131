/** Finds the contradictions of a vendor's document: what its shape alone cannot refuse. */
import { Struct } from "effect"
import type { FieldFault } from "../requestFields.ts"
import { billEffectOf, ordersMore } from "../unpricedWork.ts"
import { type InputRole, inputRoles } from "../video/families/VideoFamily.ts"
import { secondsBetween, secondsOfLimit } from "../video/videoLimits.ts"
import { readInputSchema, referenceFaults } from "./inputSchema.ts"
import { fieldPointer, isListPointer, overlap } from "./jsonPointer.ts"
import type {
  FieldRule,
  QueueDocument,
  QueueImageModel,
  QueueModel,
  QueueVideoModel,
  Source
} from "./QueueDocument.ts"
import { fieldsLacked, gatewayFieldNames, parametersOfModel, placesOf } from "./queueParameters.ts"

type Faults = Generator<FieldFault, void>

const quote = (text: string): string => JSON.stringify(text)

function* callFaults({ calls }: QueueDocument): Faults {
  if (calls.submit.path.includes("{id}")) {
    yield { path: "calls.submit.path", message: "A job has no {id} before it is submitted" }
  }
  for (const name of ["status", "result", "cancel"] as const) {
    const call = calls[name]
    if (call === undefined || call.path.includes("{id}")) continue
    yield { path: `calls.${name}.path`, message: "Expected {id}, the id of the job" }
  }
}

/**
 * The headers of the connection and of the form of the body: another value than the one of the HTTP
 * client would contradict what is sent, and break the request.
 */
const clientHeaders =
  /^(?:proxy-.*|connection|content-length|content-type|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade)$/

/** Requires that the document writes no header of the HTTP client. */
function* headerFaults({ key, calls }: QueueDocument): Faults {
  const { submit, status, result, cancel } = calls
  const tables = {
    "submit.headers": submit.headers,
    "submit.image_headers": submit.image_headers,
    "status.headers": status.headers,
    "result.headers": result?.headers,
    "cancel.headers": cancel?.headers
  }
  const names = Object.entries(tables).flatMap(([table, headers = {}]) =>
    Object.keys(headers).map((name) => ({ path: `calls.${table}.${name}`, name }))
  )
  for (const { path, name } of [{ path: "key.header", name: key.header }, ...names]) {
    if (!clientHeaders.test(name)) continue
    yield { path, message: `Expected another header: the HTTP client alone writes ${name}` }
  }
}

/** Requires that each name has one meaning. */
function* nameFaults(
  path: string,
  lists: Readonly<Record<string, ReadonlyArray<string> | undefined>>
): Faults {
  const meanings = new Map<string, string>()
  for (const [meaning, names = []] of Object.entries(lists)) {
    for (const [index, name] of names.entries()) {
      const other = meanings.get(name)
      if (other !== undefined) {
        yield {
          path: `${path}.${meaning}[${index}]`,
          message: `${quote(name)} already means ${other}`
        }
      }
      meanings.set(name, meaning)
    }
  }
}

/** Meanings of jobs that may have a product, which is to be paid. */
const payableMeanings = ["queued", "open", "finished"] as const

/** Requires that no job counts as cancelled, so that nothing is charged, while it may be finished. */
function* cancelledFaults({ statuses, calls: { cancel } }: QueueDocument): Faults {
  for (const [index, name] of (cancel?.cancelled ?? []).entries()) {
    const meaning = payableMeanings.find((one) => statuses[one]?.includes(name))
    if (meaning === undefined) continue
    yield {
      path: `calls.cancel.cancelled[${index}]`,
      message: `${quote(name)} means ${meaning} in statuses, and a cancelled job has ended without a product: list it in requested or refused`
    }
  }
}

function* statusFaults(document: QueueDocument): Faults {
  const { statuses, calls } = document
  const { cancel } = calls
  yield* nameFaults("statuses", statuses)
  if (statuses.finished.length === 0) {
    yield { path: "statuses.finished", message: "Expected the name of a finished job" }
  }
  if (cancel === undefined) return
  const { cancelled, requested, refused } = cancel
  yield* nameFaults("calls.cancel", { cancelled, requested, refused })
  yield* cancelledFaults(document)
  if ((cancelled ?? requested) === undefined) {
    yield { path: "calls.cancel", message: "Expected the names in cancelled or requested" }
  }
  if (cancel.jobs === "queued" && (statuses.queued ?? []).length === 0) {
    yield { path: "calls.cancel.jobs", message: "No status in statuses.queued tells such jobs" }
  }
}

const refusalStatus = /^(?:40[0-4]|413|415|422)$/

/** Requires statuses with which a vendor refuses before it works. */
function* refusalFaults({ refusals: { statuses = {} } }: QueueDocument): Faults {
  for (const status of Object.keys(statuses)) {
    if (refusalStatus.test(status)) continue
    const message =
      "Expected a status of refusals: 400 to 404, 413, 415 or 422. Others prove nothing by themselves: list the code"
    yield { path: `refusals.statuses.${status}`, message }
  }
}

function* answerFaults({ answers }: QueueDocument): Faults {
  for (const name of ["id", "status", "files"] as const) {
    if (answers[name].length > 0) continue
    yield { path: `answers.${name}`, message: "Expected at least one place" }
  }
}

/** Requires that no place of the body is written twice. */
function* placeFaults(path: string, model: QueueModel, document: QueueDocument): Faults {
  const parent = document.parameters_at ?? ""
  const targets = [
    ...Struct.keys(model.fields).flatMap((source) => {
      const rule = model.fields[source]
      const places = rule === undefined ? [] : placesOf(rule)
      return places.map((place) => ({ place, at: `${path}.fields.${source}` }))
    }),
    ...Object.keys(model.constants ?? {}).map((place) => ({ place, at: `${path}.constants` })),
    ...Object.keys(model.parameters ?? {}).map((name) => ({
      place: fieldPointer(parent, name),
      at: `${path}.parameters.${name}`
    }))
  ]
  for (const [index, { place, at }] of targets.entries()) {
    const other = targets.slice(0, index).find((earlier) => overlap(earlier.place, place))
    const isShared = isListPointer(place) && model.fields.shots?.to !== place
    if (other === undefined || (other.place === place && isShared)) continue
    yield { path: at, message: `${place} is already written by ${other.at}` }
  }
}

/** Why the mapping does not carry so many media of a role; null if it does. */
const roleFault = (
  path: string,
  { fields, modality }: QueueModel,
  role: InputRole,
  most: number
): { readonly path: string | null; readonly message: string } | null => {
  const rule = fields[role]
  if (modality === "image" && role !== "reference_image") {
    return { path: null, message: "Image models take reference_image alone" }
  }
  if (rule === undefined) return { path: null, message: `No field of the body has ${role}` }
  if (most === 1 || placesOf(rule).every(isListPointer)) return null
  return {
    path: `${path}.fields.${role}`,
    message: `${placesOf(rule).join(", ")} holds one of ${most}; a list ends with /-`
  }
}

/** Requires that the mapping carries the media of every form. */
function* formFaults(path: string, model: QueueModel): Faults {
  for (const [index, { takes, needs = [] }] of (model.forms ?? []).entries()) {
    const at = `${path}.forms[${index}]`
    for (const role of inputRoles) {
      const most = takes[role] ?? 0
      const fault = most === 0 ? null : roleFault(path, model, role, most)
      if (fault !== null) yield { ...fault, path: fault.path ?? `${at}.takes.${role}` }
    }
    yield* needFaults(at, takes, needs)
  }
}

function* needFaults(
  path: string,
  takes: Readonly<Partial<Record<InputRole, number>>>,
  needs: ReadonlyArray<InputRole>
): Faults {
  for (const [index, role] of needs.entries()) {
    if ((takes[role] ?? 0) > 0) continue
    yield { path: `${path}.needs[${index}]`, message: `The form does not take ${role}` }
  }
}

/** The values of a table that the rule lacks. */
const valuesLacked = (
  rule: FieldRule,
  values: ReadonlyArray<string | number>
): ReadonlyArray<string | number> => {
  const table = typeof rule === "object" && "to" in rule ? rule.values : undefined
  if (table === undefined) return []
  return values.filter((value) => !Object.hasOwn(table, String(value)))
}

/** Requires that the mapping carries each choice that the model offers. */
function* choiceFaults(
  path: string,
  { fields }: QueueModel,
  source: Source,
  choices: ReadonlyArray<string | number>
): Faults {
  const rule = fields[source]
  if (rule === undefined) {
    if (choices.length < 2) return
    yield { path: `${path}.fields`, message: `Expected ${source}, as the model has several` }
    return
  }
  const missingValues = valuesLacked(rule, choices)
  if (missingValues.length === 0) return
  yield {
    path: `${path}.fields.${source}.values`,
    message: `Expected ${missingValues.join(", ")} too`
  }
}

function* videoFaults(path: string, model: QueueVideoModel): Faults {
  const { fields, seconds, resolutions = [], ratios = [], sound, smart } = model
  const lengths = secondsOfLimit(seconds)
  if (lengths.length === 0) {
    yield { path: `${path}.seconds`, message: "Expected the least seconds before the most" }
  }
  if ((model.forms ?? []).length === 0) {
    yield { path: `${path}.forms`, message: 'Expected a form; [{"takes": {}}] is a text alone' }
  }
  yield* choiceFaults(path, model, "seconds", smart === true ? [-1, ...lengths] : lengths)
  // A size stands for the resolution and the ratio together.
  if (fields.size === undefined) {
    yield* choiceFaults(path, model, "resolution", resolutions)
    yield* choiceFaults(path, model, "ratio", ratios)
  }
  yield* shotFaults(path, model)
  if (sound === "switch" && fields.sound === undefined) {
    yield { path: `${path}.sound`, message: "No field of the body has the sound" }
  }
  for (const source of ["n", "mask"] as const) {
    if (fields[source] === undefined) continue
    yield { path: `${path}.fields.${source}`, message: "Orders of videos have no such field" }
  }
}

/** Requires that the list of shots holds what the model takes of them. */
function* shotFaults(path: string, { fields, shots, seconds }: QueueVideoModel): Faults {
  const rule = fields.shots
  if (rule === undefined) {
    if (shots === undefined) return
    yield { path: `${path}.shots`, message: "No field of the body has the shots" }
    return
  }
  if (!rule.to.endsWith("/-")) {
    yield { path: `${path}.fields.shots.to`, message: "Expected the place of a list, with /- last" }
  }
  const [promptPlace = ""] = placesOf(rule.prompt)
  const [secondsPlace = ""] = placesOf(rule.seconds)
  if (overlap(promptPlace, secondsPlace)) {
    const message = `${secondsPlace} is already written by ${path}.fields.shots.prompt`
    yield { path: `${path}.fields.shots.seconds`, message }
  }
  if (shots === undefined) {
    yield { path: `${path}.fields.shots`, message: "Expected the limits in shots too" }
    return
  }
  const [min, max] = shots.seconds
  if (min > max || min > Math.max(...secondsOfLimit(seconds))) {
    const message =
      "Expected the least seconds before the most, and within the lengths of the model"
    yield { path: `${path}.shots.seconds`, message }
    return
  }
  const missingValues = valuesLacked(rule.seconds, secondsBetween(shots.seconds))
  if (missingValues.length > 0) {
    const message = `Expected ${missingValues.join(", ")} too`
    yield { path: `${path}.fields.shots.seconds.values`, message }
  }
}

const videoSources = ["task", "seconds", "resolution", "ratio", "sound", "shots"] as const

function* imageFaults(path: string, { fields, max_images = 1 }: QueueImageModel): Faults {
  if (max_images > 1 && fields.n === undefined) {
    yield { path: `${path}.max_images`, message: "No field of the body has the number of images" }
  }
  for (const source of videoSources) {
    if (fields[source] === undefined) continue
    yield { path: `${path}.fields.${source}`, message: "Orders of images have no such field" }
  }
}

/** Requires a schema that can be read, and a place for each field that it requires. */
function* schemaFaults(path: string, model: QueueModel, document: QueueDocument): Faults {
  const { input_schema } = model
  if (input_schema === undefined) return
  yield* referenceFaults(`${path}.input_schema`, input_schema)
  if (readInputSchema(input_schema) === null) {
    const message =
      "Expected a JSON Schema with properties, or an OpenAPI document with components.schemas.Input or a request body"
    yield { path: `${path}.input_schema`, message }
  }
  for (const name of fieldsLacked(model, document)) {
    const message = `${name} is required, and no field, constant or parameter writes it`
    yield { path: `${path}.input_schema.required`, message }
  }
}

function* parameterNameFaults(path: string, model: QueueModel, document: QueueDocument): Faults {
  const gatewayFields = gatewayFieldNames(model)
  for (const name of Object.keys(parametersOfModel(model, document))) {
    const at = `${path}.parameters.${name}`
    if (gatewayFields.includes(name)) {
      const message = `The gateway has a field ${name}; map it, or list it in input_schema_without`
      yield { path: at, message }
    } else if (ordersMore(billEffectOf(name))) {
      const message = `${name} changes how much is made, or where it goes, and no price covers that: map it, or write it in constants`
      yield { path: at, message }
    }
  }
}

function* modelFaults(document: QueueDocument): Faults {
  const modelIds = new Set<string>()
  for (const [index, model] of document.models.entries()) {
    const path = `models[${index}]`
    if (modelIds.has(model.id)) {
      yield { path: `${path}.id`, message: `${quote(model.id)} is listed twice` }
    }
    modelIds.add(model.id)
    if (model.fields.prompt === undefined && model.ignores === undefined) {
      const message = 'Expected prompt, or "ignores": ["prompt"] of a model without one'
      yield { path: `${path}.fields`, message }
    }
    yield* formFaults(path, model)
    yield* placeFaults(path, model, document)
    yield* model.modality === "video" ? videoFaults(path, model) : imageFaults(path, model)
    yield* schemaFaults(path, model, document)
    yield* parameterNameFaults(path, model, document)
  }
}

/** Every contradiction of a document, with its path. */
export const documentFaults = (document: QueueDocument): ReadonlyArray<FieldFault> => [
  ...callFaults(document),
  ...headerFaults(document),
  ...answerFaults(document),
  ...refusalFaults(document),
  ...statusFaults(document),
  ...modelFaults(document)
]
