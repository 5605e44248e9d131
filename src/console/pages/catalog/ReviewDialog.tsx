/**
 * The review of a draft before it is applied: its differences, the gateway's validation, and a
 * replay of past orders.
 */
import { Alert, Button, Group, List, Modal, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiMutation, useApiQuery, useSession } from "../../gateway/hooks.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { DifferenceTable } from "./DifferenceTable.tsx"
import {
  applyCatalog,
  type CatalogFault,
  faultsOf,
  type NewerVersions,
  newerVersionsOf,
  previewCatalog
} from "./draft/catalogCalls.ts"
import { differences } from "./draft/catalogDifference.ts"
import { type CatalogText, entriesOf, keyOf, listNames } from "./draft/catalogEntries.ts"
import type { Draft } from "./draft/storedDraft.ts"
import { ReplayPart } from "./ReplayPart.tsx"

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
const Verdict = ({ draft }: { readonly draft: Draft }) => {
  const { t } = useTranslation("catalog")
  const { session } = useSession()
  const preview = useApiQuery(["catalogPreview", draft.revision], () =>
    previewCatalog(session, draft.document)
  )
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
        <FaultList document={draft.document} faults={faults} />
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
      <FaultList document={draft.document} faults={warnings} />
    </Alert>
  )
}

interface Props {
  readonly draft: Draft
  readonly onApply: (version: number) => void
  /** Called when another operator has changed the catalog first. */
  readonly onConflict: (newerVersions: NewerVersions) => void
  readonly onClose: () => void
}

export const ReviewDialog = ({ draft, onApply, onConflict, onClose }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const apply = useApiMutation(
    ({ document, base }: Draft) =>
      () =>
        applyCatalog(session, document, base.version),
    [["catalog"], ["channels"]]
  )
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t("review.title")}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Stack>
        <DifferenceTable differences={differences(draft.base.document, draft.document)} />
        <Verdict draft={draft} />
        <ReplayPart document={draft.document} />
        {apply.isError && newerVersionsOf(apply.error) === undefined ? (
          <FailureNote error={apply.error} />
        ) : null}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t("review.back")}
          </Button>
          <Button
            loading={apply.isPending}
            onClick={() => {
              if (apply.isPending) return
              apply.mutate(draft, {
                onSuccess: ({ version }) => onApply(version),
                onError: (error) => {
                  const newerVersions = newerVersionsOf(error)
                  if (newerVersions !== undefined) onConflict(newerVersions)
                }
              })
            }}
          >
            {t("review.apply")}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
