/**
 * A vendor's usage list: how its lines are read, one by one. Ids, amounts and units are all that is
 * read of them; a line that cannot be read exactly is a fault, and never a guess.
 */
import { Result } from "effect"
import { formatNano, MAX_AMOUNT_NANO, NANO_PER_UNIT } from "../../domain/money/Money.ts"

export const listEncodings = [
  "utf-8",
  "utf-16le",
  "utf-16be",
  "gb18030",
  "gbk",
  "windows-1252"
] as const
export type ListEncoding = (typeof listEncodings)[number]

/** By the names that an address can carry. */
export const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const
export type Delimiter = keyof typeof delimiters

export const decimalSigns = { point: ".", comma: "," } as const
export const thousandsSigns = { point: ".", comma: ",", space: " ", apostrophe: "'" } as const

/** Which column means what, by their names in the first line. */
export interface ListColumns {
  readonly id: string
  readonly amount: string | null
  readonly units: string | null
  readonly currency: string | null
}

export interface NumberForm {
  readonly decimal: keyof typeof decimalSigns
  /** Null: digits are not grouped. */
  readonly thousands: keyof typeof thousandsSigns | null
}

export interface ListForm {
  readonly columns: ListColumns
  readonly numbers: NumberForm
  /** The currency of our own amounts, which that of a line must be. */
  readonly currency: string
}

/** A line as it is compared. Where a column is not mapped there is nothing of it. */
export interface ListedLine {
  /** Counted in the file from 1, the line of the names. */
  readonly line: number
  readonly vendorId: string
  readonly amountNano: bigint | null
  /** Billionths as well: vendors write seconds with decimals. */
  readonly unitsNano: bigint | null
}

export interface LineFault {
  readonly line: number
  /** The column, as the list calls it; empty where it is the whole line. */
  readonly column: string
  readonly expected: string
}

/**
 * The columns of bills that vendors describe to the public, by the protocol of their models: the
 * fields of their interfaces for bill details, which their exports carry, too.
 */
export const listFormats = {
  vp_a: {
    id: "InstanceNo",
    amount: "PayableAmount",
    units: "Count",
    currency: "Currency"
  },
  vp_f: {
    id: "InstanceID",
    amount: "PretaxAmount",
    units: "Usage",
    currency: "Currency"
  },
  ip_b: {
    id: "InstanceID",
    amount: "PretaxAmount",
    units: "Usage",
    currency: "Currency"
  }
} as const satisfies Readonly<Record<string, ListColumns>>
export type ListFormat = keyof typeof listFormats
export const listFormatNames = ["vp_a", "vp_f", "ip_b"] as const satisfies ReadonlyArray<ListFormat>

/** That of the signs that stands most often between the names; a comma where none does. */
export const delimiterOf = (firstLine: string): Delimiter => {
  const times = (sign: string) => firstLine.split(sign).length
  const { comma, semicolon, tab } = delimiters
  if (times(tab) > Math.max(times(comma), times(semicolon))) return "tab"
  return times(semicolon) > times(comma) ? "semicolon" : "comma"
}

const MAX_DECIMALS = 9
const decimalNumber = /^(-?)(\d{1,10})(?:\.(\d+))?$/
const groupedNumber = /^-?\d{1,3}(?:G\d{3})+(?:[^\dG]\d+)?$/

/** With a point and without groups; null where the groups are not of three digits each. */
const plainNumber = (text: string, { decimal, thousands }: NumberForm): string | null => {
  const [point, group] = [decimalSigns[decimal], thousands && thousandsSigns[thousands]]
  if (decimal !== "point" && text.includes(".") && group !== ".") return null
  if (group !== null && text.includes(group)) {
    const marked = text.replaceAll(group, "G")
    if (!groupedNumber.test(marked)) return null
    return marked.replaceAll("G", "").replace(point, ".")
  }
  return text.replace(point, ".")
}

/** An exact number of at most nine decimals, in billionths. Below zero for what a vendor credits. */
export const parseListed = (text: string, form: NumberForm): Result.Result<bigint, string> => {
  const match = decimalNumber.exec(plainNumber(text, form) ?? "")
  if (match === null) {
    const point = decimalSigns[form.decimal]
    const most = form.thousands === null ? "" : `, with groups of three digits at most`
    return Result.fail(`a number such as 12${point}5${most}`)
  }
  const [, sign = "", whole = "0", decimals = ""] = match
  const fraction = decimals.replace(/0+$/, "")
  if (fraction.length > MAX_DECIMALS) return Result.fail(`at most ${MAX_DECIMALS} decimals`)
  const nano = BigInt(whole) * NANO_PER_UNIT + BigInt(fraction.padEnd(MAX_DECIMALS, "0"))
  return nano > MAX_AMOUNT_NANO
    ? Result.fail(`at most ${formatNano(MAX_AMOUNT_NANO)}`)
    : Result.succeed(sign === "-" ? -nano : nano)
}

const MAX_ID = 512
const storableId = /^[^\p{Cc}\p{Cs}]{1,512}$/u

/** What stands in place of bytes that are none of the encoding. */
const BROKEN = "\uFFFD"

/** Decodes lines by the positions that the names have in the first one. */
export type ReadLine = (
  line: number,
  cells: ReadonlyArray<string>
) => Result.Result<ListedLine, ReadonlyArray<LineFault>>

/** Finds the mapped columns among the names, and reads lines by them. */
export const readerOf = (
  names: ReadonlyArray<string>,
  firstLine: number,
  { columns, numbers, currency }: ListForm
): Result.Result<ReadLine, ReadonlyArray<LineFault>> => {
  const known = names.map((name) => name.trim())
  const faults: Array<LineFault> = []
  /** Minus one where it is not mapped or not there, which is a fault. */
  const positionOf = (name: string | null): number => {
    if (name === null) return -1
    const at = known.indexOf(name)
    if (at < 0) {
      const has = known.map((other) => JSON.stringify(other)).join(", ")
      faults.push({
        line: firstLine,
        column: name,
        expected: `a column of this name; there are ${has}`
      })
    } else if (known.includes(name, at + 1)) {
      faults.push({ line: firstLine, column: name, expected: "one column of this name" })
    }
    return at
  }
  const at = {
    id: positionOf(columns.id),
    amount: positionOf(columns.amount),
    units: positionOf(columns.units),
    currency: positionOf(columns.currency)
  }
  if (faults.length > 0) return Result.fail(faults)

  return Result.succeed((line, cells) => {
    const whole = (expected: string) => Result.fail([{ line, column: "", expected }])
    if (cells.some((cell) => cell.includes(BROKEN))) {
      return whole("text in the encoding of the list; it has other bytes")
    }
    if (cells.length !== names.length) {
      return whole(`${names.length} cells, as the first line has; it has ${cells.length}`)
    }
    const wrong: Array<LineFault> = []
    const number = (position: number, column: string | null): bigint | null => {
      if (position < 0 || column === null) return null
      const read = parseListed((cells[position] ?? "").trim(), numbers)
      if (Result.isSuccess(read)) return read.success
      wrong.push({ line, column, expected: read.failure })
      return null
    }
    const vendorId = (cells[at.id] ?? "").trim()
    if (!storableId.test(vendorId)) {
      const expected = `an id of 1 to ${MAX_ID} characters, without control characters`
      wrong.push({ line, column: columns.id, expected })
    }
    const amountNano = number(at.amount, columns.amount)
    const unitsNano = number(at.units, columns.units)
    if (columns.currency !== null && (cells[at.currency] ?? "").trim() !== currency) {
      wrong.push({ line, column: columns.currency, expected: currency })
    }
    return wrong.length > 0
      ? Result.fail(wrong)
      : Result.succeed({ line, vendorId, amountNano, unitsNano })
  })
}
