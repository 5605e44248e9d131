/** The prices of a model, as a table. */
import { Table, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { USUAL_DOCUMENTS_PER_SEARCH } from "../../../domain/catalog/Prices.ts"
import { imageAmounts } from "../../../domain/image/imagePrices.ts"
import { formatNano } from "../../../domain/money/Money.ts"
import { lineInWords } from "../../../domain/video/videoPriceTable.ts"
import type { ModelEntry } from "../../../http/api/models.ts"
import { Amount } from "../texts.tsx"

const MILLION = 1_000_000n
const THOUSAND = 1000n

const tableHeads = {
  second: "prices.perSecond",
  clip: "prices.perClip",
  token: "prices.perMillion"
} as const

interface PriceRow {
  readonly priceName: string
  readonly amounts: ReadonlyArray<bigint | undefined>
}

/** The rows of a price table: one for each tier or resolution. Token prices are per million. */
const usePrices = ({ prices }: ModelEntry) => {
  const { t } = useTranslation("playground")
  if (prices === null) return null
  const perMillion = (nano: bigint | undefined) => (nano === undefined ? nano : nano * MILLION)
  const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<PriceRow>) => ({ heads, rows })
  switch (prices.kind) {
    case "token_video":
      return table(
        [t("prices.perMillion"), t("prices.withVideo")],
        Object.entries(prices.per_million_tokens).map(([tier, price]) => ({
          priceName: tier === "base" ? t("prices.base") : tier,
          amounts: [perMillion(price?.without_video), perMillion(price?.with_video)]
        }))
      )
    case "second_video":
      return table(
        [t("prices.perSecond")],
        Object.entries(prices.per_second).map(([priceName, nano]) => ({
          priceName: priceName,
          amounts: [nano]
        }))
      )
    case "video_table": {
      const head = t(tableHeads[prices.unit])
      const rows = prices.lines.map((line) => ({
        priceName: lineInWords(line),
        amounts: [prices.unit === "token" ? perMillion(line.price) : line.price]
      }))
      const surcharge = prices.reference_surcharge
      if (surcharge === undefined) return table([head], rows)
      const priceName = t("prices.beyond", { n: surcharge.beyond })
      return table(
        [head, t("prices.perReference")],
        [...rows, { priceName, amounts: [undefined, surcharge.price] }]
      )
    }
    case "image":
      return table(
        [t("prices.perImage")],
        imageAmounts<bigint>(prices.per_image).map(({ names, amount }) => ({
          priceName: names.length === 0 ? t("prices.image") : names.join(" · "),
          amounts: [amount]
        }))
      )
    case "image_tokens":
      return table(
        [t("prices.perMillion")],
        [
          { priceName: t("prices.input"), amounts: [perMillion(prices.per_million_text_input)] },
          {
            priceName: t("prices.imageInput"),
            amounts: [perMillion(prices.per_million_image_input)]
          },
          { priceName: t("prices.cached"), amounts: [perMillion(prices.per_million_cached_input)] },
          { priceName: t("prices.output"), amounts: [perMillion(prices.per_million_image_output)] }
        ].filter(({ amounts: [amount] }) => amount !== undefined)
      )
    case "tokens":
      return table(
        [t("prices.perMillion")],
        [
          { priceName: t("prices.input"), amounts: [perMillion(prices.per_million_input)] },
          { priceName: t("prices.output"), amounts: [perMillion(prices.per_million_output)] },
          { priceName: t("prices.cached"), amounts: [perMillion(prices.per_million_cached_input)] },
          {
            priceName: t("prices.audioInput"),
            amounts: [perMillion(prices.per_million_audio_input)]
          },
          {
            priceName: t("prices.audioOutput"),
            amounts: [perMillion(prices.per_million_audio_output)]
          }
        ].filter(({ amounts: [amount] }) => amount !== undefined)
      )
    case "characters":
      return table(
        [t("prices.perMillionCharacters")],
        [
          {
            priceName: t(prices.counts === "han_double" ? "prices.hanDouble" : "prices.characters"),
            amounts: [perMillion(prices.per_million_characters)]
          }
        ]
      )
    case "audio_seconds":
      return table(
        [t("prices.perSecond")],
        [{ priceName: t("prices.sound"), amounts: [prices.per_second] }]
      )
    case "searches":
      return table(
        [t("prices.perThousandSearches")],
        [
          {
            priceName: t("prices.searches", {
              count: prices.documents_per_search ?? USUAL_DOCUMENTS_PER_SEARCH
            }),
            amounts: [prices.per_thousand_searches * THOUSAND]
          }
        ]
      )
  }
}

export const ModelPrices = ({ model }: { readonly model: ModelEntry }) => {
  const { t } = useTranslation("playground")
  const { t: shell } = useTranslation()
  const table = usePrices(model)
  if (table === null) {
    return (
      <Text size="sm" c="dimmed">
        {t("prices.none")}
      </Text>
    )
  }
  return (
    <Table aria-label={t("prices.title", { model: model.id })} verticalSpacing={4} fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{t("prices.what")}</Table.Th>
          {table.heads.map((head) => (
            <Table.Th key={head} scope="col" ta="right">
              {head}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {table.rows.map(({ priceName, amounts }) => (
          <Table.Tr key={priceName}>
            <Table.Td>{priceName}</Table.Td>
            {table.heads.map((head, index) => {
              const nano = amounts[index]
              return (
                <Table.Td key={head} ta="right">
                  {nano === undefined ? (
                    shell("none")
                  ) : (
                    <Amount value={formatNano(nano)} currency={model.currency} />
                  )}
                </Table.Td>
              )
            })}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
