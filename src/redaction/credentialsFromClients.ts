/** Hides the gateway's credentials from clients when a vendor repeats them. */
import { Predicate, Redacted } from "effect"
import { MASK, spellingsOf } from "./patterns.ts"

/** The gateway's credentials at a vendor. */
export interface Credentials {
  readonly apiKey: Redacted.Redacted
  /** The application id, for protocols that need one. */
  readonly appId: string | null
  /** The base address, which would reveal the vendor. */
  readonly baseUrl: string
}

/**
 * The minimum length of a secret whose base64 encodings are searched for. Those of a shorter secret
 * could occur in any encoded text by chance.
 */
const ENCODED_LENGTH = 8

/**
 * The base64 encodings of a secret within a longer text, such as a header. They depend on the
 * number of bytes before the secret. The characters at both ends are left out, because they also
 * encode neighbouring bytes.
 */
const base64Spellings = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((padding) => {
    const bytes = Buffer.concat([Buffer.alloc(padding), Buffer.from(secret)])
    const from = Math.ceil((padding * 8) / 6)
    const to = Math.floor((bytes.length * 8) / 6)
    return [bytes.toString("base64").slice(from, to), bytes.toString("base64url").slice(from, to)]
  })

/** The encodings of a secret: plain text, JSON quoted in a text, percent-encoding, and base64. */
const spellings = (secret: string): ReadonlyArray<string> =>
  secret.length < ENCODED_LENGTH
    ? spellingsOf(secret).filter((spelling) => spelling !== "")
    : [...spellingsOf(secret), ...base64Spellings(secret)]

/**
 * The host of the base URL, with and without its port. A host name without a dot is left out,
 * because it could be any word.
 */
const hostsOf = (baseUrl: string): ReadonlyArray<string> => {
  const parsedUrl = URL.parse(baseUrl)
  return parsedUrl === null
    ? []
    : [parsedUrl.host, parsedUrl.hostname].filter((host) => /[.:]/.test(host))
}

const secretsOf = ({ apiKey, appId, baseUrl }: Credentials): ReadonlyArray<string> => [
  ...[Redacted.value(apiKey), appId ?? ""].flatMap(spellings),
  ...hostsOf(baseUrl)
]

/**
 * Matches identifiers of accounts, projects and keys. Every match belongs to the gateway, because a
 * vendor never names another customer. Some vendors write the number of an account after a word
 * such as `account`.
 */
const accountName =
  /\b(?:org-|proj_|sk-)(?=[\w*-]*\d)[\w*-]{8,}|(?<=(?:\b(?:account|user|uid)|账[号户])[\s:=#"'(]{0,3}(?:id[\s:=#"'(]{1,3})?)\d{6,}/gi

const maskSecrets = (secrets: ReadonlyArray<string>, text: string): string =>
  secrets
    .reduce((maskedText, secret) => maskedText.replaceAll(secret, MASK), text)
    .replace(accountName, MASK)

/**
 * Masks secrets in a value. The function walks over the value instead of its JSON text, because a
 * secret that consists of digits may occur as a number.
 */
const maskValue = (secrets: ReadonlyArray<string>, value: unknown): unknown => {
  if (typeof value === "string") return maskSecrets(secrets, value)
  if (typeof value === "number") return secrets.includes(String(value)) ? MASK : value
  if (Array.isArray(value)) return value.map((item) => maskValue(secrets, item))
  return Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          maskSecrets(secrets, key),
          maskValue(secrets, item)
        ])
      )
    : value
}

export const scrubText = (account: Credentials, text: string): string =>
  maskSecrets(secretsOf(account), text)

/**
 * Masks the gateway's key and application id, and the vendor's host, in a JSON value: in field
 * names and values at any depth.
 */
export const scrub = (account: Credentials, value: unknown): unknown =>
  maskValue(secretsOf(account), value)

/** Headers that contain no credential; every other header is treated as a credential. */
const publicHeaders: ReadonlySet<string> = new Set([
  "accept",
  "content-length",
  "content-type",
  "user-agent",
  "x-dashscope-async",
  "x-dashscope-sse"
])

/**
 * The credentials in the headers of a request, without prefixes such as `Bearer`, in every
 * encoding.
 */
export const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name))
    .flatMap(([, value]) => {
      const token = value.slice(value.indexOf(" ") + 1)
      // Masking the token also masks it inside the whole header.
      return spellings(token === "" ? value : token)
    })
