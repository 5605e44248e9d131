/** Spend over time, as a plot or as a table of the same figures. */
import { Group, SegmentedControl, Select, Stack, Text, TextInput } from "@mantine/core"
import { useDebouncedCallback } from "@mantine/hooks"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { ApiCall } from "../../gateway/client.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { optionOf, useAddressFilters } from "../addressFilters.ts"
import type { Column } from "../DataTable.tsx"
import { RowTable } from "../DataTable.tsx"
import { QueryView } from "../QueryView.tsx"
import { TimePlot } from "../TimePlot.tsx"
import { Amount, Timestamp } from "../texts.tsx"
import { sumOf } from "./decimals.ts"
import { Figures } from "./Figures.tsx"
import { type AskedRange, rangeOf, SpendRange, spanOf } from "./SpendRange.tsx"
import { dayBeginning, type Step, slotsOf } from "./spendSlots.ts"

const groups = ["model", "modality", "member", "key", "organization", "channel", "tag"] as const
export type SpendGroup = (typeof groups)[number]

export interface SpendLine extends Partial<Record<SpendGroup, string>> {
  readonly start: string
  readonly count: number
  readonly failed: number
  readonly charge: string
  readonly returned: string
  readonly units: number | null
  readonly unit: string | null
  readonly currency: string
  /** The vendor's cost, which only operators get. */
  readonly cost?: string
  /** Null where the cost of a charge is unknown. */
  readonly margin?: string | null
}

interface SpendQuery<Group extends SpendGroup> extends AskedRange {
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
  readonly children?: ReactNode
}

const measures = ["charge", "returned", "cost", "margin"] as const
type Measure = (typeof measures)[number]
/** The maximum number of lines in a plot. The table shows all of them. */
const MOST_LINES = 8
const TYPING_MILLIS = 400

const StartCell = ({ start, step }: { readonly start: string; readonly step: Step }) =>
  step === "hour" ? (
    <Timestamp at={start} />
  ) : (
    <time dateTime={start} title={start} className="amount">
      {dayBeginning(start).slice(0, step === "day" ? 10 : 7)}
    </time>
  )

/** One line for each name, the largest first. */
const linesOf = (
  rows: ReadonlyArray<SpendLine>,
  slots: ReadonlyArray<number>,
  { nameOf, measure }: { nameOf: (row: SpendLine) => string; measure: Measure }
) => {
  const sums = new Map<string, Map<number, number>>()
  for (const row of rows) {
    const name = nameOf(row)
    const line = sums.get(name) ?? new Map<number, number>()
    sums.set(name, line.set(Date.parse(row.start), Number(row[measure] ?? 0)))
  }
  const total = (line: ReadonlyMap<number, number>) => [...line.values()].reduce((a, b) => a + b, 0)
  return [...sums]
    .toSorted(([, candidate], [, other]) => total(other) - total(candidate))
    .slice(0, MOST_LINES)
    .map(([label, line]) => ({ label, values: slots.map((slot) => line.get(slot) ?? 0) }))
}

export const SpendSeries = <Group extends SpendGroup>({
  area,
  groups: offeredGroups,
  call,
  nameOf = (_, name) => name,
  children
}: Props<Group>) => {
  const { t } = useTranslation("money")
  const filters = useAddressFilters()
  const { get, set } = filters
  const group = offeredGroups.find((group) => group === get("by"))
  // The texts cover all groups, so the type is widened here.
  const groupName: SpendGroup | undefined = group
  const tag = get("tag")
  const range = rangeOf(filters)
  const isTagless = group === "tag" && tag === ""
  const query: SpendQuery<Group> = {
    ...range,
    ...(group === undefined ? {} : { by: group }),
    ...(tag === "" ? {} : { tag })
  }
  const series = useApiQuery([...area, "series", query], call(query), { isEnabled: !isTagless })
  const typeTag = useDebouncedCallback((text: string) => set({ tag: text.trim() }), TYPING_MILLIS)
  const groupNameOf = (row: SpendLine): string => {
    const name = group === undefined ? undefined : row[group]
    return name === undefined || group === undefined ? t("spend.all") : nameOf(group, name)
  }

  const columns = (rows: ReadonlyArray<SpendLine>): ReadonlyArray<Column<SpendLine>> => [
    {
      name: "start",
      label: t("spend.start"),
      cell: ({ start }) => <StartCell start={start} step={range.interval} />
    },
    ...(groupName === undefined
      ? []
      : [
          {
            name: "name",
            label: t(`spend.groups.${groupName}`),
            cell: (row: SpendLine) => groupNameOf(row)
          }
        ]),
    { name: "count", label: t("spend.count"), cell: ({ count }) => count, isNumber: true },
    { name: "failed", label: t("spend.failed"), cell: ({ failed }) => failed, isNumber: true },
    ...measures
      .filter((measure) => rows.some((row) => row[measure] !== undefined))
      .map((measure) => ({
        name: measure,
        label: t(`spend.measures.${measure}`),
        cell: (row: SpendLine) => {
          const { [measure]: value = "0" } = row
          return <Amount value={value} />
        },
        isNumber: true
      })),
    {
      name: "units",
      label: t("spend.units"),
      cell: ({ units, unit }) =>
        units === null || unit === null ? "–" : `${units} ${t("spend.unit", { context: unit })}`,
      isNumber: true,
      isHidden: true
    }
  ]

  const plot = (
    rows: ReadonlyArray<SpendLine>,
    available: ReadonlyArray<Measure>,
    measure: Measure
  ): ReactNode => {
    const slots = slotsOf(
      rows.map(({ start }) => Date.parse(start)),
      range.interval,
      spanOf(filters)
    )
    /** One line for each measure, where the series is not grouped. */
    const measureLines = () =>
      available
        .filter((candidate) => candidate !== "margin")
        .flatMap((candidate) =>
          linesOf(rows, slots, {
            nameOf: () => t(`spend.measures.${candidate}`),
            measure: candidate
          })
        )
    if (group === undefined) {
      const times = slots.map((slot) => slot / 1000)
      return <TimePlot label={t("spend.title")} times={times} lines={measureLines()} kind="bars" />
    }
    return (
      <>
        <Select
          label={t("spend.measure")}
          value={measure}
          allowDeselect={false}
          data={available.map((value) => ({ value, label: t(`spend.measures.${value}`) }))}
          onChange={(value) => set({ measure: value })}
          w={190}
        />
        <TimePlot
          label={t("spend.title")}
          times={slots.map((slot) => slot / 1000)}
          lines={linesOf(rows, slots, { nameOf: groupNameOf, measure })}
          kind="lines"
        />
        {new Set(rows.map(groupNameOf)).size > MOST_LINES ? (
          <Text size="sm" c="dimmed">
            {t("spend.most", { count: MOST_LINES })}
          </Text>
        ) : null}
      </>
    )
  }

  const renderRows = (rows: ReadonlyArray<SpendLine>) => {
    const available = measures.filter((measure) => rows.some((row) => row[measure] !== undefined))
    const measure = available.find((candidate) => candidate === get("measure")) ?? "charge"
    const currency = rows[0]?.currency
    if (rows.length === 0) {
      return (
        <Text c="dimmed" ta="center" py="lg">
          {t("spend.nothing")}
        </Text>
      )
    }
    return (
      <Stack gap="sm">
        <Figures
          figures={available.map((candidate) => ({
            label: t(`spend.measures.${candidate}`),
            value: (
              <Amount value={sumOf(rows.map((row) => row[candidate] ?? "0"))} currency={currency} />
            )
          }))}
        />
        {get("as") === "table" ? (
          <RowTable label={t("spend.title")} columns={columns(rows)} rows={rows} />
        ) : (
          plot(rows, available, measure)
        )}
      </Stack>
    )
  }

  return (
    <Stack gap="sm">
      <Group gap="sm" align="flex-end">
        {children}
        <SpendRange filters={filters} />
        <Select<string>
          label={t("spend.by")}
          value={group ?? "all"}
          allowDeselect={false}
          data={[
            { value: "all", label: t("spend.all") },
            ...offeredGroups.map((group: SpendGroup) => ({
              value: group,
              label: t(`spend.groups.${group}`)
            }))
          ]}
          onChange={(value) => set({ by: value === "all" ? null : value })}
          w={170}
        />
        <TextInput
          label={t("spend.tag")}
          placeholder={group === "tag" ? "project" : "project=lighthouse"}
          defaultValue={tag}
          onChange={(event) => typeTag(event.currentTarget.value)}
          onBlur={() => typeTag.flush()}
        />
        <SegmentedControl
          aria-label={t("spend.as")}
          value={optionOf(get("as"), ["plot", "table"])}
          data={[
            { value: "plot", label: t("spend.plot") },
            { value: "table", label: t("spend.table") }
          ]}
          onChange={(value) => set({ as: value === "plot" ? null : value })}
        />
      </Group>
      {isTagless ? (
        <Text c="dimmed">{t("spend.needsTag")}</Text>
      ) : (
        <QueryView query={series} lines={8}>
          {({ data }) => renderRows(data)}
        </QueryView>
      )}
    </Stack>
  )
}
