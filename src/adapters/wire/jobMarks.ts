/**
 * What an answer tells of a job: an id in its body or its headers, or an address to look at. A refusal
 * with any of it may be about a job that runs, so it proves nothing.
 */
import { Predicate, Schema } from "effect"
import { JobId } from "../../domain/plainText.ts"
import type { VendorAnswer } from "./vendorAnswer.ts"

export interface JobMark {
  /** Null where what stands there cannot be kept as an id. */
  readonly upstreamId: string | null
}

const isJobId = Schema.is(JobId)

const jobNouns =
  "(?:creation|execution|generation|job|operation|prediction|queue|render|run|task|video)"

/** Names of fields, in lower case and without what joins their words. */
const jobId = new RegExp(`^${jobNouns}s?ids?$`)
const jobAddress = /^(?:job|polling|poll|result|status|task)ur[il]$/
const requestId = /^(?:log|request|trace)id$/

const jobHeader = new RegExp(`(?:^|-)${jobNouns}-?id$`)
/** They lead to what was made, or to where it can be asked for. */
const addressHeaders = [
  "operation-location",
  "content-location",
  "location",
  "azure-asyncoperation"
]

const plainName = (name: string): string => name.toLowerCase().replace(/[_-]/g, "")

/** What a field says, where it says something: texts and numbers other than 0, also in a list. */
const valuesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  if (typeof value === "number") return value === 0 ? [] : [String(value)]
  return Array.isArray(value) ? value.flatMap(valuesOf) : []
}

/** The last step of an address that looks like an id: names of collections have no digits. */
const idOfAddress = (address: string): string | null => {
  const step =
    address
      .replace(/[?#].*$/s, "")
      .split("/")
      .findLast((part) => part !== "") ?? ""
  return isJobId(step) && /\d/.test(step) ? step : null
}

/** Of fields by what their names say; those under `id` may be of anything. */
interface Found {
  readonly job: ReadonlyArray<string>
  readonly id: ReadonlyArray<string>
  readonly address: ReadonlyArray<string>
  readonly request: ReadonlyArray<string>
}

const kindOf = (name: string): keyof Found | null => {
  const plain = plainName(name)
  if (plain === "id") return "id"
  if (jobId.test(plain)) return "job"
  if (jobAddress.test(plain)) return "address"
  return requestId.test(plain) ? "request" : null
}

/** Outer fields come before inner ones, since those say more of the whole. */
const fieldsOf = (body: unknown): Found => {
  const found: Record<keyof Found, Array<string>> = { job: [], id: [], address: [], request: [] }
  for (let level = [body]; level.length > 0; ) {
    const inner: Array<unknown> = []
    for (const value of level) {
      if (!Predicate.isObjectOrArray(value)) continue
      for (const [name, field] of Object.entries(value)) {
        const kind = Array.isArray(value) ? null : kindOf(name)
        if (kind !== null) for (const said of valuesOf(field)) found[kind].push(said)
        inner.push(field)
      }
    }
    level = inner
  }
  return found
}

/** Null where the answer tells of no job. Ids of the request itself are in nearly every refusal, and are none. */
export const jobMarkOf = ({
  body,
  headers,
  requestId: ownId
}: Pick<VendorAnswer, "body" | "headers" | "requestId">): JobMark | null => {
  const { job, id, address, request } = fieldsOf(body)
  const requests = new Set([...request, ownId])
  const inHeaders = Object.entries(headers).flatMap(([name, value]) =>
    jobHeader.test(name) ? valuesOf(value) : []
  )
  const ids = [...job, ...id.filter((one) => !requests.has(one)), ...inHeaders]
  const addresses = [...address, ...addressHeaders.flatMap((name) => valuesOf(headers[name]))]
  if (ids.length === 0 && addresses.length === 0) return null
  const upstreamId = ids.find(isJobId) ?? addresses.map(idOfAddress).find((one) => one !== null)
  return { upstreamId: upstreamId ?? null }
}
