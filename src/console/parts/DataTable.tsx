/**
 * A table of a list with cursor pagination. Columns can be hidden, and a button loads further
 * pages. On a small screen each row is a card, whose title is the row's first cell.
 */
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
import { useIsSmall } from "./useIsSmall.ts"

/** The minimum widths of a table and of a column, in pixels. Narrower columns would break words. */
const NARROWEST = 480
const COLUMN = 100

const features = tableFeatures({ columnVisibilityFeature })

export interface Column<Row> {
  /** A name that is unique in the table. */
  readonly name: string
  readonly label: string
  readonly cell: (row: Row) => ReactNode
  /** Whether the column contains numbers, which are aligned to the right. */
  readonly isNumber?: boolean
  /** Whether the column is hidden by default. */
  readonly isHidden?: boolean
  /** Whether the column contains the menus of the rows, which stand beside the titles of cards. */
  readonly isMenu?: boolean
}

interface RowsProps<Row> {
  /** The accessible name of the table. */
  readonly label: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly empty?: ReactNode
  readonly isBusy?: boolean
  /** Whether all columns are always shown, without a menu that hides them. */
  readonly isFixed?: boolean
}

/** A table without pagination. */
export const RowTable = <Row extends RowData>({
  label,
  columns,
  rows,
  empty,
  isBusy = false,
  isFixed = false
}: RowsProps<Row>) => {
  const { t } = useTranslation()
  const isCards = useIsSmall()
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
        minWidth={isCards ? 0 : Math.max(NARROWEST, table.getVisibleLeafColumns().length * COLUMN)}
        // Makes the scroll area focusable, so that a keyboard can scroll a wide table.
        scrollAreaProps={
          isCards ? {} : { viewportProps: { tabIndex: 0, role: "group", "aria-label": label } }
        }
      >
        {/* The roles stay those of a table where the styles of cards would take them away. */}
        <Table
          className={isCards ? "cards" : ""}
          role="table"
          aria-label={label}
          aria-busy={isBusy}
          highlightOnHover={!isCards}
          verticalSpacing="xs"
        >
          <Table.Thead role="rowgroup">
            {table.getHeaderGroups().map((group) => (
              <Table.Tr key={group.id} role="row">
                {group.headers.map((header) => (
                  <Table.Th
                    key={header.id}
                    role="columnheader"
                    ta={align(header.column.id)}
                    scope="col"
                  >
                    {byName.get(header.column.id)?.label}
                  </Table.Th>
                ))}
              </Table.Tr>
            ))}
          </Table.Thead>
          <Table.Tbody role="rowgroup">
            {table.getRowModel().rows.map((row) => (
              <Table.Tr key={row.id} role="row">
                {row.getVisibleCells().map((cell) => (
                  <Table.Td
                    key={cell.id}
                    role="cell"
                    ta={align(cell.column.id)}
                    mod={{ menu: byName.get(cell.column.id)?.isMenu }}
                    data-label={byName.get(cell.column.id)?.label}
                  >
                    {/* Cells are functions that are called, not components: a new component on each
                      rendering would lose the focus and close open menus. */}
                    <div>{byName.get(cell.column.id)?.cell(row.original)}</div>
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

/** A table with pagination. */
export const DataTable = <Row extends RowData>({ query, ...table }: Props<Row>) => {
  const { t } = useTranslation()
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Stack gap="xs">
      {query.isError ? (
        <FailureNote error={query.error} onRetry={() => void query.refetch()} />
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
