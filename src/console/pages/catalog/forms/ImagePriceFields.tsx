/** The price of an image: one price, a table by quality and size, or lines by quality, size and edit. */
import { Button, Stack, TextInput } from "@mantine/core"
import { Array as Arr, Result } from "effect"
import { useTranslation } from "react-i18next"
import { isImageLines, tableAmounts } from "../../../../domain/image/imagePrices.ts"
import { formatNano, parseNano } from "../../../../domain/money/Money.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { ANY, choiceColumn, faultsOfLines, LineTable, textColumn } from "./LineTable.tsx"
import { TierTable } from "./TierTable.tsx"

type ImageText = Extract<PricesText, { readonly kind: "image" }>
type Prices = ImageText["per_image"]
type LineText = Extract<Prices, ReadonlyArray<unknown>>[number]

/** The number of images of the sample order. */
const SAMPLE_IMAGES = 4n

const sampleOf = (price: string): string | null => {
  const parsed = parseNano(price)
  return Result.isFailure(parsed) ? null : formatNano(parsed.success * SAMPLE_IMAGES)
}

/** The line with this quality or size, or without it where the text is empty. */
const withName = (line: LineText, name: "quality" | "size", text: string): LineText => {
  const { [name]: _, ...others } = line
  return text === "" ? others : { ...others, [name]: text }
}

const nameOf = (text: string | undefined): string => (text === ANY ? "" : (text ?? ""))

/** The same prices as lines. */
const asLines = (prices: Exclude<Prices, ReadonlyArray<unknown>>) => {
  if (typeof prices !== "object") return Arr.of<LineText>({ price: prices ?? "" })
  const lines = tableAmounts(prices).map(({ quality, size, amount }) =>
    withName(withName({ price: amount }, "quality", nameOf(quality)), "size", nameOf(size))
  )
  return Arr.isReadonlyArrayNonEmpty(lines) ? lines : Arr.of<LineText>({ price: "" })
}

const useColumns = () => {
  const { t } = useTranslation("catalog")
  const any = t("prices.lines.any")
  const nameColumn = (name: "quality" | "size") =>
    textColumn<LineText>({
      name,
      label: t(`prices.images.${name}`),
      placeholder: any,
      textOf: (line) => nameOf(line[name]),
      withText: (line, text) => withName(line, name, text)
    })
  return [
    nameColumn("quality"),
    nameColumn("size"),
    choiceColumn<LineText>({
      name: "edit",
      label: t("prices.images.edit"),
      choices: [
        { value: ANY, label: any },
        { value: "true", label: t("prices.images.withInput") },
        { value: "false", label: t("prices.images.withoutInput") }
      ],
      textOf: ({ edit }) => `${edit ?? ANY}`,
      withText: ({ edit: _, ...others }, value) =>
        value === ANY ? others : { ...others, edit: value === "true" }
    }),
    textColumn<LineText>({
      name: "price",
      label: t("prices.perImage"),
      inputMode: "decimal",
      textOf: ({ price }) => price,
      withText: (line, text) => ({ ...line, price: text.trim() })
    })
  ]
}

interface Props {
  readonly value: ImageText
  readonly onChange: (value: ImageText) => void
  readonly faultAt: (path: string) => string | undefined
}

export const ImagePriceFields = ({ value, onChange, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const columns = useColumns()
  const { per_image: prices, ...others } = value
  const put = (per_image: NonNullable<Prices>) => onChange({ ...others, per_image })
  const sample = t("prices.images.sample", { count: Number(SAMPLE_IMAGES) })
  if (isImageLines(prices)) {
    return (
      <Stack gap="xs">
        <LineTable
          label={t("prices.perImage")}
          columns={columns}
          lines={prices}
          sample={{ label: sample, priceOf: ({ price }) => sampleOf(price) }}
          nextLine={(last) => ({ ...last, price: "" })}
          faultAt={faultsOfLines(faultAt, "per_image")}
          fault={faultAt("per_image")}
          onChange={put}
        />
        <Button variant="default" size="xs" onClick={() => put(prices[0].price)}>
          {t("prices.images.onePrice")}
        </Button>
      </Stack>
    )
  }
  return (
    <Stack gap="xs">
      {typeof prices === "object" ? (
        <TierTable
          label={t("prices.perImage")}
          table={prices}
          inputMode="decimal"
          sample={{ label: sample, priceOf: sampleOf }}
          path="per_image"
          faultAt={faultAt}
          onChange={put}
        />
      ) : (
        <TextInput
          label={t("prices.perImage")}
          inputMode="decimal"
          value={prices ?? ""}
          error={faultAt("per_image")}
          onChange={(event) => {
            const price = event.currentTarget.value.trim()
            if (price === "") onChange(others)
            else put(price)
          }}
        />
      )}
      <Button variant="default" size="xs" onClick={() => put(asLines(prices))}>
        {t("prices.images.byLines")}
      </Button>
    </Stack>
  )
}
