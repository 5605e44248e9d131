/** Fields of request bodies: those that may be left out, those of the vendor, and unknown ones. */
import { Result, Schema, SchemaIssue } from "effect"
import { InvalidRequest } from "./Errors.ts"
import { fieldKey, nearestName, resemblances } from "./nearest.ts"
import { plainText } from "./plainText.ts"

export interface FieldFault {
  readonly path: string
  readonly message: string
}

/** Our messages in place of the library's. */
const messagesByTag: Readonly<Record<string, string>> = {
  MissingKey: "This field is required",
  UnexpectedKey: "There is no such field"
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => messagesByTag[issue._tag] ?? SchemaIssue.defaultLeafHook(issue)
})

/** `content[0].image_url`, as a client would write it. */
const formatPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((segment) => (typeof segment === "object" ? segment.key : segment))
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "")

/** What a schema finds wrong with a document, by path and in the words of this interface. */
export const issueFaults = (issue: SchemaIssue.Issue): ReadonlyArray<FieldFault> =>
  formatIssue(issue).issues.map(({ path = [], message }) => ({ path: formatPath(path), message }))

/** Names that are written as one text, with blanks between them. */
export const nameList = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** An error lists at most so many faults. */
export const MAX_FIELD_FAULTS = 20
/** Longest name in an error, in characters. */
const MAX_NAME = 100

/** Fails with all faults, the first of them in front; succeeds where there are none. */
export const withoutFaults = (
  faults: ReadonlyArray<FieldFault>
): Result.Result<void, InvalidRequest> => {
  const [first] = faults
  return first === undefined
    ? Result.succeed(undefined)
    : Result.fail(
        new InvalidRequest({
          message: `${first.path}: ${first.message}`,
          param: first.path,
          ...(faults.length > 1 ? { faults } : {})
        })
      )
}

/**
 * Faults for every field that is not one of `fields`, each with the field that it may stand for: by
 * `aliases`, by what it resembles, or by a similar spelling.
 */
export const unknownFields = (
  value: object,
  fields: Readonly<Record<string, unknown>>,
  aliases: ReadonlyMap<string, string> = new Map()
): ReadonlyArray<FieldFault> => {
  const unknownNames = Object.keys(value).filter((name) => !Object.hasOwn(fields, name))
  if (unknownNames.length === 0) return []
  const names = Object.keys(fields)
  const similarField = resemblances([...aliases, ...names.map((name) => [name, name] as const)])
  return unknownNames.slice(0, MAX_FIELD_FAULTS).map((name) => {
    const path = name.slice(0, MAX_NAME).toWellFormed()
    const similarName = similarField(fieldKey(path)) ?? nearestName(path, names)
    const question = similarName === null ? "" : `; did you mean ${similarName}?`
    return { path, message: `There is no such field${question}` }
  })
}

/** A check of a schema that reports each fault at its field. */
export const fieldCheck = <A extends object>(faultsOf: (value: A) => ReadonlyArray<FieldFault>) =>
  Schema.makeFilter((value: A) =>
    faultsOf(value).map(({ path, message }) => ({ path: [path], issue: message }))
  )

/** Further fields of an object, which belong to the vendor. */
export const anyFields = [Schema.Record(Schema.String, Schema.Unknown)] as const

/**
 * A field that may be left out or null, which mean the same. `expected` is what an error says the
 * field should have been, such as "a whole number of seconds".
 */
export const optional = <S extends Schema.Top>(schema: S, expected: string) =>
  Schema.optionalKey(Schema.NullOr(schema).annotate({ expected: `${expected}, or null` }))

const MAX_CALLBACK_URL = 2048

/** The field of orders that may end after they were answered. */
export const CallbackUrl = optional(plainText(MAX_CALLBACK_URL), "an https URL").annotate({
  description:
    "An https URL that is told the end, signed with the organisation's callback secret; not sent to the vendor"
})

/** JSON's own `true` and `false`. */
export const optionalBoolean = optional(Schema.Boolean, "true or false, without quotes")

/** A whole number, within the bounds if any. */
export const optionalWholeNumber = (
  expected: string,
  bounds?: { readonly minimum: number; readonly maximum: number }
) => {
  const wholeNumber = Schema.Number.check(Schema.isInt({ expected }))
  return optional(
    bounds === undefined ? wholeNumber : wholeNumber.check(Schema.isBetween(bounds, { expected })),
    `${expected}, without quotes`
  )
}
