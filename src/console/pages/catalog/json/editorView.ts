/** The JSON editor: completion, marks at faults, and its styles in light and dark mode. */
import { autocompletion } from "@codemirror/autocomplete"
import { json } from "@codemirror/lang-json"
import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import { EditorState, type Extension, StateEffect, StateField } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view"
import { basicSetup } from "codemirror"
import type { PlacedFault } from "./documentFaults.ts"
import { completeCatalog } from "./schemaCompletion.ts"

const setFaults = StateEffect.define<ReadonlyArray<PlacedFault>>()
const mark = Decoration.mark({ class: "cm-fault" })

const faultMarks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects }) => {
    const faultsEffect = effects.find((effect) => effect.is(setFaults))
    return faultsEffect === undefined
      ? marks.map(changes)
      : Decoration.set(
          faultsEffect.value
            .filter(({ from, to }) => from < to)
            .map(({ from, to }) => mark.range(from, to)),
          true
        )
  },
  provide: (field) => EditorView.decorations.from(field)
})

/** Replacements for colours of the default style that are too dark for dark mode. */
const onDark: Readonly<Record<string, string>> = {
  "#a11": "#ffb4a2",
  "#164": "#8ce99a",
  "#219": "#b197fc",
  "#708": "#e599f7",
  "#e40": "#ffc078",
  "#f00": "#ff8787"
}
const darkStyle = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) => {
    const color: unknown = spec.color
    return typeof color === "string" ? { ...spec, color: onDark[color] ?? "#c1c2c5" } : spec
  }),
  { themeType: "dark" }
)

const editorTheme = (isDark: boolean): Extension =>
  EditorView.theme(
    {
      "&": {
        fontSize: "13px",
        backgroundColor: "var(--mantine-color-body)",
        color: "var(--mantine-color-text)",
        border: "1px solid var(--mantine-color-default-border)",
        borderRadius: "var(--mantine-radius-md)",
        height: "min(60vh, 640px)"
      },
      ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)", overflow: "auto" },
      ".cm-gutters": {
        backgroundColor: "var(--mantine-color-body)",
        color: "var(--mantine-color-dimmed)",
        borderRight: "1px solid var(--mantine-color-default-border)"
      },
      ".cm-content": { caretColor: "var(--mantine-color-text)" },
      ".cm-cursor": { borderLeftColor: "var(--mantine-color-text)" },
      ".cm-activeLine, .cm-activeLineGutter": {
        backgroundColor: isDark ? "rgba(255,255,255,0.06)" : "rgba(0,0,0,0.04)"
      },
      ".cm-fault": { textDecoration: "underline wavy var(--mantine-color-red-6)" },
      ".cm-tooltip": {
        backgroundColor: "var(--mantine-color-body)",
        color: "var(--mantine-color-text)",
        border: "1px solid var(--mantine-color-default-border)"
      }
    },
    { dark: isDark }
  )

interface Options {
  readonly parent: HTMLElement
  readonly text: string
  /** The accessible name of the editor. */
  readonly label: string
  readonly mayEdit: boolean
  readonly isDark: boolean
  readonly onChange: (state: EditorState) => void
}

export const openEditor = ({
  parent,
  text,
  label,
  mayEdit,
  isDark,
  onChange
}: Options): EditorView => {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce
  return new EditorView({
    parent,
    doc: text,
    extensions: [
      ...(nonce === undefined ? [] : [EditorView.cspNonce.of(nonce)]),
      basicSetup,
      ...(isDark ? [syntaxHighlighting(darkStyle)] : []),
      json(),
      autocompletion({ override: [completeCatalog], icons: false }),
      faultMarks,
      editorTheme(isDark),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({
        "aria-label": label,
        tabindex: "0",
        ...(mayEdit ? {} : { "aria-readonly": "true" })
      }),
      EditorView.editable.of(mayEdit),
      EditorState.readOnly.of(!mayEdit),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) onChange(state)
      })
    ]
  })
}

export const showFaults = (view: EditorView, faults: ReadonlyArray<PlacedFault>): void =>
  view.dispatch({ effects: setFaults.of(faults) })

export const revealFault = (view: EditorView, { from }: PlacedFault): void => {
  view.dispatch({ selection: { anchor: from }, scrollIntoView: true })
  view.focus()
}
