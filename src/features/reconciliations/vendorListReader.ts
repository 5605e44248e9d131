/**
 * Reads a vendor's usage list as a stream: bytes, text, CSV rows, lines. Only one chunk is in
 * memory at a time. After the first fault no more lines are emitted; the remaining rows are only
 * checked.
 */
import { type Array as Arr, Effect, Result, Stream } from "effect"
import { Csv } from "effect/encoding"
import { InvalidRequest, type PayloadTooLarge } from "../../domain/Errors.ts"
import { bodyTooLarge, unreadableBody } from "../../http/server/bodies.ts"
import {
  type Delimiter,
  delimiters,
  detectDelimiter,
  type LineFault,
  type ListEncoding,
  type ListedLine,
  type ListForm,
  makeLineParser,
  type ParseLine
} from "./vendorLists.ts"

/** The maximum number of faults that an error lists; all faults are counted. */
const MAX_FAULTS = 1000
/** The maximum number of characters of the header line, far more than any real header has. */
const MAX_HEADER_LENGTH = 64 * 1024

export interface ListReading {
  readonly form: ListForm
  /** Null: detected from the byte order mark, or UTF-8 if there is none. */
  readonly encoding: ListEncoding | null
  /** Null: detected from the header. */
  readonly delimiter: Delimiter | null
  readonly maxBytes: number
}

const encodingByMark = (first: number, second: number): ListEncoding => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
}

/** Decodes chunks. Invalid bytes become U+FFFD, which the parser of lines reports as a fault. */
const makeDecoder = (encoding: ListEncoding | null) => {
  let decoder = encoding === null ? null : new TextDecoder(encoding)
  const empty = new Uint8Array()
  /**
   * A single first byte waits for the second one, since a byte order mark has at least two bytes.
   */
  let pending: Uint8Array = empty
  /** A null chunk is the end of the list. */
  return (chunk: Uint8Array | null): string => {
    const bytes = pending.length === 0 ? (chunk ?? empty) : Buffer.concat([pending, chunk ?? empty])
    pending = empty
    const [first, second] = bytes
    if (decoder === null) {
      if (chunk !== null && (first === undefined || second === undefined)) {
        pending = bytes
        return ""
      }
      decoder = new TextDecoder(encodingByMark(first ?? 0, second ?? 0))
    }
    return decoder.decode(bytes, { stream: chunk !== null })
  }
}

type Bytes<E> = Stream.Stream<Uint8Array, E>
type Text = Stream.Stream<string, InvalidRequest | PayloadTooLarge>

const textOf = <E>(source: Bytes<E>, { encoding, maxBytes }: ListReading): Text =>
  Stream.suspend(() => {
    const decode = makeDecoder(encoding)
    let length = 0
    return source.pipe(
      Stream.mapError(() => unreadableBody),
      Stream.mapEffect((bytes) => {
        length += bytes.length
        return length > maxBytes
          ? Effect.fail(bodyTooLarge(maxBytes))
          : Effect.succeed(decode(bytes))
      }),
      Stream.concat(Stream.suspend(() => Stream.make(decode(null)))),
      Stream.filter((text) => text !== "")
    )
  })

/**
 * Splits the text into rows of cells. Without a delimiter it reads the header ahead to detect one.
 */
const rowsOf = (text: Text, delimiter: Delimiter | null) => {
  const split = (source: Text, sign: Delimiter) =>
    Stream.pipeThroughChannelOrFail(source, Csv.decodeString({ delimiter: delimiters[sign] }))
  if (delimiter !== null) return split(text, delimiter)
  return Stream.unwrap(
    Effect.gen(function* () {
      const pull = yield* Stream.toPull(text)
      const remainder = Stream.fromPull(Effect.succeed(pull))
      let head = ""
      yield* remainder.pipe(
        Stream.takeUntil((chunk) => {
          head += chunk
          return /[\r\n]/.test(head) || head.length > MAX_HEADER_LENGTH
        }),
        Stream.runDrain
      )
      const [header = ""] = head.split(/[\r\n]/, 1)
      return split(Stream.concat(Stream.make(head), remainder), detectDelimiter(header))
    })
  )
}

const listRefused = (faults: ReadonlyArray<LineFault>, count: number): InvalidRequest => {
  const listed = faults.map(({ line, column, expected }) => ({
    path: column,
    message: `Expected ${expected}`,
    line
  }))
  const [first] = listed
  const where = first === undefined || first.path === "" ? "" : `, ${first.path}`
  const more = count > 1 ? `; ${count} faults, of which ${listed.length} are listed` : ""
  return new InvalidRequest({
    message: `Line ${first?.line ?? 1}${where}: ${first?.message}${more}. Nothing of the list was kept`,
    faults: listed
  })
}

/** The number of line breaks inside quoted cells: a row with such breaks is several lines long. */
const countLineBreaks = (cells: ReadonlyArray<string>): number => {
  let breaks = 0
  for (const cell of cells) {
    if (cell.includes("\n") || cell.includes("\r")) {
      breaks += cell.match(/\r\n|\r|\n/g)?.length ?? 0
    }
  }
  return breaks
}

const isBlank = (cells: ReadonlyArray<string>): boolean =>
  cells.length === 1 && (cells[0] ?? "").trim() === ""

/** Emits the lines of a list, and fails at its end if any line had a fault. */
export const readVendorList = <E>(
  source: Bytes<E>,
  reading: ListReading
): Stream.Stream<ListedLine, InvalidRequest | PayloadTooLarge> =>
  Stream.suspend(() => {
    const faults: Array<LineFault> = []
    let faultCount = 0
    const addFaults = (newFaults: ReadonlyArray<LineFault>) => {
      faultCount += newFaults.length
      faults.push(...newFaults.slice(0, MAX_FAULTS - faults.length))
    }
    let parseLine: ParseLine | null = null
    let nextLine = 1
    let lineCount = 0

    const readHeader = (cells: ReadonlyArray<string>, line: number): ParseLine => {
      const parser = makeLineParser(cells, line, reading.form)
      if (Result.isSuccess(parser)) return parser.success
      addFaults(parser.failure)
      return () => Result.fail([])
    }

    /**
     * The line of a row; null for the header, for a blank row, and for every row from the first
     * fault on.
     */
    const readRow = (cells: ReadonlyArray<string>): ListedLine | null => {
      const line = nextLine
      nextLine += 1 + countLineBreaks(cells)
      if (isBlank(cells)) return null
      if (parseLine === null) {
        parseLine = readHeader(cells, line)
        return null
      }
      lineCount += 1
      const result = parseLine(line, cells)
      if (Result.isFailure(result)) addFaults(result.failure)
      return Result.isSuccess(result) && faultCount === 0 ? result.success : null
    }

    const end = Stream.suspend(() => {
      if (faultCount === 0 && lineCount === 0) {
        const expected =
          parseLine === null ? "the names of the columns; it is empty" : "a line under it"
        addFaults([{ line: 1, column: "", expected }])
      }
      return faultCount === 0 ? Stream.empty : Stream.fail(listRefused(faults, faultCount))
    })

    return rowsOf(textOf(source, reading), reading.delimiter).pipe(
      Stream.chunks,
      Stream.map((rows) => rows.map(readRow).filter((line) => line !== null)),
      Stream.filter((lines): lines is Arr.NonEmptyArray<ListedLine> => lines.length > 0),
      Stream.flattenArray,
      Stream.catchTag("CsvError", ({ line, message }) =>
        Stream.suspend(() => {
          const expected = `CSV as in RFC 4180 (${message}); what follows was not read`
          addFaults([{ line, column: "", expected }])
          return Stream.empty
        })
      ),
      Stream.concat(end)
    )
  })
