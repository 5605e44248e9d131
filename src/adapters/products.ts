/** Finds what a vendor made, or the name of the job that makes it, in an answer of no usable form. */
import { Predicate, Schema } from "effect"
import { JobId, mediaIn } from "../domain/text.ts"
import { startsEvents } from "./eventBlocks.ts"

/** Fields in which vendors hand over what was ordered. */
const productFields: ReadonlySet<string> = new Set([
  "audio_url",
  "b64_json",
  "base64",
  "choices",
  "creations",
  "embedding",
  "image",
  "image_url",
  "image_urls",
  "images",
  "output_text",
  "outputs",
  "results",
  "url",
  "urls",
  "video",
  "video_url",
  "videos"
])

/** Every text and number in a JSON value, without the names of fields. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [`${value}`]
  if (Array.isArray(value)) return value.flatMap(leavesOf)
  return Predicate.isObject(value) ? Object.values(value).flatMap(leavesOf) : []
}

/** Values of the fields of products, and texts with media in them. */
const suspectsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return mediaIn(value)
  if (Array.isArray(value)) return value.flatMap(suspectsIn)
  if (!Predicate.isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    productFields.has(name.toLowerCase()) && typeof inner !== "number"
      ? leavesOf(inner)
      : suspectsIn(inner)
  )
}

/** One of the fields in JSON that stands in another text, or that is cut. */
const fieldInText = new RegExp(`"(?:${[...productFields].join("|")})\\\\*"\\s*:`, "i")

/**
 * True for an answer in which a client could find what was ordered, whatever else it says. What only
 * repeats a text of the request `sent` is none.
 */
export const holdsProduct = (body: unknown, sent: unknown): boolean => {
  if (typeof body === "string" && (startsEvents(body) || fieldInText.test(body))) return true
  const suspects = suspectsIn(body).filter((text) => text !== "")
  if (suspects.length === 0) return false
  const ours = leavesOf(sent)
  return suspects.some((text) => !ours.some((one) => one.includes(text)))
}

const isJobId = Schema.is(JobId)

const idFields = ["task_id", "id", "request_id"]
const idHolders = ["data", "output"]

/** The vendor's name of the job, or of the request, where an answer tells one in a usual place. */
export const idIn = (body: unknown): string | null => {
  if (!Predicate.isObject(body)) return null
  const entries = new Map<string, unknown>(Object.entries(body))
  const own = idFields.map((name) => entries.get(name)).find((id) => isJobId(id))
  if (isJobId(own)) return own
  for (const holder of idHolders) {
    const inner = idIn(entries.get(holder))
    if (inner !== null) return inner
  }
  return null
}
