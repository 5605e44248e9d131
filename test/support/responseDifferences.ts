/** Compares events of the Responses API with the recorded ones. */
import { Predicate } from "effect"
import { type Fields, fieldsIn, listIn } from "../../src/domain/responses/responseObject.ts"
import {
  annotationShapes,
  emptyWhenAdded,
  eventShapes,
  fieldShapes,
  itemShapes,
  partShapes,
  repeatShapes,
  responseShapes
} from "./recordedResponseEvents.ts"

const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

const fieldsOf = (shape: string) =>
  new Map(
    shape.split(/\s+/).map((field) => {
      const [name = "", types = ""] = field.split(":")
      const isOptional = name.endsWith("?")
      return [isOptional ? name.slice(0, -1) : name, { isOptional, types: types.split("|") }]
    })
  )

/** What differs in the fields of one object. */
const differencesIn = (
  path: string,
  value: Fields,
  shape: string | undefined
): ReadonlyArray<string> => {
  if (shape === undefined) return [`${path}: not recorded`]
  const fields = fieldsOf(shape)
  return [
    ...[...fields].flatMap(([name, { isOptional }]) =>
      isOptional || name in value ? [] : [`${path}.${name}: missing`]
    ),
    ...Object.entries(value).flatMap(([name, content]) => {
      const types = fields.get(name)?.types
      const type = typeOf(content)
      if (types === undefined) return [`${path}.${name}: ${type}, not recorded`]
      return types.includes(type)
        ? []
        : [`${path}.${name}: ${type}, recorded ${types.join(" or ")}`]
    })
  ]
}

const byType =
  (path: string, shapes: Readonly<Record<string, string>>) =>
  (value: Fields): ReadonlyArray<string> => {
    const type = String(value.type)
    return differencesIn(`${path}.${type}`, value, shapes[type])
  }

const inLogprobs = (value: unknown) =>
  listIn(value).flatMap((logprob) => differencesIn("logprobs", logprob, fieldShapes.logprobs))

const inAnnotation = byType("annotations", annotationShapes)

const inPart = (part: Fields): ReadonlyArray<string> => [
  ...byType("part", partShapes)(part),
  ...inLogprobs(part.logprobs),
  ...listIn(part.annotations).flatMap(inAnnotation)
]

const inItem = (item: Fields): ReadonlyArray<string> => [
  ...byType("item", itemShapes)(item),
  ...[...listIn(item.content), ...listIn(item.summary)].flatMap(inPart)
]

const inField = (name: string, value: unknown): ReadonlyArray<string> =>
  Predicate.isObject(value) ? differencesIn(name, fieldsIn(value), fieldShapes[name]) : []

const inUsage = (usage: unknown): ReadonlyArray<string> => {
  const { input_tokens_details, output_tokens_details } = fieldsIn(usage)
  return [
    ...inField("usage", usage),
    ...inField("input_tokens_details", input_tokens_details),
    ...inField("output_tokens_details", output_tokens_details)
  ]
}

const inRepeat = byType("tools", repeatShapes)

/** What differs in a response from those that were recorded with its status. */
const responseDifferences = (response: Fields): ReadonlyArray<string> => [
  ...differencesIn("response", response, responseShapes[String(response.status)]),
  ...listIn(response.output).flatMap(inItem),
  ...["error", "incomplete_details", "reasoning", "text"].flatMap((name) =>
    inField(name, response[name])
  ),
  ...inUsage(response.usage),
  ...inRepeat(fieldsIn(fieldsIn(response.text).format)),
  ...listIn(response.tools).flatMap(inRepeat)
]

/** What an added item or part already has, though its further events bring it. */
const inAdded = (type: string, added: Fields): ReadonlyArray<string> => [
  ...emptyWhenAdded.flatMap((name) => {
    const value = added[name]
    const isEmpty = value === undefined || value === "" || (Array.isArray(value) && !value.length)
    return isEmpty ? [] : [`${type}.${name}: recorded empty`]
  }),
  ...("status" in added && added.status !== "in_progress"
    ? [`${type}.status: ${String(added.status)}, recorded in_progress`]
    : [])
]

const inEvent = (event: Fields): ReadonlyArray<string> => {
  const type = String(event.type)
  const { response, item, part, annotation } = event
  return [
    ...differencesIn(type, event, eventShapes[type]),
    ...(type.endsWith(".added") ? inAdded(type, { ...fieldsIn(item), ...fieldsIn(part) }) : []),
    ...inLogprobs(event.logprobs),
    ...(response === undefined ? [] : responseDifferences(fieldsIn(response))),
    ...(item === undefined ? [] : inItem(fieldsIn(item))),
    ...(part === undefined ? [] : inPart(fieldsIn(part))),
    ...(annotation === undefined ? [] : inAnnotation(fieldsIn(annotation)))
  ]
}

/** What differs in the events from the recorded ones, each difference once. */
export const differencesOf = (events: ReadonlyArray<Fields>): ReadonlyArray<string> => [
  ...new Set(events.flatMap(inEvent))
]

/** The types of the events in their order, with repeated types as one. */
export const orderOf = (events: ReadonlyArray<Fields>): ReadonlyArray<unknown> =>
  events.map(({ type }) => type).filter((type, index, types) => type !== types[index - 1])
