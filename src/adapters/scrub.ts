/** Hides our credentials in what a vendor echoes. */
import { Predicate, Redacted } from "effect"
import type { ChannelAccount } from "../services/ProtocolAdapter.ts"

const MASK = "[redacted]"

/** A secret as it stands in plain text, in JSON that is quoted in a text, and in an address. */
const spellings = (secret: string): ReadonlyArray<string> =>
  secret === ""
    ? []
    : [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())]

const secretsOf = ({ apiKey, appId }: ChannelAccount): ReadonlyArray<string> => [
  ...new Set([...spellings(Redacted.value(apiKey)), ...spellings(appId ?? "")])
]

const hide = (secrets: ReadonlyArray<string>, text: string): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text)

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
