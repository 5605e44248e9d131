/**
 * Completion of field names and values at the cursor, from the JSON schema of the catalog and the
 * syntax tree of the text.
 */
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion
} from "@codemirror/autocomplete"
import { syntaxTree } from "@codemirror/language"
import type { EditorState } from "@codemirror/state"
import type { EditorView } from "@codemirror/view"
import { Schema } from "effect"
import { CatalogWrite } from "../../../../domain/catalog/CatalogDocument.ts"
import { nameOf, writtenValue } from "./documentFaults.ts"

/** The part of a JSON schema that completion needs. */
interface Shape {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: ReadonlyArray<Shape>
  readonly enum?: ReadonlyArray<unknown>
}
const Shape: Schema.Codec<Shape> = Schema.Struct({
  $ref: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  properties: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.suspend((): Schema.Codec<Shape> => Shape)
    )
  ),
  items: Schema.optionalKey(Schema.suspend((): Schema.Codec<Shape> => Shape)),
  anyOf: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<Shape> => Shape))),
  enum: Schema.optionalKey(Schema.Array(Schema.Unknown))
})

const catalogSchema = Schema.toJsonSchemaDocument(CatalogWrite)
const root = Schema.decodeUnknownSync(Shape)(catalogSchema.schema)
const definitions = Schema.decodeUnknownSync(Schema.Record(Schema.String, Shape))(
  catalogSchema.definitions
)

/**
 * The shapes that a shape refers to: the definition of its `$ref`, or all alternatives of its
 * `anyOf`.
 */
const alternatives = (shape: Shape): ReadonlyArray<Shape> => {
  if (shape.$ref !== undefined) {
    const definition = definitions[shape.$ref.slice(shape.$ref.lastIndexOf("/") + 1)]
    return definition === undefined ? [] : alternatives(definition)
  }
  return shape.anyOf === undefined ? [shape] : shape.anyOf.flatMap(alternatives)
}

type Node = ReturnType<typeof syntaxTree>["topNode"]

const KIND = "kind"

/** The alternatives that match the `kind` in the text, where the object has one. */
const shapesOfKind = (
  state: EditorState,
  shapes: ReadonlyArray<Shape>,
  object: Node
): ReadonlyArray<Shape> => {
  const property = object
    .getChildren("Property")
    .find((candidate) => nameOf(state, candidate) === KIND)
  const value = property === undefined ? null : writtenValue(property)
  if (value === null) return shapes
  const kind = state.sliceDoc(value.from, value.to).replace(/^"|"$/g, "")
  const matches = shapes.filter(({ properties }) => properties?.[KIND]?.enum?.includes(kind))
  return matches.length === 0 ? shapes : matches
}

/** The shapes that a value at this position may have. */
const shapesAt = (state: EditorState, node: Node): ReadonlyArray<Shape> => {
  const { parent } = node
  if (parent === null || parent.name === "JsonText") return alternatives(root)
  if (parent.name === "Array") {
    return shapesAt(state, parent).flatMap(({ items }) =>
      items === undefined ? [] : alternatives(items)
    )
  }
  if (parent.name === "Property" && parent.parent !== null) {
    const name = nameOf(state, parent) ?? ""
    return fieldsAt(state, parent.parent).flatMap(([field, shape]) =>
      field === name ? alternatives(shape) : []
    )
  }
  return []
}

const fieldsAt = (
  state: EditorState,
  object: Node
): ReadonlyArray<readonly [name: string, shape: Shape]> => [
  ...new Map(
    shapesOfKind(state, shapesAt(state, object), object).flatMap(({ properties = {} }) =>
      Object.entries(properties)
    )
  )
]

/** The initial text of a value by type; the cursor is placed inside. */
const initialTexts: Readonly<Record<string, string>> = { string: '""', object: "{}", array: "[]" }

const insertText =
  (text: string, cursorOffset: number) =>
  (view: EditorView, _: Completion, from: number, to: number): void => {
    view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length - cursorOffset },
      userEvent: "input.complete"
    })
    if (cursorOffset > 0) startCompletion(view)
  }

const nameOptions = (
  state: EditorState,
  object: Node,
  prefix: Node | null
): ReadonlyArray<Completion> => {
  const ownProperty = prefix?.parent ?? null
  const present = new Set(
    object
      .getChildren("Property")
      .filter(({ from }) => from !== ownProperty?.from)
      .map((property) => nameOf(state, property))
  )
  const hasValue =
    ownProperty !== null && ownProperty.name === "Property" && writtenValue(ownProperty) !== null
  return fieldsAt(state, object)
    .filter(([name]) => !present.has(name))
    .map(([name, shape]) => {
      const first = alternatives(shape)[0]
      const beginning = hasValue ? "" : (initialTexts[first?.type ?? ""] ?? "")
      const text = hasValue ? `"${name}"` : `"${name}": ${beginning}`
      return {
        label: name,
        type: "property",
        ...(shape.description === undefined ? {} : { info: shape.description }),
        apply: insertText(text, beginning === "" ? 0 : 1)
      }
    })
}

const valueOptions = (state: EditorState, node: Node): ReadonlyArray<Completion> =>
  shapesAt(state, node)
    .flatMap(({ type, enum: values }) =>
      values !== undefined
        ? values.map((value) => JSON.stringify(value))
        : type === "boolean"
          ? ["true", "false"]
          : type === "null"
            ? ["null"]
            : []
    )
    .map((text) => ({
      label: text.replace(/^"|"$/g, ""),
      type: "enum",
      apply: insertText(text, 0)
    }))

const resultOf = (
  from: number,
  to: number,
  options: ReadonlyArray<Completion>
): CompletionResult | null => (options.length === 0 ? null : { from, to, options, filter: false })

/** The completions that start with the typed text. */
const filterByPrefix = (options: ReadonlyArray<Completion>, prefix: string) =>
  options.filter(({ label }) => label.toLowerCase().startsWith(prefix.toLowerCase()))

export const completeCatalog = ({
  state,
  pos,
  explicit
}: CompletionContext): CompletionResult | null => {
  const node = syntaxTree(state).resolveInner(pos, -1)
  const isInside = node.from < pos && pos < node.to
  const prefix = state.sliceDoc(node.from + 1, pos)
  if (node.name === "PropertyName" && node.parent?.parent && isInside) {
    const options = nameOptions(state, node.parent.parent, node)
    return resultOf(node.from, node.to, filterByPrefix(options, prefix))
  }
  if (node.name === "String" && isInside) {
    return resultOf(node.from, node.to, filterByPrefix(valueOptions(state, node), prefix))
  }
  if (!explicit) return null
  const enclosing = node.type.isError ? (node.parent ?? node) : node
  const object = enclosing.name === "{" || enclosing.name === "}" ? enclosing.parent : enclosing
  if (object?.name === "Object" && pos > object.from) {
    return resultOf(pos, pos, nameOptions(state, object, null))
  }
  if (
    enclosing.name === "Property" &&
    writtenValue(enclosing) === null &&
    enclosing.firstChild !== null
  ) {
    return resultOf(pos, pos, valueOptions(state, enclosing.firstChild))
  }
  return null
}
