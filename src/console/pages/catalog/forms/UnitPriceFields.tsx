/** The prices of characters, of seconds of sound, and of searches: one amount, and how it counts. */
import { Select, Stack, TextInput } from "@mantine/core"
import { Struct } from "effect"
import { useTranslation } from "react-i18next"
import {
  USUAL_DOCUMENTS_PER_SEARCH,
  USUAL_MINIMUM_SECONDS,
  USUAL_STEP_SECONDS
} from "../../../../domain/catalog/Prices.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { CountField } from "./CountField.tsx"

type TextOf<K extends PricesText["kind"]> = Extract<PricesText, { readonly kind: K }>

interface Props<K extends PricesText["kind"]> {
  readonly value: TextOf<K>
  readonly onChange: (value: TextOf<K>) => void
  readonly faultAt: (path: string) => string | undefined
}

interface AmountProps {
  readonly label: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (amount: string) => void
}

const AmountField = ({ onChange, ...props }: AmountProps) => (
  <TextInput
    {...props}
    inputMode="decimal"
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)

const USUAL_COUNTS = "code_points"
const allCounts = [USUAL_COUNTS, "han_double"] as const satisfies ReadonlyArray<
  NonNullable<TextOf<"characters">["counts"]>
>

export const CharacterPriceFields = ({ value, onChange, faultAt }: Props<"characters">) => {
  const { t } = useTranslation("catalog")
  return (
    <Stack gap="xs">
      <AmountField
        label={t("prices.unit.characters")}
        value={value.per_million_characters}
        error={faultAt("per_million_characters")}
        onChange={(amount) => onChange({ ...value, per_million_characters: amount })}
      />
      <Select
        label={t("prices.counts")}
        data={allCounts.map((counts) => ({ value: counts, label: t(`prices.countsAs.${counts}`) }))}
        value={value.counts ?? USUAL_COUNTS}
        error={faultAt("counts")}
        allowDeselect={false}
        onChange={(picked) => {
          const counts = allCounts.find((one) => one === picked)
          const others = Struct.omit(value, ["counts"])
          onChange(counts === undefined || counts === USUAL_COUNTS ? others : { ...others, counts })
        }}
      />
    </Stack>
  )
}

export const AudioPriceFields = ({ value, onChange, faultAt }: Props<"audio_seconds">) => {
  const { t } = useTranslation("catalog")
  const counts = [
    { name: "step_seconds", usual: USUAL_STEP_SECONDS },
    { name: "minimum_seconds", usual: USUAL_MINIMUM_SECONDS }
  ] as const
  return (
    <Stack gap="xs">
      <AmountField
        label={t("prices.unit.audio_seconds")}
        value={value.per_second}
        error={faultAt("per_second")}
        onChange={(amount) => onChange({ ...value, per_second: amount })}
      />
      {counts.map(({ name, usual }) => (
        <CountField
          key={name}
          label={t(`prices.${name}`)}
          placeholder={`${usual}`}
          value={value[name]}
          error={faultAt(name)}
          onChange={(count) => {
            const others = Struct.omit(value, [name])
            onChange(count === null ? others : { ...others, [name]: count })
          }}
        />
      ))}
    </Stack>
  )
}

export const SearchPriceFields = ({ value, onChange, faultAt }: Props<"searches">) => {
  const { t } = useTranslation("catalog")
  return (
    <Stack gap="xs">
      <AmountField
        label={t("prices.unit.searches")}
        value={value.per_thousand_searches}
        error={faultAt("per_thousand_searches")}
        onChange={(amount) => onChange({ ...value, per_thousand_searches: amount })}
      />
      <CountField
        label={t("prices.documents_per_search")}
        placeholder={`${USUAL_DOCUMENTS_PER_SEARCH}`}
        value={value.documents_per_search}
        error={faultAt("documents_per_search")}
        onChange={(documents) => {
          const others = Struct.omit(value, ["documents_per_search"])
          onChange(documents === null ? others : { ...others, documents_per_search: documents })
        }}
      />
    </Stack>
  )
}
