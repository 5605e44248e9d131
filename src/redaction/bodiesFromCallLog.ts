/**
 * Hides the content of requests and answers from the operators who read the call log. The redaction
 * is an allow-list: a field that is not listed shows only the size and digest of its text.
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

/** Fields that contain the status of a job or the outcome of a call. */
const outcomeFields: ReadonlySet<string> = new Set([
  "status",
  "task_status",
  "state",
  "code",
  "err_code",
  "error_code",
  "reason"
])

/**
 * Fields whose values are ids or words of a small vocabulary. A value is kept only if it also has
 * the form of an id or of such a word.
 */
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

/** Fields that contain a vendor's explanation of an error. */
const messageFields: ReadonlySet<string> = new Set([
  "message",
  "msg",
  "reason",
  "detail",
  "error",
  "error_message"
])

const token = /^[\w.:/@+*-]{1,80}$/
const timestampPattern = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[\w.:+ -]{0,12}$/
const fieldName = /^[A-Za-z_][\w.-]{0,47}$/

const MAX_DEPTH = 6
const MAX_ITEMS = 20
/** The maximum length of a redacted body, in characters of JSON. */
const MAX_LENGTH = 8 * 1024
/**
 * The maximum length of a text to collect in `texts`, where a vendor's error may repeat it. Longer
 * texts are media.
 */
const MAX_TEXT = 20_000
/** The maximum size of media with a digest; hashing larger media would block the event loop. */
const MAX_DIGESTED = 256 * 1024

export interface RedactOptions {
  /** The call's credentials, which are masked wherever they occur. */
  readonly secrets: ReadonlyArray<string>
  /**
   * The texts of the request, which are masked in a vendor's explanation. If they are unknown
   * (null), only the size and digest of an explanation are kept.
   */
  readonly requestTexts: ReadonlyArray<string> | null
  /** The id of the list item to keep; items with another id are left out. Null keeps all items. */
  readonly itemId: string | null
}

export interface RedactedBody {
  /** The redacted value, at most 8 KiB of JSON. */
  readonly value: unknown
  /** The free texts in the value. */
  readonly texts: ReadonlyArray<string>
  /** The values of the outcome fields in order. */
  readonly outcome: string
}

const isNamed = Schema.is(Schema.Struct({ id: Schema.String }))

/**
 * The length of the value's JSON. A token needs no escapes, so its length is known without encoding
 * the token.
 */
const charactersOf = (value: unknown): number =>
  typeof value === "string" && token.test(value) ? value.length + 2 : JSON.stringify(value).length

/** The size of a medium, and its digest unless hashing would take long. */
const describeMedium = ({ type, content, encoding }: Medium) => {
  const size = { media_type: type, bytes: Buffer.byteLength(content, encoding) }
  return size.bytes > MAX_DIGESTED
    ? size
    : { ...size, sha256: hash("sha256", Buffer.from(content, encoding)) }
}

/** Redacts one value within the length limit. */
class Redactor {
  readonly texts: Array<string> = []
  readonly outcome: Array<string> = []
  private remainingLength = MAX_LENGTH
  private readonly options: RedactOptions

  constructor(options: RedactOptions) {
    this.options = options
  }

  private maskSecrets(text: string): string {
    return this.options.secrets.reduce(
      (maskedText, secret) => maskedText.replaceAll(secret, MASK),
      text
    )
  }

  private redactText(field: string, text: string): unknown {
    const { requestTexts } = this.options
    const longTextBytes = markedBytes(text)
    if (longTextBytes !== null) return { characters: longTextBytes }
    const medium = mediumOf(text)
    if (medium !== null) return describeMedium(medium)
    if (startsWithAddress(text)) return this.maskSecrets(plainAddress(text) ?? "[address]")
    if (tokenFields.has(field) && (token.test(text) || timestampPattern.test(text))) {
      const maskedText = withoutEchoes(this.maskSecrets(text), requestTexts ?? [])
      if (outcomeFields.has(field)) this.outcome.push(maskedText)
      return maskedText
    }
    if (messageFields.has(field) && requestTexts !== null) {
      return withoutEchoes(this.maskSecrets(text), requestTexts)
    }
    if (text.length <= MAX_TEXT) this.texts.push(text)
    const sha256 = textDigest(text)
    return { characters: text.length, ...(sha256 === null ? {} : { sha256 }) }
  }

  /** Counts a redacted value against the length limit; undefined if the limit is exceeded. */
  private charge(redactedValue: unknown, extra = 0): unknown {
    this.remainingLength -= charactersOf(redactedValue) + extra + 1
    return this.remainingLength < 0 ? undefined : redactedValue
  }

  redactValue(field: string, value: unknown, depth: number): unknown {
    if (this.remainingLength < 0) return undefined
    if (typeof value === "string") return this.charge(this.redactText(field, value))
    if (typeof value === "number") {
      const isSecret = this.options.secrets.includes(String(value))
      if (!isSecret && outcomeFields.has(field)) this.outcome.push(String(value))
      return this.charge(isSecret ? MASK : value)
    }
    if (Array.isArray(value)) return this.redactList(field, value, depth)
    if (Predicate.isObject(value)) return this.redactObject(value, depth)
    return this.charge(value ?? null)
  }

  private redactList(field: string, items: ReadonlyArray<unknown>, depth: number): unknown {
    if (depth >= MAX_DEPTH) return this.charge(`[${items.length} items]`)
    if (this.charge("") === undefined) return undefined
    const { itemId } = this.options
    const redactedValue = items
      .filter((item) => itemId === null || !isNamed(item) || item.id === itemId)
      .slice(0, MAX_ITEMS)
      .map((item) => this.redactValue(field, item, depth + 1))
      .filter((item) => item !== undefined)
    const omittedCount = items.length - redactedValue.length
    return omittedCount === 0 ? redactedValue : [...redactedValue, `[${omittedCount} more]`]
  }

  private redactObject(object: object, depth: number): unknown {
    const entries = Object.entries(object)
    if (depth >= MAX_DEPTH) return this.charge(`[${entries.length} fields]`)
    if (this.charge("") === undefined) return undefined
    const redactedValue: Record<string, unknown> = {}
    let omittedCount = 0
    for (const [name, inner] of entries) {
      const isPlain = fieldName.test(name) && this.maskSecrets(name) === name
      const hasRoom = isPlain && this.charge(name, 1) !== undefined
      const value = hasRoom ? this.redactValue(name.toLowerCase(), inner, depth + 1) : undefined
      if (value === undefined) omittedCount += 1
      else redactedValue[name] = value
    }
    return omittedCount === 0 ? redactedValue : { ...redactedValue, "[omitted]": omittedCount }
  }
}

/** Redacts a decoded JSON value, or a text if the body was not JSON. */
export const redact = (value: unknown, options: RedactOptions): RedactedBody => {
  const redactor = new Redactor(options)
  const redactedValue = redactor.redactValue("", value, 0)
  return {
    value: redactedValue ?? null,
    texts: redactor.texts,
    outcome: redactor.outcome.join(" ")
  }
}
