/**
 * Detects signs of a job in an answer: an id in the body or headers, or the address of a job. A
 * refusal with such a sign may be about a running job, so it proves nothing.
 */
import { Predicate, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import type { VendorAnswer } from "./vendorAnswer.ts"

interface JobMark {
  /** The job's id; null if the value is not a valid id. */
  readonly upstreamId: string | null
}

const isJobId = Schema.is(JobId)

const jobNouns =
  "(?:creation|execution|generation|job|operation|prediction|queue|render|run|task|video)"

/** Patterns of field names in lower case, without underscores and hyphens. */
const jobId = new RegExp(`^${jobNouns}s?ids?$`)
const jobAddress = /^(?:job|polling|poll|result|status|task)ur[il]$/
const requestId = /^(?:log|request|trace)id$/

const jobHeader = new RegExp(`(?:^|-)${jobNouns}-?id$`)
/** Headers with the address of a result or of a job's status. */
const addressHeaders = [
  "operation-location",
  "content-location",
  "location",
  "azure-asyncoperation"
]

const normalizedName = (name: string): string => name.toLowerCase().replace(/[_-]/g, "")

/** The non-empty strings and nonzero numbers in a value or in a list. */
const valuesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  if (typeof value === "number") return value === 0 ? [] : [String(value)]
  return Array.isArray(value) ? value.flatMap(valuesOf) : []
}

/** The last path segment if it looks like an id: names of collections contain no digits. */
const idOfAddress = (address: string): string | null => {
  const step =
    address
      .replace(/[?#].*$/s, "")
      .split("/")
      .findLast((part) => part !== "") ?? ""
  return isJobId(step) && /\d/.test(step) ? step : null
}

/** The values by the kind of field name; a field named just `id` may identify anything. */
interface FieldsByKind {
  readonly job: ReadonlyArray<string>
  readonly id: ReadonlyArray<string>
  readonly address: ReadonlyArray<string>
  readonly request: ReadonlyArray<string>
}

const kindOf = (name: string): keyof FieldsByKind | null => {
  const fieldName = normalizedName(name)
  if (fieldName === "id") return "id"
  if (jobId.test(fieldName)) return "job"
  if (jobAddress.test(fieldName)) return "address"
  return requestId.test(fieldName) ? "request" : null
}

/**
 * Collects the fields of a body by kind. Outer fields come before inner ones, because they describe
 * the whole answer.
 */
const fieldsOf = (body: unknown): FieldsByKind => {
  const fields: Record<keyof FieldsByKind, Array<string>> = {
    job: [],
    id: [],
    address: [],
    request: []
  }
  for (let level = [body]; level.length > 0; ) {
    const objects = level.filter(Predicate.isObjectOrArray)
    for (const [name, field] of objects.filter(Predicate.isObject).flatMap(Object.entries)) {
      const kind = kindOf(name)
      if (kind !== null) for (const value of valuesOf(field)) fields[kind].push(value)
    }
    level = objects.flatMap((object): Array<unknown> => Object.values(object))
  }
  return fields
}

/**
 * The sign of a job in an answer; null if the answer mentions no job. Ids of the request itself are
 * in nearly every refusal and do not count.
 */
export const jobMarkOf = ({
  body,
  headers,
  requestId: answerRequestId
}: Pick<VendorAnswer, "body" | "headers" | "requestId">): JobMark | null => {
  const { job, id, address, request } = fieldsOf(body)
  const requests = new Set([...request, answerRequestId])
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    jobHeader.test(name) ? valuesOf(value) : []
  )
  const ids = [...job, ...id.filter((id) => !requests.has(id)), ...inHeaders]
  const addresses = [...address, ...addressHeaders.flatMap((name) => valuesOf(headers[name]))]
  if (ids.length === 0 && addresses.length === 0) return null
  const upstreamId = ids.find(isJobId) ?? addresses.map(idOfAddress).find((one) => one !== null)
  return { upstreamId: upstreamId ?? null }
}
