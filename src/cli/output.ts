/**
 * Prints results of commands: sentences and tables for people, or one JSON document for programs.
 */
import { Console, Effect } from "effect"
import { Flag, GlobalFlag } from "effect/cli"

export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Answer as JSON: one document, or a line for each event where it follows"),
    Flag.withDefault(false)
  )
})

/** Prints the document as JSON with `--json`, otherwise the text. */
export const printResult = Effect.fnUntraced(function* (document: unknown, text: () => string) {
  yield* Console.log((yield* Json) ? JSON.stringify(document, null, 2) : text())
})

/** Prints an event as one line of JSON with `--json`, otherwise the text. */
export const printEvent = Effect.fnUntraced(function* (event: unknown, text: () => string) {
  yield* Console.log((yield* Json) ? JSON.stringify(event) : text())
})

type Cell = string | number | boolean | null

const cellText = (cell: Cell): string => (cell === null ? "-" : String(cell))

/** A table in text; each column is as wide as its longest cell. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): string => {
  const lines = [head, ...rows.map((row) => row.map(cellText))]
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length))
  )
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** One line for each pair of a name and its value. */
export const facts = (pairs: ReadonlyArray<readonly [string, Cell]>): string => {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, cell]) => `${name.padEnd(width)}  ${cellText(cell)}`).join("\n")
}

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
}

/** Prints a page of a list as a table, with the flag that requests the next page. */
export const printPage = <A extends { readonly id: string }>(
  page: Page<A>,
  head: ReadonlyArray<string>,
  row: (entry: A) => ReadonlyArray<Cell>
) =>
  printResult(page, () => {
    if (page.data.length === 0) return "There are none."
    const last = page.data.at(-1)
    const moreText =
      page.has_more && last !== undefined ? `\nThere are more: --after ${last.id}` : ""
    return table(head, page.data.map(row)) + moreText
  })
