/**
 * The review of a draft before it is applied: its differences, the gateway's validation, and a
 * replay of past orders.
 */
import { Alert, Button, Group, List, Modal, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useAsk, useDo, useSession } from "../../gateway/hooks.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { DifferenceTable } from "./DifferenceTable.tsx"
import {
  applyCatalog,
  type CatalogFault,
  faultsOf,
  type Meanwhile,
  meanwhileOf,
  previewCatalog
} from "./draft/catalogCalls.ts"
import { differences } from "./draft/catalogDifference.ts"
import { type CatalogText, entriesOf, keyOf, listNames } from "./draft/catalogEntries.ts"
import type { Draft } from "./draft/keptDraft.ts"
import { ReplayPart } from "./ReplayPart.tsx"

/** The path of a fault with the name of its entry instead of its index. */
const placed = (document: CatalogText, path: string): string => {
  const [, name = "", index = "", rest = ""] = /^(\w+)\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const list = listNames.find((one) => one === name)
  const entry = list === undefined ? undefined : entriesOf(document, list)[Number(index)]
  return entry === undefined ? path : `${name} ${keyOf(entry)}${rest === "" ? "" : `: ${rest}`}`
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
        <span className="id">{placed(document, path)}</span> {message}
      </List.Item>
    ))}
  </List>
)

/** The gateway's validation of the draft, which changes nothing. */
const Verdict = ({ draft }: { readonly draft: Draft }) => {
  const { t } = useTranslation("catalog")
  const { session } = useSession()
  const preview = useAsk(["catalogPreview", draft.revision], () =>
    previewCatalog(session, draft.mine)
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
        <FaultList document={draft.mine} faults={faults} />
      </Alert>
    )
  }
  if (preview.isError) {
    return <FailureNote error={preview.error} onAgain={() => void preview.refetch()} />
  }
  const { warnings } = preview.data
  return warnings.length === 0 ? (
    <Text size="sm" role="status">
      {t("review.sound")}
    </Text>
  ) : (
    <Alert color="orange" title={t("faults.warnings")}>
      <FaultList document={draft.mine} faults={warnings} />
    </Alert>
  )
}

interface Props {
  readonly draft: Draft
  readonly onApplied: (version: number) => void
  /** Called when another operator has changed the catalog first. */
  readonly onOvertaken: (meanwhile: Meanwhile) => void
  readonly onClose: () => void
}

export const ReviewDialog = ({ draft, onApplied, onOvertaken, onClose }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const apply = useDo(
    ({ mine, base }: Draft) =>
      () =>
        applyCatalog(session, mine, base.version),
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
        <DifferenceTable differences={differences(draft.base.document, draft.mine)} />
        <Verdict draft={draft} />
        <ReplayPart document={draft.mine} />
        {apply.isError && meanwhileOf(apply.error) === undefined ? (
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
                onSuccess: ({ version }) => onApplied(version),
                onError: (error) => {
                  const meanwhile = meanwhileOf(error)
                  if (meanwhile !== undefined) onOvertaken(meanwhile)
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
