/** Other spellings of a field and other places for it, from which a lenient vendor reads it all the same. */
import type { Dice } from "../support/randomOrders.ts"

type Choices<A> = readonly [A, ...ReadonlyArray<A>]

/** A field as it is disguised: what it is called, and how the body says it. */
export interface Disguise {
  readonly fields: Readonly<Record<string, unknown>>
  /** The name at the top of the body. */
  readonly top: string
  /** Where it stands in the end, as an error names it; null where the path has more than one form. */
  readonly path: string | null
  /** Whether it stands in another field, or says so in its name. */
  readonly isNested: boolean
  /** Whether every reader would take it for this field, and not for another that is as near. */
  readonly isClear: boolean
}

export interface DisguiseOptions {
  /** In a form there are texts alone. */
  readonly isForm: boolean
  /** What the gateway reads, which is no other place for it. */
  readonly own: ReadonlyArray<string>
}

const MAX_LENGTH = 100

/** Letters that look like one of ASCII, or become it when they are folded. */
const alike: Readonly<Record<string, Choices<string>>> = {
  a: ["а", "α", "á"],
  b: ["Ь", "ƅ"],
  c: ["с", "ç"],
  d: ["ԁ", "ⅾ"],
  e: ["е", "є", "é"],
  f: ["ƒ", "ḟ"],
  g: ["ɡ", "ğ"],
  h: ["һ", "ℎ"],
  i: ["і", "ı", "İ", "ɪ", "ï"],
  j: ["ј", "ʝ"],
  k: ["к", "\u212a"],
  l: ["ӏ", "ⅼ", "ł"],
  m: ["м", "ⅿ"],
  n: ["ո", "ñ"],
  o: ["о", "ο", "ö"],
  p: ["р", "ρ"],
  q: ["ԛ"],
  r: ["г", "ʀ"],
  s: ["ѕ", "\u017f", "ş"],
  t: ["т", "τ"],
  u: ["υ", "ü"],
  v: ["ѵ", "ν"],
  w: ["ԝ", "ω"],
  x: ["х", "χ"],
  y: ["у", "ÿ"],
  z: ["ᴢ", "ż"]
}
/** Nobody has a table of all of these. */
const strange: Readonly<Record<string, Choices<string>>> = {
  a: ["Ꭺ", "ꓮ"],
  c: ["ϲ", "Ꮯ"],
  e: ["Ꭼ", "ꓰ"],
  i: ["Ꭵ", "ꓲ"],
  o: ["ꓳ", "ഠ"],
  s: ["Ꮪ", "ꓢ"],
  t: ["Ꭲ", "ꓔ"],
  z: ["Ꮓ", "ꓜ"]
}

const invisible: Choices<string> = [
  ...(["\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u2060", "\ufe0f", "\u034f"] as const),
  "\u0301",
  "\u0335",
  "\u200e",
  "\u3164",
  "\u115f",
  "\u0000",
  "\n",
  "\u{e0041}",
  "\u180e"
]

const isLetter = (letter: string): boolean => /[a-z]/.test(letter)

/** The letters with at least one of those that can be changed. */
const withSome = (
  dice: Dice,
  name: string,
  can: (letter: string) => boolean,
  change: (letter: string) => string
): string => {
  const letters = [...name]
  const places = letters.flatMap((letter, index) => (can(letter) ? [index] : []))
  const first = places[dice.roll(places.length)]
  const share = dice.pick([0, 0, 30, 100])
  return letters
    .map((letter, index) =>
      can(letter) && (index === first || dice.chance(share)) ? change(letter) : letter
    )
    .join("")
}

const offset = (from: number) => (letter: string) =>
  String.fromCodePoint(from + (letter.codePointAt(0) ?? 0) - 0x61)

const folded = (dice: Dice): ((letter: string) => string) => {
  // Full width, bold, italic, circled, double-struck and of a typewriter.
  const starts = [0xff41, 0x1d41a, 0x1d656, 0x24d0, 0x1d552, 0x1d68a] as const
  return dice.chance(50)
    ? offset(dice.pick(starts))
    : (letter) => dice.pick(alike[letter] ?? [letter])
}

const spaced = (dice: Dice, name: string): string => {
  const between = dice.pick(["-", " ", "__", "–", "\u00a0", "·"])
  switch (dice.roll(name.includes("_") ? 6 : 4)) {
    case 0:
      return `${name}${dice.pick([" ", "_", "-", "[]", "?", ":", "*"])}`
    case 1:
      return `${dice.pick([" ", "_", "$", "@", "--", "#"])}${name}`
    case 2:
      return [...name].join(between) === name ? `_${name}` : [...name].join(between)
    case 3:
      return `${[...name].slice(0, 1).join("")}${between}${[...name].slice(1).join("")}`
    case 4:
      return name.replaceAll("_", between)
    default:
      return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  }
}

/** Another spelling of the name, which is never the name itself. */
const spelling = (dice: Dice, name: string): { name: string; isClear: boolean } => {
  switch (dice.roll(5)) {
    case 0:
      return {
        name: withSome(dice, name, isLetter, (letter) => letter.toUpperCase()),
        isClear: true
      }
    case 1:
      return { name: spaced(dice, name), isClear: true }
    case 2:
      return { name: withSome(dice, name, isLetter, folded(dice)), isClear: true }
    case 3: {
      const change = (letter: string) =>
        dice.chance(50) ? `${letter}${dice.pick(invisible)}` : `${dice.pick(invisible)}${letter}`
      return { name: withSome(dice, name, isLetter, change), isClear: true }
    }
    default: {
      const can = (letter: string) => strange[letter] !== undefined
      const first = [...name].findIndex((letter) => isLetter(letter) && !can(letter))
      // One letter of ASCII is left: without any it is a word of another alphabet.
      if (first < 0 || ![...name].some(can)) return { name: name.toUpperCase(), isClear: true }
      return {
        name: withSome(dice, name, can, (letter) => dice.pick(strange[letter] ?? [letter])),
        isClear: false
      }
    }
  }
}

/** Objects that vendors merge into the body, or read instead of it. */
const bodies: Choices<string> = [
  ...(["extra_body", "parameters", "input", "extra", "config", "payload"] as const),
  "body",
  "generationConfig",
  "Extra_Body",
  "params",
  "settings",
  "model_kwargs",
  "__proto__"
]

/** `{"__proto__": ...}` in a literal is no field. */
const objectOf = (name: string, value: unknown): Readonly<Record<string, unknown>> =>
  Object.fromEntries([[name, value]])

const nested = (
  dice: Dice,
  name: string,
  value: unknown,
  { isForm, own }: DisguiseOptions
): Disguise => {
  const another = () => {
    const body = dice.pick(bodies)
    return own.includes(body) ? "extra_body" : body
  }
  const outer = another()
  const clear = { top: outer, isNested: true, isClear: true }
  switch (isForm ? dice.roll(3) : dice.roll(6)) {
    case 0: {
      const text = JSON.stringify(objectOf(name, value))
      return { ...clear, fields: objectOf(outer, text), path: `${outer}.${name}` }
    }
    case 1: {
      const top = `${outer}[${name}]`
      return { ...clear, top, fields: objectOf(top, value), path: top }
    }
    case 2: {
      const top = `${outer}.${name}`
      return { ...clear, top, fields: objectOf(top, value), path: top }
    }
    case 3: {
      const inner = another()
      const fields = objectOf(outer, objectOf(inner, objectOf(name, value)))
      return { ...clear, fields, path: `${outer}.${inner}.${name}` }
    }
    case 4:
      return {
        ...clear,
        fields: objectOf(outer, [{}, objectOf(name, value)]),
        path: `${outer}[1].${name}`
      }
    default:
      return {
        ...clear,
        fields: objectOf(outer, objectOf(name, value)),
        path: `${outer}.${name}`
      }
  }
}

/** The field in another spelling, in another place, or both. */
export const disguised = (
  dice: Dice,
  field: string,
  value: unknown,
  options: DisguiseOptions
): Disguise => {
  const isNested = dice.chance(35)
  const { name, isClear } =
    isNested && dice.chance(60) ? { name: field, isClear: true } : spelling(dice, field)
  const twice = dice.chance(20) ? spelling(dice, name) : { name, isClear: true }
  // Longer names are compared with no other.
  const known = isClear && twice.isClear && twice.name.length <= MAX_LENGTH
  // The second spelling can undo the first one.
  if (!isNested && options.own.includes(twice.name)) return disguised(dice, field, value, options)
  if (isNested) return { ...nested(dice, twice.name, value, options), isClear: known }
  const fields = objectOf(twice.name, value)
  return { fields, top: twice.name, path: twice.name, isNested: false, isClear: known }
}
