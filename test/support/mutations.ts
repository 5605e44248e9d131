/** JSON that is nearly right: bodies with something changed, in their values or in their text. */
import { Predicate } from "effect"
import type { Dice } from "./randomOrders.ts"

/** What JSON has no way to say, kept as a text between marks until the very end. */
const raw = (json: string): string => `\u0001${json}\u0001`

const nested = (levels: number, open: string, close: string, inside = ""): string =>
  raw(`${open.repeat(levels)}${inside}${close.repeat(levels)}`)

const nasty = [
  null,
  true,
  false,
  0,
  1,
  -1,
  3,
  16,
  -0.5,
  5.0000001,
  2 ** 31,
  2 ** 53,
  Number.MAX_VALUE,
  raw("1e400"),
  raw("-1e400"),
  raw("1E-400"),
  raw("123456789012345678901234567890"),
  raw("-0"),
  raw('"\\ud800"'),
  raw('"\\udc00\\ud800"'),
  raw('"a\\u0000b"'),
  "",
  " ",
  "0",
  "-1",
  "1e3",
  "NaN",
  "null",
  "\r\nX-Injected: 1",
  "\u202eesrever",
  "\u{1f5fc}".repeat(50),
  "__proto__",
  "constructor",
  "x".repeat(300),
  "x".repeat(20_000),
  "--duration 99 --rs 8K",
  "'; DROP TABLE holds; --",
  "%00%ff%2e%2e",
  "../../etc/passwd",
  "file:///etc/passwd",
  "http://127.0.0.1:1/",
  "https://",
  "data:,",
  "data:image/png;base64,!!!!",
  "2027-99-99T00:00:00Z",
  "1e400",
  "99999999999999999999.999999999",
  "0.0000000001",
  "film-1",
  "paint-1",
  [],
  {},
  [null],
  [[]],
  { url: {} },
  { url: "https://files.test/1.png" },
  { type: "text", text: "x" },
  { toString: 1, valueOf: 1 },
  nested(62, "[", "]"),
  nested(65, "[", "]"),
  nested(3000, "[", "]"),
  nested(3000, '{"a":', "}", "1"),
  raw(`[${"1,".repeat(3000)}1]`),
  raw(`[${'{"url":"https://files.test/1.png"},'.repeat(70)}1]`)
] as const

/** Put into a text where one stands. */
const fragments = [
  "\u0000",
  "\ud800",
  "\udfff\ud800",
  "\r\n",
  "\u001b[31m",
  "\u202e",
  '"',
  "\\",
  "'",
  "%00",
  " --duration 99",
  " --ratio \u0000",
  " sim:lost",
  " sim:refuse=422",
  "{{x}}"
] as const

const names = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "model",
  "prompt",
  "content",
  "images",
  "duration",
  "n",
  "url",
  "type",
  "",
  "\u0000",
  "stream",
  "x".repeat(500)
] as const

type Path = ReadonlyArray<string | number>

/** Every place in a value, its own included. */
const placesIn = (value: unknown, at: Path = []): ReadonlyArray<Path> => {
  if (Array.isArray(value)) {
    return [at, ...value.flatMap((inner, index) => placesIn(inner, [...at, index]))]
  }
  return Predicate.isObject(value)
    ? [at, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...at, name]))]
    : [at]
}

/** Objects as lists of fields, so that a name may stand twice and none is special. */
class Fields {
  readonly list: ReadonlyArray<readonly [string, unknown]>
  constructor(list: ReadonlyArray<readonly [string, unknown]>) {
    this.list = list
  }
}

const changeAt = (value: unknown, path: Path, change: (inner: unknown) => unknown): unknown => {
  const [step, ...rest] = path
  if (step === undefined) return change(value)
  if (Array.isArray(value)) {
    return value.map((inner, index) => (index === step ? changeAt(inner, rest, change) : inner))
  }
  if (!Predicate.isObject(value)) return value
  return new Fields(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === step ? changeAt(inner, rest, change) : inner
    ])
  )
}

const jsonOf = (value: unknown): string => {
  if (typeof value === "string") {
    return value.startsWith("\u0001") ? value.slice(1, -1) : JSON.stringify(value)
  }
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`
  const fields = value instanceof Fields ? value.list : null
  if (fields === null && !Predicate.isObject(value)) return JSON.stringify(value) ?? "null"
  const list = fields ?? Object.entries(value ?? {})
  return `{${list.map(([name, inner]) => `${JSON.stringify(name)}:${jsonOf(inner)}`).join(",")}}`
}

const fieldsOf = (value: unknown): ReadonlyArray<readonly [string, unknown]> =>
  Predicate.isObject(value) ? Object.entries(value) : []

/** One value changed for another, or an object or list changed in its parts. */
const changed = (dice: Dice, value: unknown): unknown => {
  const [first = [], ...rest] = placesIn(value)
  const place = dice.pick([first, ...rest])
  return changeAt(value, place, (inner) => {
    if (typeof inner === "string" && dice.chance(40)) {
      const at = dice.roll(inner.length + 1)
      return inner.slice(0, at) + dice.pick(fragments) + inner.slice(at)
    }
    switch (dice.roll(8)) {
      case 0:
        return Array.from({ length: dice.pick([2, 17, 65, 200]) }, () => inner)
      case 1:
        return [inner]
      case 2:
        return new Fields([...fieldsOf(inner), [dice.pick(names), dice.pick(nasty)]])
      case 3:
        return new Fields([...fieldsOf(inner), ...fieldsOf(inner)])
      case 4:
        return new Fields(fieldsOf(inner).filter(() => dice.chance(60)))
      default:
        return dice.pick(nasty)
    }
  })
}

/** Bytes changed anywhere, as a bad line or a bad client would. */
const garbled = (dice: Dice, json: string): Uint8Array<ArrayBuffer> => {
  const bytes = Uint8Array.from(Buffer.from(json))
  const at = dice.roll(bytes.length + 1)
  switch (dice.roll(5)) {
    case 0:
      return bytes.slice(0, at)
    case 1:
      return Uint8Array.from([...bytes.slice(0, at), dice.roll(256), ...bytes.slice(at)])
    case 2:
      return Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes])
    case 3:
      return Uint8Array.from(Buffer.from(json, "utf16le"))
    default:
      if (at < bytes.length) bytes[at] = dice.roll(256)
      return bytes
  }
}

/** Changes one to three things of a body, or its text. */
export const mutated = (dice: Dice, body: unknown): Uint8Array<ArrayBuffer> => {
  if (dice.chance(10)) return garbled(dice, jsonOf(body))
  // A body that was changed is read again, so that changes meet; what cannot be read stays.
  let text = jsonOf(body)
  for (let changes = 1 + dice.roll(3); changes > 0; changes--) {
    let current: unknown
    try {
      current = JSON.parse(text)
    } catch {
      break
    }
    // Neither deep nor long ones are walked over.
    if (text.length > 5000) break
    text = jsonOf(changed(dice, current))
  }
  return Uint8Array.from(Buffer.from(text))
}
