/**
 * A table of lines: the facts of the orders that a line is for, its amount, and what that comes to
 * for a sample order.
 */
import { ActionIcon, Button, Select, Table, Text, TextInput } from "@mantine/core"
import { IconTrash } from "@tabler/icons-react"
import { Array as Arr } from "effect"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"

/** The minimum width of a column, in pixels. Narrower fields would cut their values off. */
const COLUMN = 112

/** The value of a fact in a line that is for every value. */
export const ANY = "*"

interface CellProps<Line> {
  readonly line: Line
  /** The accessible name of the field, as the cell shows none. */
  readonly label: string
  readonly error: string | undefined
  readonly onChange: (line: Line) => void
}

export interface LineColumn<Line> {
  /** The field of a line by which its faults are found. */
  readonly name: string
  readonly label: string
  readonly cell: (props: CellProps<Line>) => ReactNode
}

interface Choice {
  readonly value: string
  readonly label: string
}

/** A column whose fields choose one of the values. */
export const choiceColumn = <Line,>({
  choices,
  textOf,
  withText,
  ...column
}: Omit<LineColumn<Line>, "cell"> & {
  readonly choices: ReadonlyArray<Choice>
  readonly textOf: (line: Line) => string
  readonly withText: (line: Line, value: string) => Line
}): LineColumn<Line> => ({
  ...column,
  cell: ({ line, label, error, onChange }) => (
    <Select
      aria-label={label}
      size="sm"
      data={choices}
      value={textOf(line)}
      error={error}
      allowDeselect={false}
      onChange={(picked) => {
        if (picked !== null) onChange(withText(line, picked))
      }}
    />
  )
})

/** A column whose fields are texts. */
export const textColumn = <Line,>({
  inputMode = "text",
  placeholder = "",
  textOf,
  withText,
  ...column
}: Omit<LineColumn<Line>, "cell"> & {
  readonly inputMode?: "decimal" | "numeric" | "text"
  readonly placeholder?: string
  readonly textOf: (line: Line) => string
  readonly withText: (line: Line, value: string) => Line
}): LineColumn<Line> => ({
  ...column,
  cell: ({ line, label, error, onChange }) => (
    <TextInput
      aria-label={label}
      size="sm"
      value={textOf(line)}
      error={error}
      onChange={(event) => onChange(withText(line, event.currentTarget.value))}
      inputMode={inputMode}
      placeholder={placeholder}
    />
  )
})

/** The faults of a list of lines by field. The fault of a whole line is shown at its price. */
export const faultsOfLines =
  (faultAt: (path: string) => string | undefined, list: string) =>
  (index: number, field: string): string | undefined =>
    faultAt(`${list}[${index}].${field}`) ??
    (field === "price" ? faultAt(`${list}[${index}]`) : undefined)

interface Props<Line> {
  readonly label: string
  readonly columns: ReadonlyArray<LineColumn<Line>>
  readonly lines: ReadonlyArray<Line>
  readonly sample: {
    readonly label: string
    /** What a sample order costs by the line; null while its amount is no valid one. */
    readonly priceOf: (line: Line) => string | null
  }
  /** The line that is added after the last one. */
  readonly nextLine: (last: Line) => Line
  readonly faultAt: (index: number, field: string) => string | undefined
  /** The fault of the lines in all. */
  readonly fault?: string | undefined
  readonly onChange: (lines: Arr.NonEmptyReadonlyArray<Line>) => void
}

export const LineTable = <Line,>({
  label,
  columns,
  lines,
  sample,
  nextLine,
  faultAt,
  fault,
  onChange
}: Props<Line>) => {
  const { t } = useTranslation("catalog")
  const change = (next: ReadonlyArray<Line>): void => {
    if (Arr.isReadonlyArrayNonEmpty(next)) onChange(next)
  }
  return (
    <>
      <Table.ScrollContainer
        minWidth={(columns.length + 1) * COLUMN}
        // Makes the scroll area focusable, so that a keyboard can scroll a wide table.
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": label } }}
      >
        <Table withRowBorders={false} aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.name} scope="col" miw={COLUMN}>
                  {column.label}
                </Table.Th>
              ))}
              <Table.Th scope="col">{sample.label}</Table.Th>
              <Table.Td />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: Lines have no id, and their order does not change.
              <Table.Tr key={index}>
                {columns.map((column) => (
                  <Table.Td key={column.name}>
                    {column.cell({
                      line,
                      label: t("prices.at", { tier: `${index + 1}`, column: column.label }),
                      error: faultAt(index, column.name),
                      onChange: (next) =>
                        change(lines.map((one, at) => (at === index ? next : one)))
                    })}
                  </Table.Td>
                ))}
                <Table.Td>
                  <Text size="sm" c="dimmed">
                    {sample.priceOf(line) ?? ""}
                  </Text>
                </Table.Td>
                <Table.Td>
                  {lines.length === 1 ? null : (
                    <ActionIcon
                      variant="subtle"
                      aria-label={t("prices.lines.remove", { n: index + 1 })}
                      onClick={() => change(lines.filter((_, at) => at !== index))}
                    >
                      <IconTrash size={16} />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {fault === undefined ? null : (
        <Text size="sm" c="red">
          {fault}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        onClick={() => change([...lines, ...lines.slice(-1).map(nextLine)])}
      >
        {t("prices.lines.add")}
      </Button>
    </>
  )
}
