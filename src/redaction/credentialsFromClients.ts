/** Hides our credentials at vendors from clients, in what a vendor echoes of them. */
import { Predicate, Redacted } from "effect"
import { MASK, spellingsOf } from "./patterns.ts"

/** Our credentials at a vendor. */
export interface Credentials {
  readonly apiKey: Redacted.Redacted
  /** Application id, for the protocols that need one. */
  readonly appId: string | null
  /** The address of the vendor, which identifies it. */
  readonly baseUrl: string
}

/** Shorter secrets would be found in any encoded text. */
const ENCODED_LENGTH = 8

/**
 * The base64 of a secret within a longer text, such as a header. It depends on how many bytes come
 * before the secret; the characters at its ends are left out, as they encode other bytes as well.
 */
const base64Spellings = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor((bytes.length * 8) / 6)
    return [bytes.toString("base64").slice(from, to), bytes.toString("base64url").slice(from, to)]
  })

/** A secret in plain text, in JSON that is quoted in a text, percent-encoded, and in base64. */
const spellings = (secret: string): ReadonlyArray<string> =>
  secret.length < ENCODED_LENGTH
    ? spellingsOf(secret).filter((spelling) => spelling !== "")
    : [...spellingsOf(secret), ...base64Spellings(secret)]

/** The host with and without its port; a name without a dot may be any word, so it is left out. */
const hostsOf = (baseUrl: string): ReadonlyArray<string> => {
  const parsed = URL.parse(baseUrl)
  return parsed === null ? [] : [parsed.host, parsed.hostname].filter((host) => /[.:]/.test(host))
}

const secretsOf = ({ apiKey, appId, baseUrl }: Credentials): ReadonlyArray<string> => [
  ...[Redacted.value(apiKey), appId ?? ""].flatMap(spellings),
  ...hostsOf(baseUrl)
]

/**
 * How vendors name the accounts, projects and keys of their customers; ours, as no other customer is named.
 * Some write the number of an account behind the word.
 */
const accountName =
  /\b(?:org-|proj_|sk-)(?=[\w*-]*\d)[\w*-]{8,}|(?<=(?:\b(?:account|user|uid)|账[号户])[\s:=#"'(]{0,3}(?:id[\s:=#"'(]{1,3})?)\d{6,}/gi

const maskSecrets = (secrets: ReadonlyArray<string>, text: string): string =>
  secrets
    .reduce((masked, secret) => masked.replaceAll(secret, MASK), text)
    .replace(accountName, MASK)

/** Walks the value instead of its JSON text: a secret made of digits may stand for a number. */
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

/** The same JSON value without our key and application id, in keys and values at any depth. */
export const scrub = (account: Credentials, value: unknown): unknown =>
  maskValue(secretsOf(account), value)

/** Headers that hold no credential; every other header's value is taken for one. */
const publicHeaders: ReadonlySet<string> = new Set([
  "accept",
  "content-length",
  "content-type",
  "user-agent",
  "x-dashscope-async"
])

/** The credentials among headers that went out, without `Bearer` and the like, in every spelling. */
export const secretsIn = (headers: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(headers)
    .filter(([name]) => !publicHeaders.has(name))
    .flatMap(([, value]) => {
      const token = value.slice(value.indexOf(" ") + 1)
      // What holds the token is masked with it.
      return spellings(token === "" ? value : token)
    })
