/** The dialogs of the catalog page. */
import { Button, Group, List, Modal, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type CatalogText, type Entry, keyOf, withoutEntry } from "./draft/catalogEntries.ts"
import type { CatalogVersion, Draft } from "./draft/storedDraft.ts"
import type { DraftDialog } from "./draftDialog.ts"
import { EntryDialog } from "./EntryDialog.tsx"
import { MergeDialog } from "./MergeDialog.tsx"
import { ReviewDialog } from "./ReviewDialog.tsx"

interface ConfirmRemovalProps {
  readonly title: string
  readonly lead: string
  readonly action: string
  readonly mountKeys?: ReadonlyArray<string>
  readonly onConfirm: () => void
  readonly onClose: () => void
}

const ConfirmRemoval = ({
  title,
  lead,
  action,
  mountKeys = [],
  onConfirm,
  onClose
}: ConfirmRemovalProps) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <Stack>
        <Text size="sm">{lead}</Text>
        {mountKeys.length === 0 ? null : (
          <div>
            <Text size="sm">{t("removeMounts")}</Text>
            <List size="sm">
              {mountKeys.map((key) => (
                <List.Item key={key}>{key}</List.Item>
              ))}
            </List>
          </div>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shell("cancel")}
          </Button>
          <Button color="red" onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The mounts of the removed channel or model. */
const mountsOf = ({ mounts }: CatalogText, removedEntry: Entry): ReadonlyArray<string> =>
  removedEntry.list === "mounts"
    ? []
    : mounts
        .filter((mount) =>
          removedEntry.list === "channels"
            ? mount.channel === removedEntry.entry.id
            : mount.model === removedEntry.entry.id
        )
        .map((entry) => keyOf({ list: "mounts", entry }))

interface Props {
  readonly dialog: DraftDialog | null
  readonly draft: Draft | null
  readonly document: CatalogText
  readonly openDialog: (dialog: DraftDialog | null) => void
  readonly onKeep: (document: CatalogText) => void
  readonly onApply: (version: number) => void
  readonly onDrop: () => void
  readonly onMerge: (base: CatalogVersion, document: CatalogText) => void
}

export const DraftDialogs = (props: Props) => {
  const { dialog, draft, document, openDialog, onKeep, onApply, onDrop, onMerge } = props
  const { t } = useTranslation("catalog")
  const onClose = (): void => openDialog(null)
  switch (dialog?.kind) {
    case "edit":
      return (
        <EntryDialog
          {...{ document, onKeep, onClose }}
          initialEntry={dialog.entry}
          replacedKey={dialog.replacedKey}
        />
      )
    case "remove": {
      const { entry } = dialog
      return (
        <ConfirmRemoval
          title={t("removeTitle", { key: keyOf(entry) })}
          lead={t("removeLead")}
          action={t("removeDo")}
          mountKeys={mountsOf(document, entry)}
          onConfirm={() => onKeep(withoutEntry(document, entry))}
          onClose={onClose}
        />
      )
    }
    case "drop":
      return (
        <ConfirmRemoval
          title={t("draft.dropTitle")}
          lead={t("draft.dropLead")}
          action={t("draft.dropDo")}
          onConfirm={onDrop}
          onClose={onClose}
        />
      )
    case "review":
      return draft === null ? null : (
        <ReviewDialog
          {...{ draft, onApply, onClose }}
          onConflict={(newerVersions) => openDialog({ kind: "merge", newerVersions })}
        />
      )
    case "merge":
      return draft === null ? null : (
        <MergeDialog
          {...{ draft, onMerge, onDrop, onClose }}
          newerVersions={dialog.newerVersions}
        />
      )
    default:
      return null
  }
}
