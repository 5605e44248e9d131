/** The gateway's validation of a changed catalog: its faults, or its warnings. */
import { Alert, List, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { type CatalogFault, faultsOf, previewCatalog } from "./draft/catalogCalls.ts"
import { type CatalogText, entriesOf, keyOf, listNames } from "./draft/catalogEntries.ts"
import type { Draft } from "./draft/storedDraft.ts"

/** The path of a fault with the name of its entry instead of its index. */
const describePath = (document: CatalogText, path: string): string => {
  const [, name = "", index = "", fieldPath = ""] = /^(\w+)\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const list = listNames.find((candidate) => candidate === name)
  const entry = list === undefined ? undefined : entriesOf(document, list)[Number(index)]
  return entry === undefined
    ? path
    : `${name} ${keyOf(entry)}${fieldPath === "" ? "" : `: ${fieldPath}`}`
}

const FaultList = ({
  document,
  faults
}: {
  readonly document: CatalogText
  readonly faults: ReadonlyArray<CatalogFault>
}) => (
  <List size="sm">
    {faults.map(({ path, message }) => (
      <List.Item key={`${path} ${message}`}>
        <span className="id">{describePath(document, path)}</span> {message}
      </List.Item>
    ))}
  </List>
)

/** The gateway's validation of the draft, which changes nothing. */
export const Verdict = ({ document, revision }: Pick<Draft, "document" | "revision">) => {
  const { t } = useTranslation("catalog")
  const { session } = useSession()
  const preview = useApiQuery(["catalogPreview", revision], () => previewCatalog(session, document))
  const faults = preview.isError ? faultsOf(preview.error) : null
  if (preview.isPending) {
    return (
      <Text size="sm" c="dimmed" role="status">
        {t("review.checking")}
      </Text>
    )
  }
  if (faults !== null) {
    return (
      <Alert color="red" role="alert" title={t("faults.document")}>
        <FaultList document={document} faults={faults} />
      </Alert>
    )
  }
  if (preview.isError) {
    return <FailureNote error={preview.error} onRetry={() => void preview.refetch()} />
  }
  const { warnings } = preview.data
  return warnings.length === 0 ? (
    <Text size="sm" role="status">
      {t("review.sound")}
    </Text>
  ) : (
    <Alert color="orange" title={t("faults.warnings")}>
      <FaultList document={document} faults={warnings} />
    </Alert>
  )
}
