/** The fields of a price table of videos by lines, and its rules for reference videos. */
import { Checkbox, Select, Stack, TextInput } from "@mantine/core"
import { Result } from "effect"
import { useTranslation } from "react-i18next"
import { formatNano, parseNano, TOKENS_PER_QUOTE } from "../../../../domain/money/Money.ts"
import { Resolution, tokensPerSecond } from "../../../../domain/video/tiers.ts"
import { InputMode } from "../../../../domain/video/videoFacts.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { CountField } from "./CountField.tsx"
import { ANY, choiceColumn, faultsOfLines, LineTable, textColumn } from "./LineTable.tsx"

type TableText = Extract<PricesText, { readonly kind: "video_table" }>
type LineText = TableText["lines"][number]

const units = ["second", "clip", "token"] as const

/** The length of the sample order. */
const SAMPLE_SECONDS = 5n

/** What a silent or sounding text-to-video order of five seconds costs by the line. */
const sampleOf = (
  unit: TableText["unit"],
  { resolution = ANY, price }: LineText
): string | null => {
  const parsed = parseNano(price)
  if (Result.isFailure(parsed)) return null
  const perSecond = tokensPerSecond[resolution === ANY ? "720p" : resolution]
  const amounts = {
    second: parsed.success * SAMPLE_SECONDS,
    clip: parsed.success,
    token: (parsed.success * perSecond * SAMPLE_SECONDS) / TOKENS_PER_QUOTE
  }
  return formatNano(amounts[unit])
}

type SurchargeText = NonNullable<TableText["reference_surcharge"]>

const withSurcharge = (
  { reference_surcharge: _, ...table }: TableText,
  surcharge: SurchargeText | undefined
): TableText => (surcharge === undefined ? table : { ...table, reference_surcharge: surcharge })

/** The table with another unit, without the fields that only the former unit has. */
const withUnit = (
  { kind, lines, reference_surcharge: surcharge }: TableText,
  unit: TableText["unit"]
): TableText =>
  withSurcharge(unit === "second" ? { kind, unit, lines } : { kind, unit, lines }, surcharge)

const useColumns = (unit: TableText["unit"]) => {
  const { t } = useTranslation("catalog")
  const any = { value: ANY, label: t("prices.lines.any") }
  const flagColumn = (name: "sound" | "input_video", label: string, yes: string, no: string) =>
    choiceColumn<LineText>({
      name,
      label,
      choices: [any, { value: "true", label: yes }, { value: "false", label: no }],
      textOf: (line) => `${line[name] ?? ANY}`,
      withText: (line, value) => ({ ...line, [name]: value === ANY ? ANY : value === "true" })
    })
  return [
    choiceColumn<LineText>({
      name: "resolution",
      label: t("prices.tier"),
      choices: [any, ...Resolution.literals.map((value) => ({ value, label: value }))],
      textOf: ({ resolution }) => resolution ?? ANY,
      withText: (line, value) => ({
        ...line,
        resolution: Resolution.literals.find((one) => one === value) ?? ANY
      })
    }),
    flagColumn(
      "sound",
      t("prices.lines.sound"),
      t("prices.lines.withSound"),
      t("prices.lines.silent")
    ),
    flagColumn(
      "input_video",
      t("prices.lines.inputVideo"),
      t("prices.with_video"),
      t("prices.without_video")
    ),
    choiceColumn<LineText>({
      name: "mode",
      label: t("prices.lines.mode"),
      choices: [
        any,
        ...InputMode.literals.map((value) => ({ value, label: t(`prices.lines.modes.${value}`) }))
      ],
      textOf: ({ mode }) => mode ?? ANY,
      withText: (line, value) => ({
        ...line,
        mode: InputMode.literals.find((one) => one === value) ?? ANY
      })
    }),
    textColumn<LineText>({
      name: "price",
      label: t(`prices.unit.${unit}`),
      inputMode: "decimal",
      textOf: ({ price }) => price,
      withText: (line, text) => ({ ...line, price: text.trim() })
    })
  ]
}

/** A surcharge has a price: without one the table has no surcharge. */
const SurchargeFields = ({
  value,
  faultAt,
  onChange
}: {
  readonly value: SurchargeText | undefined
  readonly faultAt: (path: string) => string | undefined
  readonly onChange: (value: SurchargeText | undefined) => void
}) => {
  const { t } = useTranslation("catalog")
  return (
    <>
      <TextInput
        label={t("prices.lines.surcharge")}
        inputMode="decimal"
        value={value?.price ?? ""}
        error={faultAt("reference_surcharge.price")}
        onChange={(event) => {
          const price = event.currentTarget.value.trim()
          onChange(price === "" ? undefined : { beyond: value?.beyond ?? 0, price })
        }}
      />
      {value === undefined ? null : (
        <TextInput
          label={t("prices.lines.surchargeBeyond")}
          inputMode="numeric"
          value={`${value.beyond}`}
          error={faultAt("reference_surcharge.beyond")}
          onChange={(event) => {
            const beyond = Number(event.currentTarget.value.trim())
            if (Number.isSafeInteger(beyond) && beyond >= 0) onChange({ ...value, beyond })
          }}
        />
      )}
    </>
  )
}

interface Props {
  readonly value: TableText
  readonly onChange: (value: TableText) => void
  readonly faultAt: (path: string) => string | undefined
}

export const VideoPriceLines = ({ value, onChange, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const { unit } = value
  const columns = useColumns(unit)
  return (
    <Stack gap="xs">
      <Select
        label={t("prices.lines.unit")}
        data={units.map((one) => ({ value: one, label: t(`prices.unit.${one}`) }))}
        value={unit}
        error={faultAt("unit")}
        allowDeselect={false}
        onChange={(picked) => {
          const next = units.find((one) => one === picked)
          if (next !== undefined) onChange(withUnit(value, next))
        }}
      />
      <LineTable
        label={t("prices.video_table")}
        columns={columns}
        lines={value.lines}
        sample={{ label: t("prices.lines.sample"), priceOf: (line) => sampleOf(unit, line) }}
        nextLine={(last) => ({ ...last, price: "" })}
        faultAt={faultsOfLines(faultAt, "lines")}
        fault={faultAt("lines")}
        onChange={(lines) => onChange({ ...value, lines })}
      />
      {value.unit === "second" ? (
        <>
          <Checkbox
            label={t("prices.lines.inputSeconds")}
            checked={value.input_seconds === true}
            onChange={(event) => onChange({ ...value, input_seconds: event.currentTarget.checked })}
          />
          <CountField
            label={t("prices.lines.leastSeconds")}
            value={value.least_input_seconds}
            error={faultAt("least_input_seconds")}
            onChange={(least) => {
              const { least_input_seconds: _, ...rest } = value
              onChange(least === null ? rest : { ...rest, least_input_seconds: least })
            }}
          />
        </>
      ) : null}
      {value.unit === "token" ? (
        <CountField
          label={t("prices.lines.leastTokens")}
          value={value.least_input_tokens}
          error={faultAt("least_input_tokens")}
          onChange={(least) => {
            const { least_input_tokens: _, ...rest } = value
            onChange(least === null ? rest : { ...rest, least_input_tokens: least })
          }}
        />
      ) : null}
      <SurchargeFields
        value={value.reference_surcharge}
        faultAt={faultAt}
        onChange={(surcharge) => onChange(withSurcharge(value, surcharge))}
      />
    </Stack>
  )
}
