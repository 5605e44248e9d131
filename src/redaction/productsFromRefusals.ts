/**
 * Finds products (generated images, videos, audio, texts or vectors) in a vendor's error. A client
 * must not receive a product in an error, because the client does not pay for a failed order.
 */
import { Predicate } from "effect"
import { generatedMediaIn, mediaIn } from "./patterns.ts"

/** Fields that contain only products. */
const productFields: ReadonlySet<string> = new Set([
  "audio",
  "b64_json",
  "base64",
  "choices",
  "creations",
  "delta",
  "embedding",
  "inlinedata",
  "output_text",
  "relevance_score"
])

/** The field with what a model wrote, by the type of the part or item that has it. */
const writtenFields: ReadonlyMap<unknown, string> = new Map([
  ["custom_tool_call", "input"],
  ["function_call", "arguments"],
  ["output_text", "text"],
  ["reasoning_text", "text"],
  ["refusal", "refusal"],
  ["summary_text", "text"]
])

/**
 * Fields in which vendors return the addresses of products, and in which they may repeat addresses
 * of the request.
 */
const addressFields: ReadonlySet<string> = new Set([
  "audio_url",
  "image",
  "image_url",
  "image_urls",
  "images",
  "output",
  "outputs",
  "results",
  "uri",
  "url",
  "urls",
  "video",
  "video_url",
  "videos"
])

/** Fields that explain an error, possibly with links to documentation. */
const explainingFields: ReadonlySet<string> = new Set(["detail", "details", "errors", "links"])

/**
 * Matches a text with an http(s) URL, and a text that may be a vendor's own reference to a file: a
 * path, or a URL with another scheme.
 */
const address = /https?:\/\/|^\S*[/:]\S*$/i

/** Every string and number in a JSON value, without field names. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [`${value}`]
  return Predicate.isObjectOrArray(value) ? Object.values(value).flatMap(leavesOf) : []
}

/**
 * The values of an error that are certainly products: generated media in texts, texts of a model,
 * and all values in the fields `productFields`.
 */
const productsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return generatedMediaIn(value)
  if (!Predicate.isObjectOrArray(value)) return []
  const written = "type" in value ? writtenFields.get(value.type) : undefined
  return Object.entries(value).flatMap(([name, inner]) =>
    productFields.has(name.toLowerCase()) || name === written ? leavesOf(inner) : productsIn(inner)
  )
}

/**
 * Matches a field in JSON that is inside a text or truncated: its name, and the address that its
 * value begins with, if one does.
 */
const fieldInText = /"([^"\\]+)\\*"\s*:(?:[\s[{\\"]*(https?:[^\s"\\]+))?/gi

/** The fields of JSON inside a text, with their names in lower case. */
const fieldsInText = (text: string) =>
  [...text.matchAll(fieldInText)].map(([, name = "", url]) => ({ name: name.toLowerCase(), url }))

/** The addresses in a value that may lead to a product, in the usual fields and in `more` of them. */
const addressesIn = (value: unknown, more: ReadonlySet<string>): ReadonlyArray<string> => {
  if (typeof value === "string") {
    return fieldsInText(value).flatMap(({ name, url }) =>
      url !== undefined && (addressFields.has(name) || more.has(name)) ? [url] : []
    )
  }
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = name.toLowerCase()
    if (productFields.has(field) || explainingFields.has(field)) return []
    // Some vendors put an error into an object of this name, with links in its explanation.
    const isEnvelope = field === "output" && Predicate.isObject(inner)
    return (addressFields.has(field) || more.has(field)) && !isEnvelope
      ? leavesOf(inner).filter((text) => address.test(text))
      : addressesIn(inner, more)
  })
}

const noFields: ReadonlySet<string> = new Set()

/**
 * Whether an error contains a product, which must then not reach the client. `certain` proves that
 * the product was made; `maybe` means that a text or an address could be a product. A value that
 * only repeats the request is not a product. `fileFields` are the vendor's own names of fields with
 * addresses, in lower case.
 */
export const productIn = (
  body: unknown,
  request: unknown,
  fileFields = noFields
): "none" | "maybe" | "certain" => {
  if (typeof body === "string") {
    const hasField = fieldsInText(body).some(
      ({ name }) => productFields.has(name) || addressFields.has(name) || fileFields.has(name)
    )
    return hasField || mediaIn(body).length > 0 ? "maybe" : "none"
  }
  const products = productsIn(body)
  const addresses = addressesIn(body, fileFields)
  if (products.length === 0 && addresses.length === 0) return "none"
  const requestValues = leavesOf(request)
  const isNew = (text: string) =>
    text !== "" && !requestValues.some((value) => value.includes(text))
  if (products.some(isNew)) return "certain"
  return addresses.some(isNew) ? "maybe" : "none"
}
