/**
 * A dialog for the case that another operator has changed the catalog since the draft began: shows
 * who changed what, and merges the draft into the new catalog.
 */
import { Alert, Button, Fieldset, Group, List, Modal, Radio, Stack, Text } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useAsk } from "../../gateway/hooks.tsx"
import { Asked } from "../../parts/Asked.tsx"
import { Moment } from "../../parts/texts.tsx"
import { DifferenceTable } from "./DifferenceTable.tsx"
import { type Meanwhile, readCatalog } from "./draft/catalogCalls.ts"
import { differenceOf, differences } from "./draft/catalogDifference.ts"
import { type CatalogText, keyOf } from "./draft/catalogEntries.ts"
import { type Conflict, mergeOf, type Side } from "./draft/catalogMerge.ts"
import type { CatalogRead, Draft } from "./draft/keptDraft.ts"

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
  const one = conflict.theirs ?? conflict.mine ?? conflict.base
  if (one === undefined) return null
  const said = (side: Side): string => {
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
  const name = t(`editTitle.${one.list}`, { key: keyOf(one) })
  return (
    <Fieldset legend={name}>
      <Radio.Group
        aria-label={name}
        value={choice ?? null}
        onChange={(picked) => {
          const side = sides.find((known) => known === picked)
          if (side !== undefined) onChoose(side)
        }}
      >
        <Stack gap="xs">
          {sides.map((side) => (
            <Radio
              key={side}
              value={side}
              label={t(side === "mine" ? "merge.mine" : "merge.other")}
              description={<span className="said">{said(side)}</span>}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Fieldset>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly theirs: CatalogRead
  readonly onMerged: (base: CatalogRead, mine: CatalogText) => void
  readonly onDrop: () => void
}

const Merging = ({ draft, theirs, onMerged, onDrop }: PartProps) => {
  const { t } = useTranslation("catalog")
  const [choices, setChoices] = useState<ReadonlyMap<string, Side>>(new Map())
  const merge = mergeOf(draft.base.document, draft.mine, theirs.document)
  const changed = differences(draft.base.document, theirs.document)
  return (
    <Stack>
      <Text fw={600}>{t("merge.theirs")}</Text>
      {changed.length === 0 ? (
        <Text size="sm">{t("merge.unchanged")}</Text>
      ) : (
        <DifferenceTable differences={changed} />
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
          onClick={() => onMerged(theirs, merge.document(choices))}
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
  readonly meanwhile: Meanwhile | null
  readonly onClose: () => void
}

export const MergeDialog = ({ meanwhile, onClose, ...part }: Props) => {
  const { t } = useTranslation("catalog")
  const { t: shell } = useTranslation()
  const current = useAsk(
    ["catalog", "meanwhile", part.draft.base.version, meanwhile?.version ?? null],
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
      <Asked query={current}>
        {(theirs) => (
          <Stack>
            <Alert color="orange" role="alert">
              <Text size="sm">
                {t("merge.lead", { base: part.draft.base.version, version: theirs.version })}
              </Text>
              {meanwhile === null ? null : (
                <List size="sm" mt="xs">
                  {meanwhile.changed.map(({ version, by, at }) => (
                    <List.Item key={version}>
                      {by === null
                        ? t("merge.byNobody", { version })
                        : t("merge.by", { name: by, version })}{" "}
                      <Moment at={at} />
                    </List.Item>
                  ))}
                </List>
              )}
            </Alert>
            <Merging {...part} theirs={theirs} />
          </Stack>
        )}
      </Asked>
    </Modal>
  )
}
