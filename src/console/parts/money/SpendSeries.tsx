/** Spend by time and group, compared with the period before. Its filters are in the page's address. */
import { Group, Select, Stack, Text, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import { Effect } from "effect"
import { useTranslation } from "react-i18next"
import type { ApiCall } from "../../gateway/client.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { useAddressFilters } from "../addressFilters.ts"
import { QueryView } from "../QueryView.tsx"
import type { SpendGroup, SpendLine } from "./SpendLine.ts"
import { SpendRange } from "./SpendRange.tsx"
import { SpendReport } from "./SpendReport.tsx"
import { type SpendPeriod, spendPeriodsOf } from "./spendPeriods.ts"
import type { Step } from "./spendSlots.ts"

interface SpendQuery<Group extends SpendGroup> {
  readonly from: string
  readonly to: string
  readonly interval: Step
  readonly by?: Group
  readonly tag?: string
}

interface Props<Group extends SpendGroup> {
  /** The prefix of the cache keys. */
  readonly area: ReadonlyArray<string>
  readonly groups: ReadonlyArray<Group>
  readonly call: (
    query: SpendQuery<Group>
  ) => ApiCall<{ readonly data: ReadonlyArray<SpendLine> }, unknown>
  /** The text for a name; the name itself where no other text is known. */
  readonly nameOf?: (group: Group, name: string) => string
}

const ALL = "all"
const TYPING_MILLIS = 400
/** The filters that determine what is read. */
const readFilters = ["range", "from", "to", "interval", "by", "tag"] as const

export const SpendSeries = <Group extends SpendGroup>({
  area,
  groups,
  call,
  nameOf = (_, name) => name
}: Props<Group>) => {
  const { t } = useTranslation("money")
  const filters = useAddressFilters()
  const { get, set } = filters
  const group =
    get("by") === ALL ? undefined : (groups.find((name) => name === get("by")) ?? groups[0])
  const tag = get("tag")
  const isTagless = group === "tag" && tag === ""
  const readPeriod =
    (
      interval: Step,
      { query, contains }: SpendPeriod
    ): ApiCall<ReadonlyArray<SpendLine>, unknown> =>
    (gateway) =>
      Effect.map(
        call({
          ...query,
          interval,
          ...(group === undefined ? {} : { by: group }),
          ...(tag === "" ? {} : { tag })
        })(gateway),
        ({ data }) => data.filter(({ start }) => contains(Date.parse(start)))
      )
  const report = useApiQuery(
    [...area, "series", readFilters.map(get)],
    (gateway) => {
      const periods = spendPeriodsOf(get, Date.now())
      return Effect.map(
        Effect.all([
          readPeriod(periods.interval, periods.current)(gateway),
          readPeriod(periods.interval, periods.previous)(gateway)
        ]),
        ([rows, previousRows]) => ({ periods, rows, previousRows })
      )
    },
    { isEnabled: !isTagless }
  )
  const typeTag = useDebouncedCallback((text: string) => set({ tag: text.trim() }), TYPING_MILLIS)
  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        <SpendRange filters={filters} />
        <Select<string>
          label={t("spend.by")}
          value={group ?? ALL}
          allowDeselect={false}
          data={[
            ...groups.map((name: SpendGroup) => ({
              value: name,
              label: t(`spend.groups.${name}`)
            })),
            { value: ALL, label: t("spend.all") }
          ]}
          onChange={(value) => set({ by: value })}
          w={160}
        />
        <TextInput
          label={t("spend.tag")}
          placeholder={group === "tag" ? "project" : "project=lighthouse"}
          defaultValue={tag}
          onChange={(event) => typeTag(event.currentTarget.value)}
          onBlur={() => typeTag.flush()}
        />
      </Group>
      {isTagless ? (
        <Text c="dimmed">{t("spend.needsTag")}</Text>
      ) : (
        <QueryView query={report} lines={8}>
          {(shown) => (
            <SpendReport
              {...shown}
              group={group}
              labelOf={(name) => (group === undefined ? name : nameOf(group, name))}
            />
          )}
        </QueryView>
      )}
    </Stack>
  )
}
