/**
 * The lines of a price table of videos: the facts of the orders that a line is for, its price, and
 * the price of a sample order.
 */
import { ActionIcon, Button, Checkbox, Select, Stack, Table, Text, TextInput } from "@mantine/core"
import { IconTrash } from "@tabler/icons-react"
import { Array as Arr, Result } from "effect"
import { useTranslation } from "react-i18next"
import { formatNano, parseNano } from "../../../../domain/money/Money.ts"
import { Resolution, tokensPerSecond } from "../../../../domain/video/tiers.ts"
import { InputMode } from "../../../../domain/video/videoFacts.ts"
import type { PricesText } from "../draft/catalogEntries.ts"

type TableText = Extract<PricesText, { readonly kind: "video_table" }>
type LineText = TableText["lines"][number]

const ANY = "*"
const MILLION = 1_000_000n
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
    token: (parsed.success * perSecond * SAMPLE_SECONDS) / MILLION
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

interface Choice {
  readonly value: string
  readonly label: string
}

const FactSelect = ({
  label,
  value,
  choices,
  error,
  onChange
}: {
  readonly label: string
  readonly value: string
  readonly choices: ReadonlyArray<Choice>
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}) => (
  <Select
    aria-label={label}
    size="sm"
    data={choices}
    value={value}
    error={error}
    allowDeselect={false}
    onChange={(picked) => {
      if (picked !== null) onChange(picked)
    }}
  />
)

const flagOf = (value: string): boolean | typeof ANY => (value === ANY ? ANY : value === "true")

interface LineProps {
  readonly unit: TableText["unit"]
  readonly line: LineText
  readonly index: number
  readonly faultAt: (path: string) => string | undefined
  readonly onChange: (line: LineText) => void
  readonly onRemove: (() => void) | null
}

const LineRow = ({ unit, line, index, faultAt, onChange, onRemove }: LineProps) => {
  const { t } = useTranslation("catalog")
  const any = { value: ANY, label: t("prices.lines.any") }
  const flags = (yes: string, no: string) => [
    any,
    { value: "true", label: yes },
    { value: "false", label: no }
  ]
  const labelOf = (name: string) => t("prices.at", { tier: `${index + 1}`, column: name })
  return (
    <Table.Tr>
      <Table.Td>
        <FactSelect
          label={labelOf(t("prices.tier"))}
          value={line.resolution ?? ANY}
          choices={[any, ...Resolution.literals.map((value) => ({ value, label: value }))]}
          error={faultAt(`lines[${index}].resolution`)}
          onChange={(value) => {
            const resolution = Resolution.literals.find((one) => one === value) ?? ANY
            onChange({ ...line, resolution })
          }}
        />
      </Table.Td>
      <Table.Td>
        <FactSelect
          label={labelOf(t("prices.lines.sound"))}
          value={`${line.sound ?? ANY}`}
          choices={flags(t("prices.lines.withSound"), t("prices.lines.silent"))}
          error={faultAt(`lines[${index}].sound`)}
          onChange={(value) => onChange({ ...line, sound: flagOf(value) })}
        />
      </Table.Td>
      <Table.Td>
        <FactSelect
          label={labelOf(t("prices.lines.inputVideo"))}
          value={`${line.input_video ?? ANY}`}
          choices={flags(t("prices.with_video"), t("prices.without_video"))}
          error={faultAt(`lines[${index}].input_video`)}
          onChange={(value) => onChange({ ...line, input_video: flagOf(value) })}
        />
      </Table.Td>
      <Table.Td>
        <FactSelect
          label={labelOf(t("prices.lines.mode"))}
          value={line.mode ?? ANY}
          choices={[
            any,
            ...InputMode.literals.map((value) => ({
              value,
              label: t(`prices.lines.modes.${value}`)
            }))
          ]}
          error={faultAt(`lines[${index}].mode`)}
          onChange={(value) =>
            onChange({ ...line, mode: InputMode.literals.find((one) => one === value) ?? ANY })
          }
        />
      </Table.Td>
      <Table.Td>
        <TextInput
          aria-label={labelOf(t(`prices.unit.${unit}`))}
          size="sm"
          inputMode="decimal"
          value={line.price}
          error={faultAt(`lines[${index}].price`) ?? faultAt(`lines[${index}]`)}
          onChange={(event) => onChange({ ...line, price: event.currentTarget.value.trim() })}
        />
      </Table.Td>
      <Table.Td>
        <Text size="sm" c="dimmed">
          {sampleOf(unit, line) ?? ""}
        </Text>
      </Table.Td>
      <Table.Td>
        {onRemove === null ? null : (
          <ActionIcon
            variant="subtle"
            aria-label={t("prices.lines.remove", { n: index + 1 })}
            onClick={onRemove}
          >
            <IconTrash size={16} />
          </ActionIcon>
        )}
      </Table.Td>
    </Table.Tr>
  )
}

/** A whole number that may be left out. */
const CountField = ({
  label,
  value,
  error,
  onChange
}: {
  readonly label: string
  readonly value: number | undefined
  readonly error: string | undefined
  readonly onChange: (value: number | null) => void
}) => (
  <TextInput
    label={label}
    inputMode="numeric"
    value={value === undefined ? "" : `${value}`}
    error={error}
    onChange={(event) => {
      const count = Number(event.currentTarget.value.trim())
      onChange(count > 0 ? count : null)
    }}
  />
)

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

export const PriceLines = ({ value, onChange, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const { lines, unit } = value
  const put = (next: ReadonlyArray<LineText>): void => {
    if (Arr.isReadonlyArrayNonEmpty(next)) onChange({ ...value, lines: next })
  }
  const last = lines[lines.length - 1] ?? lines[0]
  const heads = ["tier", "lines.sound", "lines.inputVideo", "lines.mode"] as const
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
      <Table withRowBorders={false} aria-label={t("prices.video_table")}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col">
                {t(`prices.${head}`)}
              </Table.Th>
            ))}
            <Table.Th scope="col">{t(`prices.unit.${unit}`)}</Table.Th>
            <Table.Th scope="col">{t("prices.lines.sample")}</Table.Th>
            <Table.Th />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line, index) => (
            <LineRow
              // biome-ignore lint/suspicious/noArrayIndexKey: Lines have no id, and their order does not change.
              key={index}
              {...{ unit, line, index, faultAt }}
              onChange={(next) => put(lines.map((one, at) => (at === index ? next : one)))}
              onRemove={
                lines.length === 1 ? null : () => put(lines.filter((_, at) => at !== index))
              }
            />
          ))}
        </Table.Tbody>
      </Table>
      {faultAt("lines") === undefined ? null : (
        <Text size="sm" c="red">
          {faultAt("lines")}
        </Text>
      )}
      <Button variant="default" size="xs" onClick={() => put([...lines, { ...last, price: "" }])}>
        {t("prices.lines.add")}
      </Button>
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
