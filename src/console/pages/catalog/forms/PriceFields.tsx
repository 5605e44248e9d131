/** A price table of a model or of a vendor: its kind, and an amount for each resolution or tier. */
import { Select, Stack, Table, Text, TextInput } from "@mantine/core"
import { Array as Arr } from "effect"
import { useTranslation } from "react-i18next"
import { priceKindsOf } from "../../../../domain/catalog/CatalogRules.ts"
import type { Modality } from "../../../../domain/catalog/Modality.ts"
import {
  imageLineInWords,
  isImageLines,
  tableAmounts
} from "../../../../domain/image/imagePrices.ts"
import { PriceTier, Resolution } from "../../../../domain/video/tiers.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { PriceLines } from "./PriceLines.tsx"

interface Props {
  readonly label: string
  readonly hint?: string
  readonly modality: Modality
  readonly value: PricesText | undefined
  readonly onChange: (value: PricesText | undefined) => void
  /** The fault of a field of the table, by its path in the table. */
  readonly faultAt: (path: string) => string | undefined
  /** The label of the choice without a price table. */
  readonly none: string
}

/** The most output tokens of an image at the usual vendor. */
const USUAL_IMAGE_TOKENS = 6240

const emptyOf = (kind: PricesText["kind"]): PricesText => {
  switch (kind) {
    case "token_video":
      return { kind, per_million_tokens: {} }
    case "second_video":
      return { kind, per_second: {} }
    case "video_table":
      return { kind, unit: "second", lines: [{ price: "" }] }
    case "image_tokens":
      return {
        kind,
        per_million_text_input: "",
        per_million_image_input: "",
        per_million_image_output: "",
        most_output_tokens: USUAL_IMAGE_TOKENS
      }
    default:
      return { kind }
  }
}

const tokenPriceNames = [
  "per_million_input",
  "per_million_output",
  "per_million_cached_input",
  "per_million_audio_input",
  "per_million_audio_output"
] as const

const imageTokenPriceNames = [
  "per_million_text_input",
  "per_million_image_input",
  "per_million_image_output"
] as const

type Amounts = Readonly<Record<string, unknown>>

/** The amounts with this one set, or without its name where the text is empty. */
const put = <A extends Amounts>(amounts: A, name: string & keyof A, text: string): A => {
  const next = { ...amounts, [name]: text }
  if (text === "") delete next[name]
  return next
}

const Cell = ({
  label,
  value,
  error,
  onChange
}: {
  readonly label: string
  readonly value: string | undefined
  readonly error: string | undefined
  readonly onChange: (text: string) => void
}) => (
  <TextInput
    aria-label={label}
    value={value ?? ""}
    error={error}
    inputMode="decimal"
    size="sm"
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)

type ImageLinesText = Extract<
  Extract<PricesText, { readonly kind: "image" }>["per_image"],
  ReadonlyArray<unknown>
>

/** The prices of lines; their facts are edited in the JSON of the catalog. */
const ImageLines = ({
  lines,
  faultAt,
  onChange
}: Pick<Props, "faultAt"> & {
  readonly lines: ImageLinesText
  readonly onChange: (lines: ImageLinesText) => void
}) => {
  const { t } = useTranslation("catalog")
  return (
    <Table withRowBorders={false} aria-label={t("prices.perImage")}>
      <Table.Tbody>
        {lines.map((line, index) => {
          const name = imageLineInWords(line)
          return (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td>
                <Cell
                  label={t("prices.at", { tier: t("prices.perImage"), column: name })}
                  value={line.price}
                  error={faultAt(`per_image[${index}].price`) ?? faultAt(`per_image[${index}]`)}
                  onChange={(price) =>
                    onChange(
                      Arr.map(lines, (one, place) => (place === index ? { ...one, price } : one))
                    )
                  }
                />
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </Table>
  )
}

const kindNames = (kinds: ReadonlyArray<PricesText["kind"]>, present: PricesText | undefined) =>
  present === undefined || kinds.includes(present.kind) ? kinds : [...kinds, present.kind]

const Amounts = ({
  value,
  onChange,
  faultAt
}: Pick<Props, "onChange" | "faultAt"> & { readonly value: PricesText }) => {
  const { t } = useTranslation("catalog")
  switch (value.kind) {
    case "token_video": {
      const tiers = value.per_million_tokens
      const columns = ["without_video", "with_video"] as const
      return (
        <Table withRowBorders={false} aria-label={t("prices.unit.token_video")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t("prices.tier")}</Table.Th>
              {columns.map((column) => (
                <Table.Th key={column} scope="col">
                  {t(`prices.${column}`)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {PriceTier.literals.map((tier) => {
              const name = tier === "base" ? t("prices.base") : tier
              return (
                <Table.Tr key={tier}>
                  <Table.Th scope="row">{name}</Table.Th>
                  {columns.map((column) => (
                    <Table.Td key={column}>
                      <Cell
                        label={t("prices.at", { tier: name, column: t(`prices.${column}`) })}
                        value={tiers[tier]?.[column]}
                        error={faultAt(`per_million_tokens.${tier}.${column}`)}
                        onChange={(text) => {
                          const row = put<{ without_video?: string; with_video?: string }>(
                            tiers[tier] ?? {},
                            column,
                            text
                          )
                          const next = { ...tiers, [tier]: row }
                          if (Object.keys(row).length === 0) delete next[tier]
                          onChange({ ...value, per_million_tokens: next })
                        }}
                      />
                    </Table.Td>
                  ))}
                </Table.Tr>
              )
            })}
          </Table.Tbody>
        </Table>
      )
    }
    case "second_video":
      return (
        <Table withRowBorders={false} aria-label={t("prices.unit.second_video")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t("prices.tier")}</Table.Th>
              <Table.Th scope="col">{t("prices.unit.second_video")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {Resolution.literals.map((resolution) => (
              <Table.Tr key={resolution}>
                <Table.Th scope="row">{resolution}</Table.Th>
                <Table.Td>
                  <Cell
                    label={t("prices.perSecond", { tier: resolution })}
                    value={value.per_second[resolution]}
                    error={faultAt(`per_second.${resolution}`)}
                    onChange={(text) =>
                      onChange({ ...value, per_second: put(value.per_second, resolution, text) })
                    }
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )
    case "video_table":
      return <PriceLines {...{ value, onChange, faultAt }} />
    case "image": {
      const table = value.per_image
      if (isImageLines(table)) {
        return (
          <ImageLines
            lines={table}
            faultAt={faultAt}
            onChange={(per_image) => onChange({ ...value, per_image })}
          />
        )
      }
      if (typeof table === "object") {
        return (
          <Table withRowBorders={false} aria-label={t("prices.perImage")}>
            <Table.Tbody>
              {tableAmounts(table).map(({ quality, size, amount }) => (
                <Table.Tr key={`${quality} ${size}`}>
                  <Table.Th scope="row">{`${quality} · ${size}`}</Table.Th>
                  <Table.Td>
                    <Cell
                      label={t("prices.at", { tier: quality, column: size })}
                      value={amount}
                      error={faultAt(`per_image.${quality}.${size}`)}
                      onChange={(text) => {
                        const sizes = { ...table[quality], [size]: text }
                        onChange({ ...value, per_image: { ...table, [quality]: sizes } })
                      }}
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )
      }
      return (
        <TextInput
          label={t("prices.perImage")}
          inputMode="decimal"
          value={table ?? ""}
          error={faultAt("per_image")}
          onChange={(event) => onChange(put(value, "per_image", event.currentTarget.value.trim()))}
        />
      )
    }
    case "image_tokens":
      return (
        <Stack gap="xs">
          {imageTokenPriceNames.map((name) => (
            <TextInput
              key={name}
              label={t(`prices.${name}`)}
              inputMode="decimal"
              value={value[name] ?? ""}
              error={faultAt(name)}
              onChange={(event) => onChange({ ...value, [name]: event.currentTarget.value.trim() })}
            />
          ))}
          {typeof value.most_output_tokens === "number" ? (
            <TextInput
              label={t("prices.most_output_tokens")}
              inputMode="numeric"
              value={value.most_output_tokens}
              error={faultAt("most_output_tokens")}
              onChange={(event) =>
                onChange({ ...value, most_output_tokens: Number(event.currentTarget.value) })
              }
            />
          ) : null}
        </Stack>
      )
    case "tokens":
      return (
        <Stack gap="xs">
          {tokenPriceNames.map((name) => (
            <TextInput
              key={name}
              label={t(`prices.${name}`)}
              inputMode="decimal"
              value={value[name] ?? ""}
              error={faultAt(name)}
              onChange={(event) => onChange(put(value, name, event.currentTarget.value.trim()))}
            />
          ))}
        </Stack>
      )
  }
}

export const PriceFields = ({ label, hint, modality, value, onChange, faultAt, none }: Props) => {
  const { t } = useTranslation("catalog")
  const kinds = kindNames(priceKindsOf(modality), value)
  return (
    <Stack gap="xs" component="fieldset" style={{ border: 0, padding: 0, margin: 0 }}>
      <Text component="legend" fw={600} size="sm">
        {label}
      </Text>
      {hint === undefined ? null : (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
      <Select
        label={t("prices.kind")}
        data={[
          { value: "", label: none },
          ...kinds.map((kind) => ({ value: kind, label: t(`prices.${kind}`) }))
        ]}
        value={value?.kind ?? ""}
        error={faultAt("kind") ?? faultAt("")}
        allowDeselect={false}
        onChange={(picked) => {
          const kind = kinds.find((one) => one === picked)
          onChange(kind === undefined ? undefined : emptyOf(kind))
        }}
      />
      {value === undefined ? null : <Amounts {...{ value, onChange, faultAt }} />}
    </Stack>
  )
}
