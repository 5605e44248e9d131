/** A table of amounts by quality and then by size, with a line for each. */
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { tableAmounts } from "../../../../domain/image/imagePrices.ts"
import { ANY, LineTable, textColumn } from "./LineTable.tsx"

interface TierLine {
  /** An empty text is any quality. */
  readonly quality: string
  readonly size: string
  readonly amount: string
}

type Amounts<A> = Readonly<Record<string, Readonly<Record<string, A>>>>

const linesOf = (table: Amounts<string | number>): ReadonlyArray<TierLine> =>
  tableAmounts(table).map(({ quality, size, amount }) => ({
    quality: quality === ANY ? "" : quality,
    size: size === ANY ? "" : size,
    amount: `${amount}`
  }))

/**
 * The names under which the lines stand in the table. A size that repeats an earlier one gets
 * spaces at its end: the gateway takes it for the same size and refuses it, while a second key of
 * the same name would replace the first without a word.
 */
const namesOf = (lines: ReadonlyArray<TierLine>, index: number) => {
  const { quality = "", size = "" } = lines[index] ?? {}
  const repeats = lines
    .slice(0, index)
    .filter((line) => line.quality === quality && line.size === size)
  return { quality: quality || ANY, size: (size || ANY) + " ".repeat(repeats.length) }
}

const tableOf = (lines: ReadonlyArray<TierLine>): Amounts<string> => {
  const entries = lines.map(({ amount }, index) => ({ ...namesOf(lines, index), amount }))
  return Object.fromEntries(
    [...Map.groupBy(entries, ({ quality }) => quality)].map(([quality, sizes]) => [
      quality,
      Object.fromEntries(sizes.map(({ size, amount }) => [size, amount]))
    ])
  )
}

interface Props {
  readonly label: string
  readonly table: Amounts<string | number>
  readonly inputMode: "decimal" | "numeric"
  readonly sample: {
    readonly label: string
    readonly priceOf: (amount: string) => string | null
  }
  /** The field of the table, by which faults are found. */
  readonly path: string
  readonly faultAt: (path: string) => string | undefined
  readonly onChange: (table: Amounts<string>) => void
}

export const TierTable = ({ label, table, inputMode, sample, path, faultAt, onChange }: Props) => {
  const { t } = useTranslation("catalog")
  // Names that are being typed can be equal for a moment, which a table cannot represent.
  const [lines, setLines] = useState(() => linesOf(table))
  const nameColumn = (name: "quality" | "size") =>
    textColumn<TierLine>({
      name,
      label: t(`prices.images.${name}`),
      placeholder: t("prices.lines.any"),
      textOf: (line) => line[name],
      withText: (line, text) => ({ ...line, [name]: text.trim() })
    })
  const columns = [
    nameColumn("quality"),
    nameColumn("size"),
    textColumn<TierLine>({
      name: "amount",
      label,
      inputMode,
      textOf: ({ amount }) => amount,
      withText: (line, text) => ({ ...line, amount: text.trim() })
    })
  ]
  return (
    <LineTable
      label={label}
      columns={columns}
      lines={lines}
      sample={{ label: sample.label, priceOf: ({ amount }) => sample.priceOf(amount) }}
      nextLine={(last) => ({ ...last, size: "", amount: "" })}
      faultAt={(index, field) => {
        const { quality, size } = namesOf(lines, index)
        if (field === "quality") return faultAt(`${path}.${quality}`)
        return field === "amount" ? faultAt(`${path}.${quality}.${size}`) : undefined
      }}
      fault={faultAt(path)}
      onChange={(next) => {
        setLines(next)
        onChange(tableOf(next))
      }}
    />
  )
}
