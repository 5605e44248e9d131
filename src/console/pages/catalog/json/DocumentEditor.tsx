/**
 * An editor of the whole catalog as JSON. It must be loaded with `lazy`, as it is the only part
 * that needs the editor library.
 */

import type { EditorView } from "@codemirror/view"
import {
  Alert,
  Anchor,
  Button,
  Group,
  List,
  Stack,
  Text,
  useComputedColorScheme
} from "@mantine/core"
import { useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { faultsOf, previewCatalog } from "../draft/catalogCalls.ts"
import { type CatalogText, withoutSecrets, withSecretsOf } from "../draft/catalogEntries.ts"
import { type PlacedFault, placeFaults, readText } from "./documentFaults.ts"
import { openEditor, revealFault, showFaults } from "./editorView.ts"

interface Props {
  readonly document: CatalogText
  /** The revision of the document; it changes with the document. */
  readonly revision: string
  readonly mayEdit: boolean
  readonly onTake: (document: CatalogText) => void
}

/** The pause after typing, long enough that a half-typed word is not marked as a fault. */
const PAUSE_MILLIS = 400

const textOf = (document: CatalogText): string => JSON.stringify(withoutSecrets(document), null, 2)

/**
 * The text that was edited but not yet taken into the draft, kept while the reader visits another
 * part of the page.
 */
let unsavedText: {
  readonly token: string
  readonly revision: string
  readonly text: string
} | null = null

const FaultList = ({
  faults,
  onGo
}: {
  readonly faults: ReadonlyArray<PlacedFault>
  readonly onGo: (fault: PlacedFault) => void
}) => {
  const { t } = useTranslation("catalog")
  return (
    <Alert color="red" role="alert" title={t("json.faults")}>
      <List size="sm">
        {faults.map((fault) => {
          const path = fault.path === "" ? t("json.whole") : fault.path
          return (
            <List.Item key={`${fault.path} ${fault.message}`}>
              <Anchor
                component="button"
                type="button"
                size="sm"
                className="id"
                underline="always"
                c="var(--mantine-color-text)"
                aria-label={t("json.go", { path })}
                onClick={() => onGo(fault)}
              >
                {path}
              </Anchor>{" "}
              {fault.message}
            </List.Item>
          )
        })}
      </List>
    </Alert>
  )
}

const DocumentEditor = ({ document, revision, mayEdit, onTake }: Props) => {
  const { t } = useTranslation("catalog")
  const { session } = useSession()
  const token = session.operator?.token ?? ""
  if (unsavedText !== null && unsavedText.token !== token) unsavedText = null
  const isDark = useComputedColorScheme("light") === "dark"
  const container = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [faults, setFaults] = useState<ReadonlyArray<PlacedFault>>([])
  // The text is reset when the document changes, or when the reader requests that.
  const [start, setStart] = useState({ revision, text: textOf(document), round: 0 })
  const [recoverable, setRecoverable] = useState(() =>
    unsavedText?.revision === revision ? null : unsavedText
  )
  const check = useApiMutation((value: unknown) => () => previewCatalog(session, value))
  if (start.revision !== revision) {
    setStart({ revision, text: textOf(document), round: start.round + 1 })
  }
  const label = t("json.label")
  const { text, round } = start

  const reportFaults = (nextFaults: ReadonlyArray<PlacedFault>): void => {
    setFaults(nextFaults)
    if (view.current !== null) showFaults(view.current, nextFaults)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round resets the editor's text
  useEffect(() => {
    const parent = container.current
    if (parent === null) return
    let pause: ReturnType<typeof setTimeout> | undefined
    const initialText = unsavedText?.revision === revision ? unsavedText.text : text
    const editor = openEditor({
      parent,
      text: initialText,
      label,
      mayEdit,
      isDark,
      onChange: (state) => {
        unsavedText = { token, revision, text: state.doc.toString() }
        clearTimeout(pause)
        pause = setTimeout(() => {
          const textFaults = readText(editor.state).faults ?? []
          setFaults(textFaults)
          showFaults(editor, textFaults)
        }, PAUSE_MILLIS)
      }
    })
    view.current = editor
    return () => {
      clearTimeout(pause)
      view.current = null
      editor.destroy()
    }
  }, [token, text, round, revision, label, mayEdit, isDark])

  const take = (): void => {
    const editor = view.current
    if (editor === null || check.isPending) return
    const result = readText(editor.state)
    if (result.document === undefined) {
      reportFaults(result.faults)
      return
    }
    const nextDocument = withSecretsOf(result.document, document)
    check.mutate(nextDocument, {
      onSuccess: () => {
        unsavedText = null
        reportFaults([])
        onTake(nextDocument)
      },
      onError: (error) => reportFaults(placeFaults(editor.state, faultsOf(error) ?? []))
    })
  }
  const resetTo = (from: string): void => {
    unsavedText = null
    reportFaults([])
    setRecoverable(null)
    setStart({ revision, text: from, round: round + 1 })
  }
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t("json.hint")}
      </Text>
      {recoverable === null ? null : (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            <Text size="sm">{t("json.lost")}</Text>
            <Button size="xs" variant="default" onClick={() => resetTo(recoverable.text)}>
              {t("json.lostDo")}
            </Button>
          </Group>
        </Alert>
      )}
      <div ref={container} />
      {faults.length === 0 ? null : (
        <FaultList
          faults={faults}
          onGo={(fault) => {
            if (view.current !== null) revealFault(view.current, fault)
          }}
        />
      )}
      {check.isError && faultsOf(check.error) === null ? <FailureNote error={check.error} /> : null}
      {mayEdit ? (
        <Group justify="flex-end">
          <Button variant="default" onClick={() => resetTo(textOf(document))}>
            {t("json.restore")}
          </Button>
          <Button loading={check.isPending} onClick={take}>
            {t("json.take")}
          </Button>
        </Group>
      ) : null}
    </Stack>
  )
}
export default DocumentEditor
