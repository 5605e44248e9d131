/** Finds products in a vendor's error: a client must not get them, as it does not pay for the order. */
import { Predicate } from "effect"
import { generatedMediaIn, mediaIn } from "./patterns.ts"

/** Fields that contain nothing but products. */
const productFields: ReadonlySet<string> = new Set([
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

/** Fields that explain an error, also by links to a documentation. */
const explainingFields: ReadonlySet<string> = new Set(["detail", "details", "errors", "links"])

/** An address, or what may be one of a vendor's own: a path, or another scheme. */
const address = /https?:\/\/|^\S*[/:]\S*$/i

/** Every text and number in a JSON value, without the names of fields. */
const leavesOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string" || typeof value === "number") return [`${value}`]
  return Predicate.isObjectOrArray(value) ? Object.values(value).flatMap(leavesOf) : []
}

/** Values that can be nothing but a product. */
const productsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return generatedMediaIn(value)
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    productFields.has(name.toLowerCase()) ? leavesOf(inner) : productsIn(inner)
  )
}

/** Addresses in JSON that stands in a text. */
const addressInText = new RegExp(
  `"(?:${[...addressFields].join("|")})\\\\*"\\s*:[\\s\\[{\\\\"]*(https?:[^\\s"\\\\]+)`,
  "gi"
)

/** Addresses that may be those of a product. */
const addressesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") {
    return [...value.matchAll(addressInText)].map(([, url = ""]) => url)
  }
  if (!Predicate.isObjectOrArray(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = name.toLowerCase()
    if (productFields.has(field) || explainingFields.has(field)) return []
    return addressFields.has(field)
      ? leavesOf(inner).filter((text) => address.test(text))
      : addressesIn(inner)
  })
}

/** One of the fields in JSON that stands in another text, or that is cut. */
const fieldInText = new RegExp(
  `"(?:${[...productFields, ...addressFields].join("|")})\\\\*"\\s*:`,
  "i"
)

/**
 * Whether an error contains a product, in which case it does not reach the client; "certain" proves
 * that the product was made. A text that only repeats the request is no product.
 */
export const productIn = (body: unknown, request: unknown): "none" | "maybe" | "certain" => {
  if (typeof body === "string") {
    const isText = fieldInText.test(body) || mediaIn(body).length > 0
    return isText ? "maybe" : "none"
  }
  const products = productsIn(body)
  const addresses = addressesIn(body)
  if (products.length === 0 && addresses.length === 0) return "none"
  const requestValues = leavesOf(request)
  const isNew = (text: string) =>
    text !== "" && !requestValues.some((value) => value.includes(text))
  if (products.some(isNew)) return "certain"
  return addresses.some(isNew) ? "maybe" : "none"
}
