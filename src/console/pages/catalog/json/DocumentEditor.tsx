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
import { useDo, useSession } from "../../../gateway/hooks.tsx"
import { FailureNote } from "../../../parts/FailureNote.tsx"
import { faultsOf, previewCatalog } from "../draft/catalogCalls.ts"
import { type CatalogText, withoutSecrets, withSecretsOf } from "../draft/catalogEntries.ts"
import { type PlacedFault, placeFaults, readText } from "./documentFaults.ts"
import { goTo, openEditor, showFaults } from "./editorView.ts"

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
let left: { readonly by: string; readonly revision: string; readonly text: string } | null = null

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
  const by = session.operator?.token ?? ""
  if (left !== null && left.by !== by) left = null
  const isDark = useComputedColorScheme("light") === "dark"
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const [faults, setFaults] = useState<ReadonlyArray<PlacedFault>>([])
  // The text is reset when the document changes, or when the reader requests that.
  const [start, setStart] = useState({ revision, text: textOf(document), round: 0 })
  const [lost, setLost] = useState(() => (left?.revision === revision ? null : left))
  const check = useDo((value: unknown) => () => previewCatalog(session, value))
  if (start.revision !== revision) {
    setStart({ revision, text: textOf(document), round: start.round + 1 })
  }
  const label = t("json.label")
  const { text, round } = start

  const reportFaults = (next: ReadonlyArray<PlacedFault>): void => {
    setFaults(next)
    if (view.current !== null) showFaults(view.current, next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round resets the editor's text
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    let pause: ReturnType<typeof setTimeout> | undefined
    const kept = left?.revision === revision ? left.text : text
    const opened = openEditor({
      parent,
      text: kept,
      label,
      mayEdit,
      isDark,
      onChange: (state) => {
        left = { by, revision, text: state.doc.toString() }
        clearTimeout(pause)
        pause = setTimeout(() => {
          const found = readText(opened.state).faults ?? []
          setFaults(found)
          showFaults(opened, found)
        }, PAUSE_MILLIS)
      }
    })
    view.current = opened
    return () => {
      clearTimeout(pause)
      view.current = null
      opened.destroy()
    }
  }, [by, text, round, revision, label, mayEdit, isDark])

  const take = (): void => {
    const editor = view.current
    if (editor === null || check.isPending) return
    const read = readText(editor.state)
    if (read.document === undefined) {
      reportFaults(read.faults)
      return
    }
    const next = withSecretsOf(read.document, document)
    check.mutate(next, {
      onSuccess: () => {
        left = null
        reportFaults([])
        onTake(next)
      },
      onError: (error) => reportFaults(placeFaults(editor.state, faultsOf(error) ?? []))
    })
  }
  const again = (from: string): void => {
    left = null
    reportFaults([])
    setLost(null)
    setStart({ revision, text: from, round: round + 1 })
  }
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t("json.hint")}
      </Text>
      {lost === null ? null : (
        <Alert color="orange" role="status">
          <Group justify="space-between">
            <Text size="sm">{t("json.lost")}</Text>
            <Button size="xs" variant="default" onClick={() => again(lost.text)}>
              {t("json.lostDo")}
            </Button>
          </Group>
        </Alert>
      )}
      <div ref={place} />
      {faults.length === 0 ? null : (
        <FaultList
          faults={faults}
          onGo={(fault) => {
            if (view.current !== null) goTo(view.current, fault)
          }}
        />
      )}
      {check.isError && faultsOf(check.error) === null ? <FailureNote error={check.error} /> : null}
      {mayEdit ? (
        <Group justify="flex-end">
          <Button variant="default" onClick={() => again(textOf(document))}>
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
