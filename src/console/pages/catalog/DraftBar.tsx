/**
 * A bar that reports changes that are not applied yet, and a catalog that is newer than the base of
 * the draft.
 */
import { Alert, Button, Group, Paper, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { EntryDifference } from "./draft/catalogDifference.ts"
import type { CatalogVersion, Draft } from "./draft/storedDraft.ts"
import type { DraftDialog } from "./draftDialog.ts"

interface Props {
  readonly draft: Draft | null
  readonly current: CatalogVersion
  readonly differences: ReadonlyArray<EntryDifference>
  readonly openDialog: (question: DraftDialog) => void
}

export const DraftBar = ({ draft, current, differences, openDialog }: Props) => {
  const { t } = useTranslation("catalog")
  const count = differences.length
  return (
    <Paper withBorder={draft !== null} p={draft === null ? 0 : "sm"}>
      <Stack gap="xs">
        <Group justify="space-between">
          {/* The element exists before it has text, so that screen readers announce later text. */}
          <Text fw={600} role="status">
            {draft === null ? "" : count === 1 ? t("draft.one") : t("draft.many", { count })}
          </Text>
          {draft === null ? null : (
            <Group gap="xs">
              <Button variant="default" onClick={() => openDialog({ kind: "drop" })}>
                {t("draft.drop")}
              </Button>
              <Button onClick={() => openDialog({ kind: "review" })}>{t("draft.review")}</Button>
            </Group>
          )}
        </Group>
        {draft === null ? null : (
          <Text size="xs" c="dimmed">
            {t("draft.hint")}
          </Text>
        )}
        {draft !== null && current.version > draft.base.version ? (
          <Alert color="orange" role="alert">
            <Group justify="space-between">
              <Text size="sm">{t("draft.newer", { version: current.version })}</Text>
              <Button
                size="xs"
                variant="default"
                onClick={() => openDialog({ kind: "merge", newerVersions: null })}
              >
                {t("draft.seeNewer")}
              </Button>
            </Group>
          </Alert>
        ) : null}
      </Stack>
    </Paper>
  )
}
