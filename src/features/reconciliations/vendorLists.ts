/**
 * The format of a vendor's usage list, and the parser of its lines. Only the mapped columns of id,
 * amount, units and currency are read. A line that cannot be parsed exactly is a fault; no value is
 * guessed.
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

/** The delimiters by their names in the query parameter `delimiter`. */
export const delimiters = { comma: ",", semicolon: ";", tab: "\t" } as const
export type Delimiter = keyof typeof delimiters

export const decimalSigns = { point: ".", comma: "," } as const
export const thousandsSigns = { point: ".", comma: ",", space: " ", apostrophe: "'" } as const

/** The names of the mapped columns in the header line; null where a column is not mapped. */
export interface ListColumns {
  readonly id: string
  readonly amount: string | null
  readonly units: string | null
  readonly currency: string | null
}

export interface NumberForm {
  readonly decimal: keyof typeof decimalSigns
  /** The separator of groups of three digits; null: digits are not grouped. */
  readonly thousands: keyof typeof thousandsSigns | null
}

export interface ListForm {
  readonly columns: ListColumns
  readonly numbers: NumberForm
  /** The currency of the deployment, which every line must have if the column is mapped. */
  readonly currency: string
}

/** A parsed line. Fields of columns that are not mapped are null. */
export interface ListedLine {
  /** The line number in the file; the header is line 1. */
  readonly line: number
  readonly vendorId: string
  readonly amountNano: bigint | null
  /** In billionths like the amounts, since vendors write seconds with decimals. */
  readonly unitsNano: bigint | null
}

export interface LineFault {
  readonly line: number
  /** The name of the column; empty where the whole line is at fault. */
  readonly column: string
  readonly expected: string
}

/**
 * The columns of the bills that vendors document publicly, by the protocol of their models. The
 * names are fields of the vendors' bill APIs, which the exported files use as well.
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

/**
 * Detects the delimiter: the most frequent one in the header line, or the comma where there is
 * none.
 */
export const detectDelimiter = (header: string): Delimiter => {
  const countOf = (sign: string) => header.split(sign).length
  const { comma, semicolon, tab } = delimiters
  if (countOf(tab) > Math.max(countOf(comma), countOf(semicolon))) return "tab"
  return countOf(semicolon) > countOf(comma) ? "semicolon" : "comma"
}

const MAX_DECIMALS = 9
const decimalNumber = /^(-?)(\d{1,10})(?:\.(\d+))?$/
const groupedNumber = /^-?\d{1,3}(?:G\d{3})+(?:[^\dG]\d+)?$/

/**
 * Rewrites a number with a decimal point and without groups; null where a group does not have three
 * digits.
 */
const normalizeNumber = (text: string, { decimal, thousands }: NumberForm): string | null => {
  const point = decimalSigns[decimal]
  const group = thousands && thousandsSigns[thousands]
  if (decimal !== "point" && text.includes(".") && group !== ".") return null
  if (group !== null && text.includes(group)) {
    const marked = text.replaceAll(group, "G")
    if (!groupedNumber.test(marked)) return null
    return marked.replaceAll("G", "").replace(point, ".")
  }
  return text.replace(point, ".")
}

/**
 * Parses an exact number with at most nine decimals into billionths; negative for a vendor's
 * credit.
 */
export const parseListNumber = (text: string, form: NumberForm): Result.Result<bigint, string> => {
  const match = decimalNumber.exec(normalizeNumber(text, form) ?? "")
  if (match === null) {
    const point = decimalSigns[form.decimal]
    const most = form.thousands === null ? "" : `, with groups of three digits at most`
    return Result.fail(`a number such as 12${point}5${most}`)
  }
  const [, sign = "", integer = "0", decimals = ""] = match
  const fraction = decimals.replace(/0+$/, "")
  if (fraction.length > MAX_DECIMALS) return Result.fail(`at most ${MAX_DECIMALS} decimals`)
  const nano = BigInt(integer) * NANO_PER_UNIT + BigInt(fraction.padEnd(MAX_DECIMALS, "0"))
  return nano > MAX_AMOUNT_NANO
    ? Result.fail(`at most ${formatNano(MAX_AMOUNT_NANO)}`)
    : Result.succeed(sign === "-" ? -nano : nano)
}

const MAX_ID = 512
const storableId = /^[^\p{Cc}\p{Cs}]{1,512}$/u

/** The replacement character, which stands for bytes that are invalid in the encoding. */
const REPLACEMENT = "\uFFFD"

/** Parses one line, using the positions of the columns in the header. */
export type ParseLine = (
  line: number,
  cells: ReadonlyArray<string>
) => Result.Result<ListedLine, ReadonlyArray<LineFault>>

/** Finds the mapped columns in the header, and makes the parser of the lines below it. */
export const makeLineParser = (
  header: ReadonlyArray<string>,
  headerLine: number,
  { columns, numbers, currency }: ListForm
): Result.Result<ParseLine, ReadonlyArray<LineFault>> => {
  const names = header.map((name) => name.trim())
  const faults: Array<LineFault> = []
  /**
   * The position of a column in the header; -1 if it is not mapped, or missing, which is a fault.
   */
  const positionOf = (column: string | null): number => {
    if (column === null) return -1
    const position = names.indexOf(column)
    if (position < 0) {
      const quotedNames = names.map((name) => JSON.stringify(name)).join(", ")
      const expected = `a column of this name; there are ${quotedNames}`
      faults.push({ line: headerLine, column, expected })
    } else if (names.includes(column, position + 1)) {
      faults.push({ line: headerLine, column, expected: "one column of this name" })
    }
    return position
  }
  const positions = {
    id: positionOf(columns.id),
    amount: positionOf(columns.amount),
    units: positionOf(columns.units),
    currency: positionOf(columns.currency)
  }
  if (faults.length > 0) return Result.fail(faults)

  return Result.succeed((line, cells) => {
    const lineFault = (expected: string) => Result.fail([{ line, column: "", expected }])
    if (cells.some((cell) => cell.includes(REPLACEMENT))) {
      return lineFault("text in the encoding of the list; it has other bytes")
    }
    if (cells.length !== header.length) {
      return lineFault(`${header.length} cells, as the first line has; it has ${cells.length}`)
    }
    const cellFaults: Array<LineFault> = []
    const parseCell = (position: number, column: string | null): bigint | null => {
      if (position < 0 || column === null) return null
      const result = parseListNumber((cells[position] ?? "").trim(), numbers)
      if (Result.isSuccess(result)) return result.success
      cellFaults.push({ line, column, expected: result.failure })
      return null
    }
    const vendorId = (cells[positions.id] ?? "").trim()
    if (!storableId.test(vendorId)) {
      const expected = `an id of 1 to ${MAX_ID} characters, without control characters`
      cellFaults.push({ line, column: columns.id, expected })
    }
    const amountNano = parseCell(positions.amount, columns.amount)
    const unitsNano = parseCell(positions.units, columns.units)
    if (columns.currency !== null && (cells[positions.currency] ?? "").trim() !== currency) {
      cellFaults.push({ line, column: columns.currency, expected: currency })
    }
    return cellFaults.length > 0
      ? Result.fail(cellFaults)
      : Result.succeed({ line, vendorId, amountNano, unitsNano })
  })
}
