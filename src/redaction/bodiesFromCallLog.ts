/**
 * Hides what a request or an answer says from the operators who read the call log. It is an
 * allow-list: a field that is not listed shows only the size and digest of its text.
 */

import { hash } from "node:crypto"
import { Predicate, Schema } from "effect"
import {
  MASK,
  type Medium,
  markedBytes,
  mediumOf,
  plainAddress,
  startsWithAddress
} from "./patterns.ts"
import { withoutEchoes } from "./promptsFromRecords.ts"
import { textDigest } from "./textDigest.ts"

/** Fields that tell how a job or a call stands. */
const outcomeFields: ReadonlySet<string> = new Set([
  "status",
  "task_status",
  "state",
  "code",
  "err_code",
  "error_code",
  "reason"
])

/** Fields whose texts are ids or words of a small vocabulary; kept when they also look like one. */
const tokenFields: ReadonlySet<string> = new Set([
  ...outcomeFields,
  "id",
  "task_id",
  "task_ids",
  "external_task_id",
  "request_id",
  "payload",
  "model",
  "object",
  "type",
  "role",
  "unit",
  "duration",
  "resolution",
  "size",
  "ratio",
  "aspect_ratio",
  "quality",
  "mode",
  "audio",
  "format",
  "output_format",
  "response_format",
  "created",
  "created_at",
  "updated_at",
  "create_time",
  "update_time",
  "submit_time",
  "scheduled_time",
  "end_time"
])

/** Fields in which a vendor explains itself. */
const wordFields: ReadonlySet<string> = new Set([
  "message",
  "msg",
  "reason",
  "detail",
  "error",
  "error_message"
])

const token = /^[\w.:/@+*-]{1,80}$/
const moment = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\w.:+ -]{0,12}$/
const fieldName = /^[A-Za-z_][\w.-]{0,47}$/

const MAX_DEPTH = 6
const MAX_ITEMS = 20
/** Characters of JSON that are kept. */
const MAX_LENGTH = 8 * 1024
/** Longer texts are media, which a vendor's error does not repeat in words. */
const MAX_TEXT = 20_000
/** Larger media get no digest, which would block the event loop. */
const MAX_DIGESTED = 256 * 1024

export interface RedactOptions {
  /** Credentials that went out with the call; masked wherever they stand. */
  readonly secrets: ReadonlyArray<string>
  /**
   * Texts of the request: a vendor's explanation is kept without what it repeats of them. Null when
   * they are not known; then an explanation is kept as size and digest alone.
   */
  readonly sent: ReadonlyArray<string> | null
  /** Entries of lists that carry another id than this one are left out; null keeps all. */
  readonly only: string | null
}

export interface Redacted {
  /** At most 8 KiB of JSON. */
  readonly value: unknown
  /** The free texts that stood in it. */
  readonly texts: ReadonlyArray<string>
  /** The words that tell how the job stands, in their order. */
  readonly outcome: string
}

const isNamed = Schema.is(Schema.Struct({ id: Schema.String }))

/** Length of its JSON; a text that may need escapes is written to be counted. */
const charactersOf = (value: unknown): number =>
  typeof value === "string" && token.test(value) ? value.length + 2 : JSON.stringify(value).length

/** Redacts a decoded JSON value, or a text where the body was none. */
export const redact = (value: unknown, { secrets, sent, only }: RedactOptions): Redacted => {
  const texts: Array<string> = []
  const outcome: Array<string> = []
  let left = MAX_LENGTH

  const hide = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, MASK), text)

  const sizeOf = ({ type, content, encoding }: Medium) => {
    const size = { media_type: type, bytes: Buffer.byteLength(content, encoding) }
    return size.bytes > MAX_DIGESTED
      ? size
      : { ...size, sha256: hash("sha256", Buffer.from(content, encoding)) }
  }

  const text = (field: string, said: string) => {
    const unread = markedBytes(said)
    if (unread !== null) return { characters: unread }
    const medium = mediumOf(said)
    if (medium !== null) return sizeOf(medium)
    if (startsWithAddress(said)) return hide(plainAddress(said) ?? "[address]")
    if (tokenFields.has(field) && (token.test(said) || moment.test(said))) {
      const kept = withoutEchoes(hide(said), sent ?? [])
      if (outcomeFields.has(field)) outcome.push(kept)
      return kept
    }
    if (wordFields.has(field) && sent !== null) return withoutEchoes(hide(said), sent)
    if (said.length <= MAX_TEXT) texts.push(said)
    const sha256 = textDigest(said)
    return { characters: said.length, ...(sha256 === null ? {} : { sha256 }) }
  }

  /** Undefined when the length limit is reached. */
  const afford = (kept: unknown, extra = 0): unknown => {
    left -= charactersOf(kept) + extra + 1
    return left < 0 ? undefined : kept
  }

  const walk = (field: string, item: unknown, depth: number): unknown => {
    if (left < 0) return undefined
    if (typeof item === "string") return afford(text(field, item))
    if (typeof item === "number") {
      const isSecret = secrets.includes(String(item))
      if (!isSecret && outcomeFields.has(field)) outcome.push(String(item))
      return afford(isSecret ? MASK : item)
    }
    if (Array.isArray(item)) return list(field, item, depth)
    if (Predicate.isObject(item)) return struct(item, depth)
    return afford(item ?? null)
  }

  const list = (field: string, items: ReadonlyArray<unknown>, depth: number): unknown => {
    if (depth >= MAX_DEPTH) return afford(`[${items.length} items]`)
    if (afford("") === undefined) return undefined
    const kept: Array<unknown> = []
    const own = items.filter((item) => only === null || !isNamed(item) || item.id === only)
    for (const item of own.slice(0, MAX_ITEMS)) {
      const one = walk(field, item, depth + 1)
      if (one !== undefined) kept.push(one)
    }
    const more = items.length - kept.length
    return more === 0 ? kept : [...kept, `[${more} more]`]
  }

  const struct = (item: object, depth: number): unknown => {
    const entries = Object.entries(item)
    if (depth >= MAX_DEPTH) return afford(`[${entries.length} fields]`)
    if (afford("") === undefined) return undefined
    const kept: Record<string, unknown> = {}
    let omitted = 0
    for (const [name, inner] of entries) {
      const isPlain = fieldName.test(name) && hide(name) === name
      const known = isPlain && afford(name, 1) !== undefined
      const one = known ? walk(name.toLowerCase(), inner, depth + 1) : undefined
      if (one === undefined) omitted += 1
      else kept[name] = one
    }
    return omitted === 0 ? kept : { ...kept, "[omitted]": omitted }
  }

  const redacted = walk("", value, 0)
  return { value: redacted ?? null, texts, outcome: outcome.join(" ") }
}
