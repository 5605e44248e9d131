/**
 * Building blocks for request bodies: optional fields, vendor fields, and checks for unknown
 * fields.
 */
import { Result, Schema, SchemaIssue } from "effect"
import { InvalidRequest } from "./Errors.ts"
import { fieldKey, nearestName, resemblances } from "./nearest.ts"
import { plainText } from "./plainText.ts"

export interface FieldFault {
  readonly path: string
  readonly message: string
}

/** The gateway's own messages in place of the schema library's. */
const messagesByTag: Readonly<Record<string, string>> = {
  MissingKey: "This field is required",
  UnexpectedKey: "There is no such field"
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => messagesByTag[issue._tag] ?? SchemaIssue.defaultLeafHook(issue)
})

/** Formats a path as a client would write it, such as `content[0].image_url`. */
const formatPath = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((segment) => (typeof segment === "object" ? segment.key : segment))
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "")

type Path = ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>

/** Matches the message for a value that is none of a few texts. */
const otherLiteral = /^Expected "/

/**
 * The faults of a union of objects that differ by their `type`: those of the objects with the type
 * of the value. A value of an unknown type has one fault, at its type. Objects of the same type
 * differ by their required fields: the value is meant as one that it has all fields of.
 */
const fittingFaults = (
  { ast, issues }: SchemaIssue.AnyOf,
  path: Path
): ReadonlyArray<FieldFault> => {
  const typePath = formatPath([...path, "type"])
  const candidates = issues.map((issue) => faultsAt(issue, path))
  const ofThisType = candidates.filter(
    (faults) => !faults.some((fault) => fault.path === typePath && otherLiteral.test(fault.message))
  )
  const expected = ast.annotations?.expected
  if (ofThisType.length === 0 && typeof expected === "string") {
    return [{ path: typePath, message: `Expected ${expected}` }]
  }
  const fitting = ofThisType.length > 0 ? ofThisType : candidates
  const ofThisShape = fitting.filter((faults) => hasShape(faults, formatPath(path)))
  return (ofThisShape.length > 0 ? ofThisShape : fitting).flat()
}

/** Whether a value with these faults is an object of the right kind: it has every required field. */
const hasShape = (faults: ReadonlyArray<FieldFault>, path: string): boolean =>
  faults.every((fault) => fault.path !== path && fault.message !== messagesByTag.MissingKey)

const shortList = (path: Path, least: number): FieldFault => ({
  path: formatPath(path),
  message: `Expected at least ${least} ${least === 1 ? "item" : "items"}`
})

const faultsAt = (issue: SchemaIssue.Issue, path: Path): ReadonlyArray<FieldFault> => {
  switch (issue._tag) {
    case "Pointer":
      return faultsAt(issue.issue, [...path, ...issue.path])
    case "Composite":
      return issue.issues.flatMap((inner) => faultsAt(inner, path))
    case "Encoding":
      return faultsAt(issue.issue, path)
    case "AnyOf":
      if (issue.issues.length > 0) return fittingFaults(issue, path)
      break
    case "MissingKey": {
      // An item that is missing has no place in the document; the list that is too short has one.
      const last = path.at(-1)
      if (typeof last === "number") return [shortList(path.slice(0, -1), last + 1)]
    }
  }
  return formatIssue(issue).issues.map(({ path: innerPath = [], message }) => ({
    path: formatPath([...path, ...innerPath]),
    message
  }))
}

/**
 * The faults that a schema finds in a document, with paths and messages in the form of this API.
 */
export const issueFaults = (issue: SchemaIssue.Issue): ReadonlyArray<FieldFault> =>
  faultsAt(issue, [])

/** Splits a whitespace-separated list of names. */
export const nameList = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

/** The maximum number of faults in an error. */
export const MAX_FIELD_FAULTS = 20
/** The maximum length of a field name in an error, in characters. */
const MAX_NAME = 100

/** The error of all faults, with the first one as its main message. */
export const invalidFields = (faults: ReadonlyArray<FieldFault>): InvalidRequest => {
  const [first] = faults
  return new InvalidRequest({
    message: first === undefined ? "The request is not valid" : `${first.path}: ${first.message}`,
    param: first?.path ?? null,
    ...(faults.length > 1 ? { faults } : {})
  })
}

/** Fails with all faults; succeeds if there is no fault. */
export const withoutFaults = (
  faults: ReadonlyArray<FieldFault>
): Result.Result<void, InvalidRequest> =>
  faults.length === 0 ? Result.succeed(undefined) : Result.fail(invalidFields(faults))

/**
 * Faults for every field that is not one of `fields`. Each fault suggests the field that was
 * probably meant: by `aliases`, by a look-alike name, or by a similar spelling.
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

/** A schema check that reports each fault at its field. */
export const fieldCheck = <A extends object>(faultsOf: (value: A) => ReadonlyArray<FieldFault>) =>
  Schema.makeFilter((value: A) =>
    faultsOf(value).map(({ path, message }) => ({ path: [path], issue: message }))
  )

/** Additional fields of an object, which belong to the vendor. */
export const anyFields = [Schema.Record(Schema.String, Schema.Unknown)] as const

/**
 * An optional field: null and a missing field mean the same. `expected` is the description of a
 * valid value for errors, such as "a whole number of seconds".
 */
export const optional = <S extends Schema.Top>(schema: S, expected: string) =>
  Schema.optionalKey(Schema.NullOr(schema).annotate({ expected: `${expected}, or null` }))

const MAX_CALLBACK_URL = 2048

/** The callback URL, for orders that may finish after the response. */
export const CallbackUrl = optional(plainText(MAX_CALLBACK_URL), "an https URL").annotate({
  description:
    "An https URL that is told the end, signed with the organisation's callback secret; not sent to the vendor"
})

/** An optional boolean: JSON's `true` or `false`. */
export const optionalBoolean = optional(Schema.Boolean, "true or false, without quotes")

/** An optional whole number, within the given bounds if any. */
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
