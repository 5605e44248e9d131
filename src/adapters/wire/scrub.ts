/** Hides our credentials in what a vendor echoes. */
import { Predicate, Redacted } from "effect"
import type { ChannelAccount } from "../../services/ProtocolAdapter.ts"

const MASK = "[redacted]"

/** Shorter secrets would be found in any encoded text. */
const ENCODED_LENGTH = 8

/**
 * What stands in base64 for a secret within a longer text, such as a header: which characters these
 * are depends on how many bytes come before it, and those at its ends hold bytes of others as well.
 */
const encodings = (secret: string): ReadonlyArray<string> =>
  [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const from = Math.ceil((before * 8) / 6)
    const to = Math.floor((bytes.length * 8) / 6)
    return [bytes.toString("base64").slice(from, to), bytes.toString("base64url").slice(from, to)]
  })

/** A secret as it stands in plain text, in JSON that is quoted in a text, in an address, and encoded. */
export const spellings = (secret: string): ReadonlyArray<string> =>
  secret === ""
    ? []
    : [
        ...new Set([
          secret,
          JSON.stringify(secret).slice(1, -1),
          encodeURIComponent(secret.toWellFormed()),
          ...(secret.length < ENCODED_LENGTH ? [] : encodings(secret))
        ])
      ]

const secretsOf = ({ apiKey, appId }: ChannelAccount): ReadonlyArray<string> => [
  ...new Set([...spellings(Redacted.value(apiKey)), ...spellings(appId ?? "")])
]

/** How vendors name the accounts, projects and keys of their customers; ours, as nobody else is named. */
const accountName = /\b(?:org-|proj_|sk-)(?=[\w*-]*\d)[\w*-]{8,}/g

const hide = (secrets: ReadonlyArray<string>, text: string): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text).replace(accountName, MASK)

/** Walks the value instead of its JSON text: a secret made of digits may stand for a number. */
const walk = (secrets: ReadonlyArray<string>, value: unknown): unknown => {
  if (typeof value === "string") return hide(secrets, value)
  if (typeof value === "number") return secrets.includes(String(value)) ? MASK : value
  if (Array.isArray(value)) return value.map((item) => walk(secrets, item))
  return Predicate.isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [hide(secrets, key), walk(secrets, item)])
      )
    : value
}

export const scrubText = (account: ChannelAccount, text: string): string =>
  hide(secretsOf(account), text)

/** The same JSON value without our key and application id, in keys and values at any depth. */
export const scrub = (account: ChannelAccount, value: unknown): unknown =>
  walk(secretsOf(account), value)
