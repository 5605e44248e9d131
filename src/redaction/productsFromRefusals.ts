/** Hides what was ordered, and is not paid for, from a client that gets a vendor's error. */
import { Predicate } from "effect"
import { generatedMediaIn, mediaIn } from "./patterns.ts"

/** Fields in which nothing but what was ordered stands. */
const certainFields: ReadonlySet<string> = new Set([
  "b64_json",
  "base64",
  "choices",
  "creations",
  "delta",
  "embedding",
  "output_text"
])

/** Fields in which vendors hand over addresses of what was ordered, and others of addresses of ours. */
const addressFields: ReadonlySet<string> = new Set([
  "audio_url",
  "image",
  "image_url",
  "image_urls",
  "images",
  "outputs",
  "results",
  "url",
  "urls",
  "video",
  "video_url",
  "videos"
])

/** What explains an error, also by links to a documentation. */
const explainingFields: ReadonlySet<string> = new Set(["detail", "details", "errors", "links"])

/** An address, or what may be one of a vendor's own: a path, or another scheme. */
const address = /https?:\/\/|^\S*[/:]\S*$/i

/** Every text and number in a JSON value, without the names of fields. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [`${value}`]
  return Predicate.isObjectOrArray(value) ? Object.values(value).flatMap(leavesOf) : []
}

/** What can be nothing but a product. */
const certainIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return generatedMediaIn(value)
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    certainFields.has(name.toLowerCase()) ? leavesOf(inner) : certainIn(inner)
  )
}

/** Addresses in JSON that stands in a text. */
const addressInText = new RegExp(
  `"(?:${[...addressFields].join("|")})\\\\*"\\s*:[\\s\\[{\\\\"]*(https?:[^\\s"\\\\]+)`,
  "gi"
)

/** Addresses of what may be a product. */
const addressesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") {
    return [...value.matchAll(addressInText)].map(([, found = ""]) => found)
  }
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = name.toLowerCase()
    if (certainFields.has(field) || explainingFields.has(field)) return []
    return addressFields.has(field)
      ? leavesOf(inner).filter((text) => address.test(text))
      : addressesIn(inner)
  })
}

/** One of the fields in JSON that stands in another text, or that is cut. */
const fieldInText = new RegExp(
  `"(?:${[...certainFields, ...addressFields].join("|")})\\\\*"\\s*:`,
  "i"
)

/**
 * Whether a client could find what was ordered in an error, which then does not reach it. "certain"
 * says that it was made. A text that only repeats the request `sent` is no product.
 */
export const productIn = (body: unknown, sent: unknown): "none" | "maybe" | "certain" => {
  if (typeof body === "string") {
    const isText = fieldInText.test(body) || mediaIn(body).length > 0
    return isText ? "maybe" : "none"
  }
  const certain = certainIn(body)
  const addresses = addressesIn(body)
  if (certain.length === 0 && addresses.length === 0) return "none"
  const ours = leavesOf(sent)
  const isNew = (text: string) => text !== "" && !ours.some((one) => one.includes(text))
  if (certain.some(isNew)) return "certain"
  return addresses.some(isNew) ? "maybe" : "none"
}
