/** Quotes as clients see them, alone and in receipts. */

import type { ImageQuote } from "../../domain/image/ImageQuote.ts"
import { chargeReason } from "../../domain/money/chargeReason.ts"
import { formatNano } from "../../domain/money/Money.ts"
import { expectedChargeNano, formulaOf, type Quote } from "../../domain/money/Quote.ts"
import type { TextQuote } from "../../domain/text/TextQuote.ts"
import type { SecondVideoQuote, TokenVideoQuote } from "../../domain/video/VideoQuote.ts"
import type { Quoted, QuotedModality } from "../../orders/QuoteAnswers.ts"
import type { Receipt } from "../../services/UsageLog.ts"
import type { ReceiptView } from "../api/AccountApi.ts"
import type { QuoteView } from "../api/QuotesApi.ts"

const tokenVideoInputs = (quote: TokenVideoQuote) => ({
  resolution: quote.resolution,
  tier: quote.tier,
  inputs: {
    input_seconds: quote.inputSeconds,
    output_seconds: quote.outputSeconds,
    tokens_per_second: Number(quote.tokensPerSecond),
    estimated_tokens: Number(quote.estimatedTokens),
    with_video: quote.withVideo,
    smart: quote.smart
  }
})

const secondVideoInputs = ({ resolution, outputSeconds }: SecondVideoQuote) => ({
  resolution,
  inputs: { seconds: outputSeconds }
})

const imageInputs = ({ images }: ImageQuote) => ({ inputs: { images } })

const textInputs = ({ inputTokens, outputTokens }: TextQuote) => ({
  inputs: { input_tokens: Number(inputTokens), output_tokens: Number(outputTokens) }
})

export const quoteView = (
  order: Pick<QuoteView, "model" | "currency"> & { readonly modality: QuotedModality },
  { quote, affordable }: Quoted
): QuoteView => {
  const common = {
    object: "quote" as const,
    ...order,
    hold: formatNano(quote.holdNano),
    expected_charge: formatNano(expectedChargeNano(quote)),
    formula: formulaOf(quote),
    affordable: {
      pool: affordable.pool,
      pool_available: formatNano(affordable.poolAvailableNano),
      cap: affordable.cap,
      cap_available:
        affordable.capAvailableNano === null ? null : formatNano(affordable.capAvailableNano)
    }
  }
  switch (quote.kind) {
    case "token_video":
      return {
        ...common,
        kind: quote.kind,
        unit: "token",
        unit_price: formatNano(quote.nanoPerToken),
        ...tokenVideoInputs(quote)
      }
    case "second_video":
      return {
        ...common,
        kind: quote.kind,
        unit: "second",
        unit_price: formatNano(quote.nanoPerSecond),
        ...secondVideoInputs(quote)
      }
    case "image":
      return {
        ...common,
        kind: quote.kind,
        unit: "image",
        unit_price: formatNano(quote.nanoPerImage),
        ...imageInputs(quote)
      }
    case "tokens":
      return {
        ...common,
        kind: quote.kind,
        unit: "token",
        unit_price: formatNano(
          order.modality === "embedding" ? quote.nanoPerInputToken : quote.nanoPerOutputToken
        ),
        input_unit_price: formatNano(quote.nanoPerInputToken),
        ...textInputs(quote)
      }
  }
}

const inputsOf = (quote: Quote) => {
  switch (quote.kind) {
    case "token_video":
      return tokenVideoInputs(quote)
    case "second_video":
      return secondVideoInputs(quote)
    case "image":
      return imageInputs(quote)
    case "tokens":
      return textInputs(quote)
  }
}

export const receiptView = (
  currency: string,
  { record, quote, holdNano, overageNano, entries }: Receipt
): ReceiptView => ({
  object: "receipt",
  id: record.id,
  task_id: record.taskId,
  model: record.model,
  modality: record.modality,
  currency,
  hold: formatNano(holdNano),
  charge: formatNano(record.chargeNano),
  difference: formatNano(record.chargeNano - holdNano),
  overage: formatNano(overageNano),
  unit: record.unit,
  unit_price: formatNano(record.unitPriceNano),
  units: Number(record.output),
  input_units: Number(record.input),
  input_unit_price:
    record.inputUnitPriceNano === null ? null : formatNano(record.inputUnitPriceNano),
  basis: record.basis,
  ...inputsOf(quote),
  formula: formulaOf(quote),
  entries: entries.map(({ id, kind, amountNano, debit, credit, createdAt }) => ({
    id,
    kind,
    amount: formatNano(amountNano),
    debit,
    credit,
    at: createdAt.toISOString()
  })),
  explanation: chargeReason({
    quote,
    inputUnits: record.input,
    units: record.output,
    basis: record.basis,
    chargeNano: record.chargeNano,
    currency
  }),
  created_at: record.createdAt.toISOString()
})
