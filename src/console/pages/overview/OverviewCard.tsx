/** A card of the overview: a table of a few rows, and links to pages with more of them. */
import { Anchor, Card, Group, Table, Text, Title } from "@mantine/core"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Link } from "wouter"
import type { Column } from "../../parts/DataTable.tsx"
import { QueryView } from "../../parts/QueryView.tsx"

interface Props<Row, A> {
  readonly title: string
  /** The links to pages with more rows, where there are any. */
  readonly links?: ReadonlyArray<{ readonly label: string; readonly href: string }>
  readonly query: UseQueryResult<A>
  readonly rowsOf: (answer: A) => ReadonlyArray<Row>
  readonly idOf: (row: Row) => string
  readonly columns: ReadonlyArray<Column<Row>>
  /** The text where there are no rows. */
  readonly empty: ReactNode
}

export const OverviewCard = <Row, A>({
  title,
  links = [],
  query,
  rowsOf,
  idOf,
  columns,
  empty
}: Props<Row, A>) => {
  const align = ({ isNumber = false }: Column<Row>) => (isNumber ? "right" : "left")
  return (
    <Card withBorder component="section" aria-label={title} p="sm">
      <Group justify="space-between" align="baseline" mb="xs" gap="0 12px">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Group gap="sm">
          {links.map(({ label, href }) => (
            <Anchor
              key={href}
              component={Link}
              href={href}
              size="sm"
              aria-label={`${label}: ${title}`}
            >
              {label}
            </Anchor>
          ))}
        </Group>
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
