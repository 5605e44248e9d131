/**
 * The review of a draft before it is applied: its differences, the gateway's validation, and a
 * replay of past orders.
 */
import { Button, Group, Modal, Stack } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { DifferenceTable } from "./DifferenceTable.tsx"
import { applyCatalog, type NewerVersions, newerVersionsOf } from "./draft/catalogCalls.ts"
import { differences } from "./draft/catalogDifference.ts"
import type { Draft } from "./draft/storedDraft.ts"
import { ReplayPart } from "./ReplayPart.tsx"
import { Verdict } from "./Verdict.tsx"

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
        <Verdict document={draft.document} revision={draft.revision} />
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
