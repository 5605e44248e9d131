/** The faults of a catalog's text against its schema, and the position of a path in the text. */
import { syntaxTree } from "@codemirror/language"
import type { EditorState } from "@codemirror/state"
import { Result, Schema } from "effect"
import { CatalogWrite } from "../../../../domain/catalog/CatalogDocument.ts"
import { issueFaults } from "../../../../domain/requestFields.ts"
import type { CatalogFault } from "../draft/catalogCalls.ts"
import type { CatalogText } from "../draft/catalogEntries.ts"

const decode = Schema.decodeUnknownResult(CatalogWrite, {
  onExcessProperty: "error",
  errors: "all"
})
const encode = Schema.encodeSync(CatalogWrite)

/** A fault with its range in the text. */
export interface PlacedFault extends CatalogFault {
  readonly from: number
  readonly to: number
}

type Node = ReturnType<typeof syntaxTree>["topNode"]

const textOf = (state: EditorState, { from, to }: Node): string => state.sliceDoc(from, to)

/** The name of a field without its quotes. */
export const nameOf = (state: EditorState, property: Node): string | null => {
  const name = property.getChild("PropertyName")
  return name === null ? null : textOf(state, name).replace(/^"|"$/g, "")
}

/** The value after the colon; null where there is none. */
export const writtenValue = (property: Node): Node | null => {
  const last = property.lastChild
  return last === null || last.name === "PropertyName" || last.type.isError ? null : last
}

const VALUES = /^(?:Object|Array|String|Number|True|False|Null)$/

const childAt = (state: EditorState, node: Node, segment: string): Node | null => {
  const index = /^\[(\d+)\]$/.exec(segment)?.[1]
  if (index !== undefined) {
    let item = node.name === "Array" ? node.firstChild : null
    let remainingItems = Number(index)
    for (; item !== null; item = item.nextSibling) {
      if (!VALUES.test(item.name)) continue
      if (remainingItems === 0) return item
      remainingItems -= 1
    }
    return null
  }
  const property = node
    .getChildren("Property")
    .find((candidate) => nameOf(state, candidate) === segment)
  return property === undefined ? null : writtenValue(property)
}

/** The range of the value at the path, or of the nearest value around it. */
const rangeOf = (state: EditorState, path: string): { from: number; to: number } => {
  const root = syntaxTree(state).topNode.firstChild
  let node = root
  for (const segment of path.match(/\[\d+\]|[^.[\]]+/g) ?? []) {
    const child: Node | null = node === null ? null : childAt(state, node, segment)
    if (child === null) break
    node = child
  }
  if (node === null) return { from: 0, to: 0 }
  // Of a long value only the first line is marked.
  return { from: node.from, to: Math.min(node.to, state.doc.lineAt(node.from).to) }
}

export const placeFaults = (
  state: EditorState,
  faults: ReadonlyArray<CatalogFault>
): ReadonlyArray<PlacedFault> =>
  faults.map((fault) => ({ ...fault, ...rangeOf(state, fault.path) }))

/** The first syntax error in the text. */
const syntaxErrorOffset = (state: EditorState): number => {
  let at: number | null = null
  syntaxTree(state).iterate({
    enter: ({ type, from }) => {
      if (type.isError) at ??= from
    }
  })
  return at ?? state.doc.length
}

export type ReadText =
  | { readonly document: CatalogText; readonly faults?: never }
  | { readonly faults: ReadonlyArray<PlacedFault>; readonly document?: never }

/** The document that the text contains, with defaults filled in, or the faults of the text. */
export const readText = (state: EditorState): ReadText => {
  let value: unknown
  try {
    value = JSON.parse(state.doc.toString())
  } catch (error) {
    const from = syntaxErrorOffset(state)
    const message = error instanceof Error ? error.message : String(error)
    return { faults: [{ path: "", message, from, to: Math.min(from + 1, state.doc.length) }] }
  }
  const result = decode(value)
  return Result.isSuccess(result)
    ? { document: encode(result.success) }
    : { faults: placeFaults(state, issueFaults(result.failure.issue)) }
}
