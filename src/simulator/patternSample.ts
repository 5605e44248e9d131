import { numberFrom } from "./digest.ts"

const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) =>
  String.fromCharCode(0x20 + index)
)
const alphanumeric = printable.filter((character) => /[a-z0-9]/i.test(character))

/** The maximum length of a generated text. */
export const MAX_LENGTH = 10_000

/** The largest number of repetitions above a quantifier's minimum. */
const MAX_EXTRA = 16

const compile = (source: string): RegExp | undefined => {
  try {
    return new RegExp(source, "u")
  } catch {
    return undefined
  }
}

export const matchesPattern = (pattern: string, text: string): boolean =>
  compile(pattern)?.test(text) ?? false

/** A printable character that an atom such as `\d`, `[^a-c]` or `x` matches. */
const characterOf = (atom: string, seed: string): string | undefined => {
  const regex = compile(`^${atom}$`)
  if (regex === undefined) return undefined
  const matches = (characters: ReadonlyArray<string>) =>
    characters.filter((character) => regex.test(character))
  const preferred = matches(alphanumeric)
  const candidates = preferred.length > 0 ? preferred : matches(printable)
  return candidates[numberFrom(seed, Math.max(candidates.length, 1))]
}

const assertion = /^(?:\^|\$|\\b)/
const groupStart = /^\((?:\?(?::|=|!|<=|<!|<\w+>))?/
const lookaround = /^\(\?<?[=!]/
const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/
const singleAtom =
  /^(?:\[\^?(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u.{4}|\\x..|\\.|[^|)])/su

/** The number of repetitions for a quantifier, at least one where the quantifier allows it. */
const repetitions = (text: string, extra: number): number => {
  if (text === "") return 1
  if (text.startsWith("?")) return 1
  const [, low = "0", comma = "", high = ""] = /^\{(\d+)(,?)(\d*)\}/.exec(text) ?? []
  const minimum = text.startsWith("{") ? Number(low) : 0
  if (text.startsWith("{") && comma === "") return minimum
  const maximum = high === "" ? Number.POSITIVE_INFINITY : Number(high)
  return Math.min(Math.max(minimum, 1) + extra, maximum)
}

/**
 * Writes one text for a pattern. Every alternation takes its first branch, and lookarounds are
 * skipped, so that the text must be compared with the whole pattern afterwards.
 */
const write = (pattern: string, seed: string, extra: number): string | undefined => {
  let rest = pattern
  const take = (regex: RegExp): string | undefined => {
    const [match] = regex.exec(rest) ?? []
    if (match !== undefined) rest = rest.slice(match.length)
    return match
  }
  const alternation = (path: string): string | undefined => {
    const first = sequence(path)
    while (rest.startsWith("|")) {
      rest = rest.slice(1)
      if (sequence(path) === undefined) return undefined
    }
    return first
  }
  const sequence = (path: string): string | undefined => {
    let text = ""
    for (let index = 0; rest !== "" && !/^[|)]/.test(rest); index++) {
      if (take(assertion) !== undefined) continue
      const part = term(`${path}.${index}`)
      if (part === undefined) return undefined
      text += part
    }
    return text
  }
  const term = (path: string): string | undefined => {
    const start = take(groupStart)
    if (start === undefined) return atoms(path)
    const group = alternation(path)
    if (group === undefined || take(/^\)/) === undefined) return undefined
    const count = repetitions(take(quantifier) ?? "", extra)
    if (count * group.length > MAX_LENGTH) return undefined
    return lookaround.test(start) ? "" : group.repeat(count)
  }
  const atoms = (path: string): string | undefined => {
    const atom = take(singleAtom)
    const count = repetitions(take(quantifier) ?? "", extra)
    if (atom === undefined || count > MAX_LENGTH) return undefined
    const characters = Array.from({ length: count }, (_, index) =>
      characterOf(atom, `${seed} ${path} ${index}`)
    )
    return characters.includes(undefined) ? undefined : characters.join("")
  }
  const text = alternation("")
  return rest === "" ? text : undefined
}

/**
 * Generates a text of `min` to `max` characters that the pattern of a JSON schema matches;
 * undefined when none was found. Backreferences and most lookarounds are not supported.
 */
export const patternSample = (
  pattern: string,
  seed: string,
  { min, max }: { readonly min: number; readonly max: number }
): string | undefined => {
  for (let extra = 0; extra <= MAX_EXTRA; extra++) {
    const text = write(pattern, seed, extra)
    if (text === undefined) return undefined
    if (text.length >= min && text.length <= max && matchesPattern(pattern, text)) return text
  }
  return undefined
}
