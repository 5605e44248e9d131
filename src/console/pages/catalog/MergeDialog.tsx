/**
 * A dialog for the case that another operator has changed the catalog since the draft began: shows
 * who changed what, and merges the draft into the new catalog.
 */
import { Alert, Button, Fieldset, Group, List, Modal, Radio, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Timestamp } from "../../parts/texts.tsx"
import { DifferenceTable } from "./DifferenceTable.tsx"
import { type NewerVersions, readCatalog } from "./draft/catalogCalls.ts"
import { differenceOf, differences } from "./draft/catalogDifference.ts"
import { type CatalogText, keyOf } from "./draft/catalogEntries.ts"
import { type Conflict, mergeOf, type Side } from "./draft/catalogMerge.ts"
import type { CatalogVersion, Draft } from "./draft/storedDraft.ts"

const sides: ReadonlyArray<Side> = ["mine", "theirs"]

const ConflictChoice = ({
  conflict,
  choice,
  onChoose
}: {
  readonly conflict: Conflict
  readonly choice: Side | undefined
  readonly onChoose: (side: Side) => void
}) => {
  const { t } = useTranslation("catalog")
  const entry = conflict.theirs ?? conflict.mine ?? conflict.base
  if (entry === undefined) return null
  const describeSide = (side: Side): string => {
    const difference = differenceOf(conflict.base, conflict[side])
    if (difference === null || difference.kind === "removed") return t("merge.removed")
    return difference.fields
      .map(({ path, before, after, isSecret }) =>
        isSecret
          ? `${path}: ${t("review.newKey")}`
          : `${path}: ${before === undefined ? "" : `${before} → `}${after ?? "–"}`
      )
      .join("; ")
  }
  const name = t(`editTitle.${entry.list}`, { key: keyOf(entry) })
  return (
    <Fieldset legend={name}>
      <Radio.Group
        aria-label={name}
        value={choice ?? null}
        onChange={(text) => {
          const side = sides.find((candidate) => candidate === text)
          if (side !== undefined) onChoose(side)
        }}
      >
        <Stack gap="xs">
          {sides.map((side) => (
            <Radio
              key={side}
              value={side}
              label={t(side === "mine" ? "merge.mine" : "merge.other")}
              description={<span className="said">{describeSide(side)}</span>}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Fieldset>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly theirs: CatalogVersion
  readonly onMerge: (base: CatalogVersion, document: CatalogText) => void
  readonly onDrop: () => void
}

const MergeForm = ({ draft, theirs, onMerge, onDrop }: PartProps) => {
  const { t } = useTranslation("catalog")
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map())
  const merge = mergeOf(draft.base.document, draft.document, theirs.document)
  const catalogDifferences = differences(draft.base.document, theirs.document)
  return (
    <Stack>
      <Text fw={600}>{t("merge.theirs")}</Text>
      {catalogDifferences.length === 0 ? (
        <Text size="sm">{t("merge.unchanged")}</Text>
      ) : (
        <DifferenceTable differences={catalogDifferences} />
      )}
      <Text fw={600}>{t(merge.conflicts.length === 0 ? "merge.clean" : "merge.conflicts")}</Text>
      {merge.conflicts.map((conflict) => (
        <ConflictChoice
          key={conflict.name}
          conflict={conflict}
          choice={choices.get(conflict.name)}
          onChoose={(side) => setChoices(new Map([...choices, [conflict.name, side]]))}
        />
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDrop}>
          {t("merge.drop")}
        </Button>
        <Button
          disabled={merge.conflicts.some(({ name }) => !choices.has(name))}
          onClick={() => onMerge(theirs, merge.document(choices))}
        >
          {t("merge.onto", { version: theirs.version })}
        </Button>
      </Group>
    </Stack>
  )
}

interface Props extends Omit<PartProps, "theirs"> {
  /**
   * The versions since the draft began, with their authors; null where the gateway has not reported
   * them, because the draft was not sent to it yet.
   */
  readonly newerVersions: NewerVersions | null
  readonly onClose: () => void
}

export const MergeDialog = ({ newerVersions, onClose, ...part }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const current = useApiQuery(
    ["catalog", "meanwhile", part.draft.base.version, newerVersions?.version ?? null],
    readCatalog
  )
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t("merge.title")}
      closeButtonProps={{ "aria-label": shell("close") }}
    >
      <QueryView query={current}>
        {(theirs) => (
          <Stack>
            <Alert color="orange" role="alert">
              <Text size="sm">
                {t("merge.lead", { base: part.draft.base.version, version: theirs.version })}
              </Text>
              {newerVersions === null ? null : (
                <List size="sm" mt="xs">
                  {newerVersions.changed.map(({ version, by, at }) => (
                    <List.Item key={version}>
                      {by === null
                        ? t("merge.byNobody", { version })
                        : t("merge.by", { name: by, version })}{" "}
                      <Timestamp at={at} />
                    </List.Item>
                  ))}
                </List>
              )}
            </Alert>
            <MergeForm {...part} theirs={theirs} />
          </Stack>
        )}
      </QueryView>
    </Modal>
  )
}
