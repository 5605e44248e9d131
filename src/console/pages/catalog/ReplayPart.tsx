/**
 * The charges that the orders of a month would have had under a draft of the catalog, and under a
 * price list.
 */
import { Button, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiMutation, useSession } from "../../gateway/hooks.tsx"
import { type Column, RowTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { Amount } from "../../parts/texts.tsx"
import { usePriceLists } from "../priceLists/usePriceLists.ts"
import { type Preview, previewCatalog, type ReplayOptions } from "./draft/catalogCalls.ts"
import type { CatalogText } from "./draft/catalogEntries.ts"

type Replay = NonNullable<Preview["replay"]>
type Row = Replay["totals"] & { readonly name: string }

const MONTH_LENGTH = "2026-10".length

/** The name in the API of the choice that no order is on a price list. */
const NO_LIST = "none"

const ReplayResult = ({ replay }: { readonly replay: Replay }) => {
  const { t } = useTranslation("catalog")
  const { currency, data, totals } = replay
  const amount = (
    name: keyof Replay["totals"] & string,
    label: string,
    value: (row: Row) => string
  ): Column<Row> => ({
    name,
    label,
    isNumber: true,
    cell: (row) => <Amount value={value(row)} currency={currency} />
  })
  const columns: ReadonlyArray<Column<Row>> = [
    { name: "model", label: t("fields.model"), cell: ({ name }) => name },
    { name: "count", label: t("review.orders"), isNumber: true, cell: ({ count }) => count },
    amount("charge_before", t("review.chargeBefore"), (row) => row.charge_before),
    amount("charge_after", t("review.chargeAfter"), (row) => row.charge_after),
    amount("difference", t("review.difference"), (row) => row.difference),
    amount("margin_before", t("review.marginBefore"), (row) => row.margin_before),
    amount("margin_after", t("review.marginAfter"), (row) => row.margin_after),
    {
      name: "unpriced",
      label: t("review.unpriced"),
      isNumber: true,
      cell: ({ unpriced }) => unpriced
    }
  ]
  const rows = data.map(({ model, ...sums }) => ({ ...sums, name: model }))
  return (
    <RowTable
      label={`${t("review.replay")} · ${replay.month}`}
      columns={columns}
      rows={rows.length === 0 ? [] : [...rows, { ...totals, name: t("review.total") }]}
      empty={t("review.replayEmpty")}
    />
  )
}

export const ReplayPart = ({ document }: { readonly document: CatalogText }) => {
  const { t } = useTranslation("catalog")
  const { session } = useSession()
  const [month, setMonth] = useState(() => new Date().toISOString().slice(0, MONTH_LENGTH))
  /** The id of a list; empty for the list of each organisation. */
  const [list, setList] = useState("")
  const lists = usePriceLists()
  const replay = useApiMutation(
    (options: ReplayOptions) => () => previewCatalog(session, document, options)
  )
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t("review.replay")}
      </Title>
      <Text size="sm" c="dimmed">
        {t("review.replayHint")}
      </Text>
      <Group align="flex-end" gap="xs">
        <TextInput
          type="month"
          label={t("review.month")}
          value={month}
          onChange={(event) => setMonth(event.currentTarget.value)}
        />
        <Select
          label={t("review.priceList")}
          searchable
          data={[
            { value: "", label: t("review.ownLists") },
            { value: NO_LIST, label: t("review.noList") },
            ...(lists.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
          ]}
          value={list}
          allowDeselect={false}
          onChange={(picked) => {
            setList(picked ?? "")
            // A result under another list would be read as one under the chosen list.
            replay.reset()
          }}
        />
        <Button
          variant="default"
          loading={replay.isPending}
          disabled={month === ""}
          onClick={() => replay.mutate({ month, priceList: list === "" ? null : list })}
        >
          {t("review.replayDo")}
        </Button>
      </Group>
      {replay.isError ? <FailureNote error={replay.error} /> : null}
      {replay.data?.replay === undefined ? null : <ReplayResult replay={replay.data.replay} />}
    </Stack>
  )
}
