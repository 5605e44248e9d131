/**
 * A vendor's usage list as it arrives: bytes, text, rows, lines. One piece is in memory at a time.
 * After the first fault no more lines are given out, and the rest is read for its faults alone.
 */
import { type Array as Arr, Effect, Result, Stream } from "effect"
import { Csv } from "effect/encoding"
import { InvalidRequest, type PayloadTooLarge } from "../../domain/Errors.ts"
import { bodyTooLarge, unreadableBody } from "../../http/server/bodies.ts"
import {
  type Delimiter,
  delimiterOf,
  delimiters,
  type LineFault,
  type ListEncoding,
  type ListedLine,
  type ListForm,
  type ReadLine,
  readerOf
} from "./vendorLists.ts"

/** Faults that an error tells; all are counted. */
const MAX_FAULTS = 1000
/** Far beyond any first line. */
const MAX_FIRST_LINE = 64 * 1024

export interface ListReading {
  readonly form: ListForm
  /** Null: UTF-8, or what a byte order mark says. */
  readonly encoding: ListEncoding | null
  /** Null: what stands most often between the names. */
  readonly delimiter: Delimiter | null
  readonly maxBytes: number
}

const markedEncoding = (first: number, second: number): ListEncoding => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"
}

/** Bytes that are none of the encoding become U+FFFD, by which their lines are found. */
const decoderOf = (encoding: ListEncoding | null) => {
  let decoder = encoding === null ? null : new TextDecoder(encoding)
  let waiting: Uint8Array = new Uint8Array()
  return (bytes: Uint8Array | null): string => {
    const all =
      waiting.length === 0
        ? (bytes ?? waiting)
        : Buffer.concat([waiting, bytes ?? waiting.subarray(0, 0)])
    waiting = waiting.subarray(0, 0)
    const [first, second] = all
    if (decoder === null) {
      if (bytes !== null && (first === undefined || second === undefined)) {
        waiting = all
        return ""
      }
      decoder = new TextDecoder(markedEncoding(first ?? 0, second ?? 0))
    }
    return decoder.decode(all, { stream: bytes !== null })
  }
}

type Bytes<E> = Stream.Stream<Uint8Array, E>
type Text = Stream.Stream<string, InvalidRequest | PayloadTooLarge>

const textOf = <E>(source: Bytes<E>, { encoding, maxBytes }: ListReading): Text =>
  Stream.suspend(() => {
    const decode = decoderOf(encoding)
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

/** Rows by the delimiter that is given, or that the first line shows. */
const rowsOf = (text: Text, delimiter: Delimiter | null) => {
  const split = (source: Text, sign: Delimiter) =>
    Stream.pipeThroughChannelOrFail(source, Csv.decodeString({ delimiter: delimiters[sign] }))
  if (delimiter !== null) return split(text, delimiter)
  return Stream.unwrap(
    Effect.gen(function* () {
      const pull = yield* Stream.toPull(text)
      const rest = Stream.fromPull(Effect.succeed(pull))
      let head = ""
      const first = yield* rest.pipe(
        Stream.takeUntil((piece) => {
          head += piece
          return /[\r\n]/.test(head) || head.length > MAX_FIRST_LINE
        }),
        Stream.runCollect
      )
      const [names = ""] = first.join("").split(/[\r\n]/, 1)
      return split(Stream.concat(Stream.fromIterable(first), rest), delimiterOf(names))
    })
  )
}

const refusal = (faults: ReadonlyArray<LineFault>, count: number): InvalidRequest => {
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

/** Line breaks inside of quoted cells make a row several lines long. */
const breaksIn = (cells: ReadonlyArray<string>): number => {
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

/** The lines of a list; fails at its end with all of its faults. */
export const readVendorList = <E>(
  source: Bytes<E>,
  reading: ListReading
): Stream.Stream<ListedLine, InvalidRequest | PayloadTooLarge> =>
  Stream.suspend(() => {
    const faults: Array<LineFault> = []
    let count = 0
    const note = (found: ReadonlyArray<LineFault>) => {
      count += found.length
      for (const fault of found) if (faults.length < MAX_FAULTS) faults.push(fault)
    }
    let read: ReadLine | null = null
    let next = 1
    let lines = 0

    /** Without the names, what is blank and what is faulty. */
    const lineOf = (cells: ReadonlyArray<string>): ListedLine | null => {
      const line = next
      next += 1 + breaksIn(cells)
      if (isBlank(cells)) return null
      if (read === null) {
        const reader = readerOf(cells, line, reading.form)
        if (Result.isFailure(reader)) note(reader.failure)
        read = Result.getOrElse(reader, () => () => Result.fail([]))
        return null
      }
      lines += 1
      const result = read(line, cells)
      if (Result.isSuccess(result)) return count === 0 ? result.success : null
      note(result.failure)
      return null
    }

    const end = Stream.suspend(() => {
      if (count === 0 && lines === 0) {
        const expected = read === null ? "the names of the columns; it is empty" : "a line under it"
        note([{ line: 1, column: "", expected }])
      }
      return count === 0 ? Stream.empty : Stream.fail(refusal(faults, count))
    })

    return rowsOf(textOf(source, reading), reading.delimiter).pipe(
      Stream.chunks,
      Stream.map((rows) => rows.map(lineOf).filter((line) => line !== null)),
      Stream.filter((found): found is Arr.NonEmptyArray<ListedLine> => found.length > 0),
      Stream.flattenArray,
      Stream.catchTag("CsvError", ({ line, message }) =>
        Stream.suspend(() => {
          const expected = `CSV as in RFC 4180 (${message}); what follows was not read`
          note([{ line, column: "", expected }])
          return Stream.empty
        })
      ),
      Stream.concat(end)
    )
  })
