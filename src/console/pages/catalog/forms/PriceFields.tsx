/** A price table of a model or of a vendor: its kind, and its amounts. */
import { Select, Stack, Table, Text, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { priceKindsOf } from "../../../../domain/catalog/CatalogRules.ts"
import type { Modality } from "../../../../domain/catalog/Modality.ts"
import { PriceTier, Resolution } from "../../../../domain/video/tiers.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { ImagePriceFields } from "./ImagePriceFields.tsx"
import { emptyImageTokens, ImageTokenFields } from "./ImageTokenFields.tsx"
import { AudioPriceFields, CharacterPriceFields, SearchPriceFields } from "./UnitPriceFields.tsx"
import { VideoPriceLines } from "./VideoPriceLines.tsx"

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

export const emptyPrices = (kind: PricesText["kind"]): PricesText => {
  switch (kind) {
    case "token_video":
      return { kind, per_million_tokens: {} }
    case "second_video":
      return { kind, per_second: {} }
    case "video_table":
      return { kind, unit: "second", lines: [{ price: "" }] }
    case "image_tokens":
      return emptyImageTokens
    case "characters":
      return { kind, per_million_characters: "" }
    case "audio_seconds":
      return { kind, per_second: "" }
    case "searches":
      return { kind, per_thousand_searches: "" }
    case "image":
    case "tokens":
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
      return <VideoPriceLines value={value} onChange={onChange} faultAt={faultAt} />
    case "image":
      return <ImagePriceFields value={value} onChange={onChange} faultAt={faultAt} />
    case "image_tokens":
      return <ImageTokenFields value={value} onChange={onChange} faultAt={faultAt} />
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
    case "characters":
      return <CharacterPriceFields value={value} onChange={onChange} faultAt={faultAt} />
    case "audio_seconds":
      return <AudioPriceFields value={value} onChange={onChange} faultAt={faultAt} />
    case "searches":
      return <SearchPriceFields value={value} onChange={onChange} faultAt={faultAt} />
  }
}

export const PriceFields = ({ label, hint, modality, value, onChange, faultAt, none }: Props) => {
  const { t } = useTranslation("catalog")
  const kinds = kindNames(priceKindsOf(modality), value)
  return (
    <Stack
      gap="xs"
      component="fieldset"
      // A fieldset is at least as wide as its content, which a wide table would stretch.
      style={{ border: 0, padding: 0, margin: 0, minWidth: 0 }}
    >
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
          onChange(kind === undefined ? undefined : emptyPrices(kind))
        }}
      />
      {value === undefined ? null : <Amounts {...{ value, onChange, faultAt }} />}
    </Stack>
  )
}
