/** The dialogs of the catalog page. */
import { Button, Group, List, Modal, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { type CatalogText, type Entry, keyOf, withoutEntry } from "./draft/catalogEntries.ts"
import type { CatalogRead, Draft } from "./draft/keptDraft.ts"
import type { Question } from "./draftQuestion.ts"
import { EntryDialog } from "./EntryDialog.tsx"
import { MergeDialog } from "./MergeDialog.tsx"
import { ReviewDialog } from "./ReviewDialog.tsx"

interface SureProps {
  readonly title: string
  readonly lead: string
  readonly does: string
  readonly also?: ReadonlyArray<string>
  readonly onSure: () => void
  readonly onClose: () => void
}

const Sure = ({ title, lead, does, also = [], onSure, onClose }: SureProps) => {
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
        {also.length === 0 ? null : (
          <div>
            <Text size="sm">{t("removeMounts")}</Text>
            <List size="sm">
              {also.map((key) => (
                <List.Item key={key}>{key}</List.Item>
              ))}
            </List>
          </div>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {shell("cancel")}
          </Button>
          <Button color="red" onClick={onSure}>
            {does}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The mounts of the removed channel or model. */
const mountsOf = ({ mounts }: CatalogText, gone: Entry): ReadonlyArray<string> =>
  gone.list === "mounts"
    ? []
    : mounts
        .filter((mount) =>
          gone.list === "channels" ? mount.channel === gone.entry.id : mount.model === gone.entry.id
        )
        .map((entry) => keyOf({ list: "mounts", entry }))

interface Props {
  readonly question: Question | null
  readonly draft: Draft | null
  readonly document: CatalogText
  readonly ask: (question: Question | null) => void
  readonly onKeep: (document: CatalogText) => void
  readonly onApplied: (version: number) => void
  readonly onDrop: () => void
  readonly onMerged: (base: CatalogRead, mine: CatalogText) => void
}

export const DraftQuestions = (props: Props) => {
  const { question, draft, document, ask, onKeep, onApplied, onDrop, onMerged } = props
  const { t } = useTranslation("catalog")
  const onClose = (): void => ask(null)
  switch (question?.kind) {
    case "edit":
      return (
        <EntryDialog
          {...{ document, onKeep, onClose }}
          opened={question.entry}
          replaced={question.replaced}
        />
      )
    case "remove": {
      const { entry } = question
      return (
        <Sure
          title={t("removeTitle", { key: keyOf(entry) })}
          lead={t("removeLead")}
          does={t("removeDo")}
          also={mountsOf(document, entry)}
          onSure={() => onKeep(withoutEntry(document, entry))}
          onClose={onClose}
        />
      )
    }
    case "drop":
      return (
        <Sure
          title={t("draft.dropTitle")}
          lead={t("draft.dropLead")}
          does={t("draft.dropDo")}
          onSure={onDrop}
          onClose={onClose}
        />
      )
    case "review":
      return draft === null ? null : (
        <ReviewDialog
          {...{ draft, onApplied, onClose }}
          onOvertaken={(meanwhile) => ask({ kind: "merge", meanwhile })}
        />
      )
    case "merge":
      return draft === null ? null : (
        <MergeDialog {...{ draft, onMerged, onDrop, onClose }} meanwhile={question.meanwhile} />
      )
    default:
      return null
  }
}
