/** The prices of images by tokens, and the bounds of the tokens that are held. */
import { Button, Stack, TextInput } from "@mantine/core"
import { Result } from "effect"
import { useTranslation } from "react-i18next"
import { tableAmounts } from "../../../../domain/image/imagePrices.ts"
import { formatNano, parseNano, TOKENS_PER_QUOTE } from "../../../../domain/money/Money.ts"
import type { PricesText } from "../draft/catalogEntries.ts"
import { CountField } from "./CountField.tsx"
import { ANY } from "./LineTable.tsx"
import { TierTable } from "./TierTable.tsx"

type ImageTokensText = Extract<PricesText, { readonly kind: "image_tokens" }>

/** The most output tokens of an image at the usual vendor. */
const USUAL_IMAGE_TOKENS = 6240

export const emptyImageTokens: ImageTokensText = {
  kind: "image_tokens",
  per_million_text_input: "",
  per_million_image_input: "",
  per_million_image_output: "",
  most_output_tokens: USUAL_IMAGE_TOKENS
}

const priceNames = [
  "per_million_text_input",
  "per_million_image_input",
  "per_million_image_output"
] as const

const WHOLE = /^\d{1,9}$/

/** What an image costs at most by its bound of output tokens, without its input. */
const mostCostOf = (perMillion: string, tokens: string): string | null => {
  const parsed = parseNano(perMillion)
  if (Result.isFailure(parsed) || !WHOLE.test(tokens)) return null
  return formatNano((parsed.success * BigInt(tokens)) / TOKENS_PER_QUOTE)
}

interface Props {
  readonly value: ImageTokensText
  readonly onChange: (value: ImageTokensText) => void
  readonly faultAt: (path: string) => string | undefined
}

/** The most output tokens of an image: one bound, or a table by quality and size. */
const OutputBound = ({ value, onChange, faultAt }: Props) => {
  const { t } = useTranslation("catalog")
  const { most_output_tokens: bound, per_million_image_output: price } = value
  const put = (most_output_tokens: ImageTokensText["most_output_tokens"]) =>
    onChange({ ...value, most_output_tokens })
  if (typeof bound === "number") {
    const cost = mostCostOf(price, `${bound}`)
    return (
      <>
        <CountField
          label={t("prices.most_output_tokens")}
          description={cost === null ? "" : `${t("prices.images.mostCost")}: ${cost}`}
          value={bound === 0 ? undefined : bound}
          error={faultAt("most_output_tokens")}
          onChange={(tokens) => put(tokens ?? 0)}
        />
        <Button variant="default" size="xs" onClick={() => put({ [ANY]: { [ANY]: bound } })}>
          {t("prices.images.byTier")}
        </Button>
      </>
    )
  }
  const bounds = tableAmounts(bound).map(({ amount }) => amount)
  const largest = Math.max(0, ...bounds.filter(Number.isSafeInteger))
  return (
    <>
      <TierTable
        label={t("prices.most_output_tokens")}
        table={bound}
        inputMode="numeric"
        sample={{
          label: t("prices.images.mostCost"),
          priceOf: (tokens) => mostCostOf(price, tokens)
        }}
        path="most_output_tokens"
        faultAt={faultAt}
        onChange={(table) =>
          put(
            Object.fromEntries(
              Object.entries(table).map(([quality, sizes]) => [
                quality,
                Object.fromEntries(
                  Object.entries(sizes).map(([size, tokens]) => [size, Number(tokens)])
                )
              ])
            )
          )
        }
      />
      <Button variant="default" size="xs" onClick={() => put(largest)}>
        {t("prices.images.oneBound")}
      </Button>
    </>
  )
}

export const ImageTokenFields = (props: Props) => {
  const { t } = useTranslation("catalog")
  const { value, onChange, faultAt } = props
  return (
    <Stack gap="xs">
      {priceNames.map((name) => (
        <TextInput
          key={name}
          label={t(`prices.${name}`)}
          inputMode="decimal"
          value={value[name]}
          error={faultAt(name)}
          onChange={(event) => onChange({ ...value, [name]: event.currentTarget.value.trim() })}
        />
      ))}
      <TextInput
        label={t("prices.per_million_cached_input")}
        placeholder={t("prices.images.asInput")}
        inputMode="decimal"
        value={value.per_million_cached_input ?? ""}
        error={faultAt("per_million_cached_input")}
        onChange={(event) => {
          const { per_million_cached_input: _, ...others } = value
          const price = event.currentTarget.value.trim()
          onChange(price === "" ? others : { ...others, per_million_cached_input: price })
        }}
      />
      <OutputBound {...props} />
      <CountField
        label={t("prices.most_image_input_tokens")}
        placeholder={t("limits.switches.default")}
        value={value.most_image_input_tokens}
        error={faultAt("most_image_input_tokens")}
        onChange={(most) => {
          const { most_image_input_tokens: _, ...others } = value
          onChange(most === null ? others : { ...others, most_image_input_tokens: most })
        }}
      />
    </Stack>
  )
}
