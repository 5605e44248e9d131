/** A list by cursor as a table: its columns can be hidden, and further pages are asked for by a button. */
import { Button, Checkbox, Group, Menu, Stack, Table, Text } from "@mantine/core"
import { IconColumns3 } from "@tabler/icons-react"
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query"
import {
  type ColumnDef,
  columnVisibilityFeature,
  type RowData,
  tableFeatures,
  useTable
} from "@tanstack/react-table"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import type { ListPage } from "../gateway/hooks.tsx"
import { FailureNote } from "./FailureNote.tsx"

/** What a table has at least, and each of its columns: what is narrower breaks words. */
const NARROWEST = 480
const COLUMN = 110

const features = tableFeatures({ columnVisibilityFeature })

export interface Column<Row> {
  /** Unique in the table. */
  readonly name: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers stand at the right. */
  readonly isNumber?: boolean
  /** Hidden until the reader asks for it. */
  readonly isHidden?: boolean
}

interface RowsProps<Row> {
  /** What the table is of, for those who do not see it. */
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly empty?: ReactNode
  readonly isBusy?: boolean
  /** All columns stay, and nothing is offered to hide them. */
  readonly isFixed?: boolean
}

/** Rows that are all there. */
export const RowTable = <Row extends RowData>({
  label,
  columns,
  rows,
  empty,
  isBusy = false,
  isFixed = false
}: RowsProps<Row>) => {
  const { t } = useTranslation()
  const byName = new Map(columns.map((column) => [column.name, column]))
  const table = useTable({
    features,
    data: rows,
    columns: columns.map(
      (column): ColumnDef<typeof features, Row> => ({
        id: column.name,
        header: column.label
      })
    ),
    initialState: {
      columnVisibility: Object.fromEntries(
        columns.filter(({ isHidden }) => isHidden).map(({ name }) => [name, false])
      )
    }
  })
  const align = (id: string) => (byName.get(id)?.isNumber ? "right" : "left")
  return (
    <Stack gap="xs">
      {columns.length < 5 || isFixed ? null : (
        <Group justify="flex-end">
          <Menu closeOnItemClick={false}>
            <Menu.Target>
              <Button variant="subtle" size="compact-sm" leftSection={<IconColumns3 size={16} />}>
                {t("columns")}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {table.getAllLeafColumns().map((column) => (
                <Menu.Item key={column.id} component="div">
                  <Checkbox
                    label={byName.get(column.id)?.label}
                    checked={column.getIsVisible()}
                    onChange={(event) => column.toggleVisibility(event.currentTarget.checked)}
                  />
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        </Group>
      )}
      <Table.ScrollContainer
        minWidth={Math.max(NARROWEST, table.getVisibleLeafColumns().length * COLUMN)}
        // A keyboard scrolls what is wider than the page.
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": label } }}
      >
        <Table aria-label={label} aria-busy={isBusy} highlightOnHover verticalSpacing="xs">
          <Table.Thead>
            {table.getHeaderGroups().map((group) => (
              <Table.Tr key={group.id}>
                {group.headers.map((header) => (
                  <Table.Th key={header.id} ta={align(header.column.id)} scope="col">
                    {byName.get(header.column.id)?.label}
                  </Table.Th>
                ))}
              </Table.Tr>
            ))}
          </Table.Thead>
          <Table.Tbody>
            {table.getRowModel().rows.map((row) => (
              <Table.Tr key={row.id}>
                {row.getVisibleCells().map((cell) => (
                  <Table.Td key={cell.id} ta={align(cell.column.id)}>
                    {/* Called, not made a component of: a new one each time would lose focus and open menus. */}
                    {byName.get(cell.column.id)?.cell(row.original)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {rows.length === 0 && !isBusy ? (
        <Text c="dimmed" ta="center" py="md">
          {empty ?? t("empty")}
        </Text>
      ) : null}
    </Stack>
  )
}

interface Props<Row> extends Omit<RowsProps<Row>, "rows"> {
  readonly query: UseInfiniteQueryResult<InfiniteData<ListPage<Row>>>
}

/** Rows that come page by page. */
export const DataTable = <Row extends RowData>({ query, ...table }: Props<Row>) => {
  const { t } = useTranslation()
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Stack gap="xs">
      {query.isError ? (
        <FailureNote error={query.error} onAgain={() => void query.refetch()} />
      ) : null}
      {query.isError && rows.length === 0 ? null : (
        <RowTable {...table} rows={rows} isBusy={query.isPending} />
      )}
      {query.isPending ? (
        <Text c="dimmed" ta="center" py="md" role="status">
          {t("loading")}
        </Text>
      ) : null}
      {query.hasNextPage ? (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t("more")}
        </Button>
      ) : null}
    </Stack>
  )
}
