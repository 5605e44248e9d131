/** A card of the overview: a table of a few rows, and a link to the page that has all of them. */
import { Anchor, Card, Group, Table, Text, Title } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { Column } from "../../parts/DataTable.tsx"
import { QueryView } from "../../parts/QueryView.tsx"

interface Props<Row, A> {
  readonly title: string
  /** The address of the page with all rows, where there is one. */
  readonly href?: string
  readonly query: UseQueryResult<A>
  readonly rowsOf: (answer: A) => ReadonlyArray<Row>
  readonly idOf: (row: Row) => string
  readonly columns: ReadonlyArray<Column<Row>>
  /** The text where there are no rows. */
  readonly empty: ReactNode
}

export const OverviewCard = <Row, A>({
  title,
  href,
  query,
  rowsOf,
  idOf,
  columns,
  empty
}: Props<Row, A>) => {
  const { t } = useTranslation("overview")
  const align = ({ isNumber = false }: Column<Row>) => (isNumber ? "right" : "left")
  return (
    <Card withBorder component="section" aria-label={title} p="sm">
      <Group justify="space-between" align="baseline" mb="xs" wrap="nowrap">
        <Title order={2} size="h4">
          {title}
        </Title>
        {href === undefined ? null : (
          <Anchor
            component={Link}
            href={href}
            size="sm"
            aria-label={`${t("showAll")}: ${title}`}
            style={{ flexShrink: 0 }}
          >
            {t("showAll")}
          </Anchor>
        )}
      </Group>
      <QueryView query={query} lines={3}>
        {(answer) => {
          const rows = rowsOf(answer)
          return rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {empty}
            </Text>
          ) : (
            <Table aria-label={title} verticalSpacing={4}>
              <Table.Thead>
                <Table.Tr>
                  {columns.map((column) => (
                    <Table.Th key={column.name} scope="col" ta={align(column)}>
                      {column.label}
                    </Table.Th>
                  ))}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((row) => (
                  <Table.Tr key={idOf(row)}>
                    {columns.map((column) => (
                      <Table.Td key={column.name} ta={align(column)}>
                        {column.cell(row)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          )
        }}
      </QueryView>
    </Card>
  )
}
