/**
 * Switches in a prompt that make the simulator show a fault, written as `sim:name` or
 * `sim:name=value`. The record maps each name to its value, which is empty where no value is
 * written.
 */
export type Switches = Readonly<Record<string, string>>

const names = new Set([
  "moderate-input",
  "moderate-output",
  "fail",
  "cancel",
  "expire",
  "rate",
  "http500",
  "late500",
  "same-job",
  "refuse",
  "declines",
  "lost",
  "hang",
  "html",
  "truncated",
  "cut",
  "echo",
  "redirect",
  "slow",
  "takes",
  "waits",
  "poll500",
  "unknown-status",
  "forget",
  "nousage",
  "textusage",
  "usage",
  "renders",
  "cached",
  "image-tokens",
  "seconds",
  "audio-input",
  "audio-output",
  "fewer",
  "refused-images",
  "async",
  "onechoice",
  "breaks",
  "stalls",
  "errors"
])

/**
 * Reads the switches of a prompt. Where a name is repeated, the last value counts; unknown names
 * are ordinary text.
 */
export const readSwitches = (prompt: string): Switches => {
  const switches: Record<string, string> = {}
  for (const match of prompt.matchAll(/(?<=^|\s)sim:([a-z0-9-]+)(?:=(\S+))?/g)) {
    const [, name = "", value = ""] = match
    if (names.has(name)) switches[name] = value
  }
  return switches
}

export const isOn = (switches: Switches, name: string): boolean => switches[name] !== undefined

/**
 * The whole number N of `sim:name=N`; `fallback` when the switch is off or its value is not a whole
 * number.
 */
export const countOf = (switches: Switches, name: string, fallback: number): number => {
  const value = switches[name] ?? ""
  return /^\d{1,9}$/.test(value) ? Number(value) : fallback
}

const DEFAULT_ECHO_KIB = 1536
const KIB = 1024

/**
 * Filler data in place of the copy of the order that some vendors add to their response.
 * `sim:echo=KIB` sets its size in KiB.
 */
export const echoOf = (switches: Switches): { readonly request?: string } =>
  isOn(switches, "echo")
    ? { request: "iVBORw0K".repeat((countOf(switches, "echo", DEFAULT_ECHO_KIB) * KIB) / 8) }
    : {}

/**
 * Replaces the usage counts in the response text by the word of `sim:usage=WORD`. The text is
 * changed after it is encoded, because `JSON.stringify` cannot write a word such as `1e309`.
 */
export const withUsageWord = (
  text: string,
  switches: Switches,
  fields: ReadonlyArray<string>
): string => {
  const mode = switches.usage
  if (mode === undefined) return text
  const counts = new RegExp(`("(?:${fields.join("|")})":)\\d+`, "g")
  return text.replace(counts, (_, name: string) => `${name}${mode}`)
}

/** The status of `sim:refuse=STATUS`; undefined for every value outside 400 to 599. */
export const refusedStatus = (switches: Switches): number | undefined => {
  const status = countOf(switches, "refuse", 0)
  return status >= 400 && status <= 599 ? status : undefined
}
