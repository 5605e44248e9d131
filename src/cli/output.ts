/** How commands answer: sentences and tables for people, or one JSON document for programs. */
import { Console, Effect } from "effect"
import { Flag, GlobalFlag } from "effect/cli"

export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Answer as JSON: one document, or a line for each event where it follows"),
    Flag.withDefault(false)
  )
})

/** Prints the document, or the words where nobody asked for JSON. */
export const tell = Effect.fnUntraced(function* (document: unknown, words: () => string) {
  yield* Console.log((yield* Json) ? JSON.stringify(document, null, 2) : words())
})

/** One line of JSON, or the words. */
export const tellEvent = Effect.fnUntraced(function* (event: unknown, words: () => string) {
  yield* Console.log((yield* Json) ? JSON.stringify(event) : words())
})

type Cell = string | number | boolean | null

const shown = (cell: Cell): string => (cell === null ? "-" : String(cell))

/** Columns as wide as their longest cell; nothing stands for null. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<Cell>>
): string => {
  const lines = [head, ...rows.map((row) => row.map(shown))]
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

/** A name and what belongs to it on each line. */
export const facts = (pairs: ReadonlyArray<readonly [string, Cell]>): string => {
  const width = Math.max(...pairs.map(([name]) => name.length))
  return pairs.map(([name, cell]) => `${name.padEnd(width)}  ${shown(cell)}`).join("\n")
}

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly has_more: boolean
}

/** A page of a list as a table, and how to get the next one. */
export const tellPage = <A extends { readonly id: string }>(
  page: Page<A>,
  head: ReadonlyArray<string>,
  row: (entry: A) => ReadonlyArray<Cell>
) =>
  tell(page, () => {
    if (page.data.length === 0) return "There are none."
    const last = page.data.at(-1)
    const more = page.has_more && last !== undefined ? `\nThere are more: --after ${last.id}` : ""
    return table(head, page.data.map(row)) + more
  })
