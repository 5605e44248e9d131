/** A parser of metrics in the text format of Prometheus. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?$/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const INFINITIES: Readonly<Record<string, number>> = {
  "+Inf": Number.POSITIVE_INFINITY,
  Inf: Number.POSITIVE_INFINITY,
  "-Inf": Number.NEGATIVE_INFINITY
}

const unescapeLabel = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => (letter === "n" ? "\n" : letter))

/** The samples of a text. Lines in another format are skipped. */
export const samplesOf = (text: string): ReadonlyArray<Sample> =>
  text.split("\n").flatMap((line) => {
    if (line.startsWith("#")) return []
    const [, name, labels = "", valueText] = LINE.exec(line.trim()) ?? []
    if (name === undefined || valueText === undefined) return []
    const value = INFINITIES[valueText] ?? Number(valueText)
    if (Number.isNaN(value)) return []
    return [
      {
        name,
        value,
        labels: Object.fromEntries(
          [...labels.matchAll(LABEL)].map(([, label = "", escaped = ""]) => [
            label,
            unescapeLabel(escaped)
          ])
        )
      }
    ]
  })
