/**
 * Converts domain values to the views that clients get. A view may have more fields than the
 * contract: encoding by the contract drops them.
 */
import { isBilledByInput } from "../../domain/catalog/Modality.ts"
import type { AppliedPriceList } from "../../domain/catalog/PriceList.ts"
import { chargeReason } from "../../domain/money/chargeReason.ts"
import { formatNano } from "../../domain/money/Money.ts"
import type { Tag } from "../../domain/money/metadata.ts"
import {
  expectedChargeOf,
  exposureOf,
  formulaOf,
  isCapped,
  type Quote
} from "../../domain/money/Quote.ts"
import { queuePlace } from "../../domain/queuePlace.ts"
import type { TextQuote } from "../../domain/text/TextQuote.ts"
import type { TableVideoQuote } from "../../domain/video/VideoQuote.ts"
import type { Quoted, QuotedModality } from "../../orders/QuoteAnswers.ts"
import {
  availableOf,
  type Balance,
  type Pool,
  type RefusedJob,
  type VendorJob
} from "../../services/Ledger.ts"
import type { Receipt, UsageRecord } from "../../services/UsageLog.ts"
import type { QuoteView } from "../api/orders/QuotesApi.ts"
import type { OperatorReceiptView, ReceiptView } from "../api/receipts.ts"
import type { AttemptView } from "../api/shared.ts"

export const formatNanoOrNull = (amountNano: bigint | null): string | null =>
  amountNano === null ? null : formatNano(amountNano)

export const moneyView = (pool: Balance & Pick<Pool, "overdraftNano">) => ({
  balance: formatNano(pool.balanceNano),
  held: formatNano(pool.heldNano),
  available: formatNano(availableOf(pool))
})

export const poolView = (pool: Pool) => ({
  ...moneyView(pool),
  exposure: formatNano(pool.heldNano + pool.uncoveredNano),
  credit: formatNano(pool.creditNano)
})

/**
 * The exposure field of an order that may cost more than its hold; other orders have no such field.
 */
export const exposureView = (quote: Quote) => {
  const exposureNano = exposureOf(quote)
  return exposureNano === quote.holdNano ? {} : { exposure: formatNano(exposureNano) }
}

/** The prices of tokens that have one of their own; a price that is not configured is left out. */
const partPricesView = (quote: TextQuote) => {
  const { nanoPerCachedToken: cached, nanoPerAudioInputToken: audioInput } = quote
  const audioOutput = quote.nanoPerAudioOutputToken
  return {
    ...(cached === undefined ? {} : { cached_input_unit_price: formatNano(cached) }),
    ...(audioInput === undefined ? {} : { audio_input_unit_price: formatNano(audioInput) }),
    ...(audioOutput === undefined ? {} : { audio_output_unit_price: formatNano(audioOutput) })
  }
}

/** The parts of a charge; without parts the field is left out. */
const partsView = (parts: UsageRecord["parts"]) =>
  parts === null
    ? {}
    : {
        parts: parts.map(({ kind, units, unitPriceNano }) => ({
          kind,
          units: Number(units),
          unit_price: formatNano(unitPriceNano)
        }))
      }

/** The terms of a surcharge; without one the field is left out. */
const surchargeView = ({ surcharge }: TableVideoQuote) =>
  surcharge === undefined
    ? {}
    : {
        reference_surcharge: {
          references: surcharge.references,
          beyond: surcharge.beyond,
          unit_price: formatNano(surcharge.nanoPerReference)
        }
      }

/** The unit of billing, its price, and the inputs of the hold's calculation. */
export const billingView = (quote: Quote) => {
  switch (quote.kind) {
    case "token_video":
      return {
        kind: quote.kind,
        unit: "token" as const,
        unit_price: formatNano(quote.nanoPerToken),
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
      }
    case "second_video":
      return {
        kind: quote.kind,
        unit: "second" as const,
        unit_price: formatNano(quote.nanoPerSecond),
        resolution: quote.resolution,
        inputs: { seconds: quote.outputSeconds }
      }
    case "video_table":
      return {
        kind: quote.kind,
        unit: quote.unit,
        unit_price: formatNano(quote.nanoPerUnit),
        resolution: quote.resolution,
        inputs: {
          units: Number(quote.units),
          sound: quote.sound,
          with_video: quote.withVideo,
          mode: quote.mode,
          ...surchargeView(quote),
          input_seconds: quote.inputSeconds,
          output_seconds: quote.outputSeconds,
          smart: quote.smart
        }
      }
    case "image":
      return {
        kind: quote.kind,
        unit: "image" as const,
        unit_price: formatNano(quote.nanoPerImage),
        inputs: { images: quote.images, ...quote.tier }
      }
    case "image_tokens":
      return {
        kind: quote.kind,
        unit: "token" as const,
        unit_price: formatNano(quote.nanoPerOutputToken),
        input_unit_price: formatNano(quote.nanoPerTextToken),
        image_input_unit_price: formatNano(quote.nanoPerImageInputToken),
        ...(quote.nanoPerCachedToken === undefined
          ? {}
          : { cached_input_unit_price: formatNano(quote.nanoPerCachedToken) }),
        inputs: {
          images: quote.images,
          text_tokens: Number(quote.textTokens),
          image_tokens: Number(quote.imageInputTokens),
          output_tokens: Number(quote.outputTokens),
          ...quote.tier
        }
      }
    case "characters":
      return {
        kind: quote.kind,
        unit: "character" as const,
        unit_price: formatNano(quote.nanoPerUnit),
        inputs: { characters: Number(quote.units) }
      }
    case "audio_seconds":
      return {
        kind: quote.kind,
        unit: "second" as const,
        unit_price: formatNano(quote.nanoPerUnit),
        inputs: {
          seconds: Number(quote.units),
          milliseconds: quote.milliseconds,
          step_seconds: quote.stepSeconds,
          minimum_seconds: quote.minimumSeconds
        }
      }
    case "searches":
      return {
        kind: quote.kind,
        unit: "search" as const,
        unit_price: formatNano(quote.nanoPerUnit),
        inputs: {
          searches: Number(quote.units),
          documents: quote.documents,
          documents_per_search: quote.documentsPerSearch
        }
      }
    case "tokens":
      return {
        kind: quote.kind,
        unit: "token" as const,
        unit_price: formatNano(quote.nanoPerOutputToken),
        input_unit_price: formatNano(quote.nanoPerInputToken),
        ...partPricesView(quote),
        inputs: {
          input_tokens: Number(quote.inputTokens),
          output_tokens: Number(quote.outputTokens)
        }
      }
  }
}

const EXPOSURE_REASON =
  "The length of a reference video is not known before the vendor has it: the hold is for the least it is taken to be, and the exposure for the most the model takes."

export const quoteView = (
  order: Pick<QuoteView, "model" | "currency"> & { readonly modality: QuotedModality },
  { quote, affordable, queue }: Quoted,
  usualSeconds: number | null
): QuoteView => {
  // The contract has these fields only in quotes of videos, and drops them from other quotes.
  const videoFields = {
    usual_seconds: usualSeconds,
    queue: queue === null ? null : queuePlace(queue.position, queue.maxTasks, usualSeconds)
  }
  return {
    object: "quote",
    ...order,
    hold: formatNano(quote.holdNano),
    ...(isCapped(quote) ? { capped: true } : {}),
    ...exposureView(quote),
    ...(exposureOf(quote) === quote.holdNano ? {} : { exposure_reason: EXPOSURE_REASON }),
    expected_charge: formatNano(expectedChargeOf(quote)),
    formula: formulaOf(quote),
    affordable: {
      pool: affordable.pool,
      pool_available: formatNano(affordable.poolAvailableNano),
      cap: affordable.cap,
      cap_available: formatNanoOrNull(affordable.capAvailableNano),
      budget: affordable.budget,
      budget_available: formatNanoOrNull(affordable.budgetAvailableNano)
    },
    ...billingView(quote),
    ...videoFields,
    ...(quote.kind === "tokens" && isBilledByInput(order.modality)
      ? { unit_price: formatNano(quote.nanoPerInputToken) }
      : {})
  }
}

export const usageView = (record: UsageRecord) => ({
  id: record.id,
  model: record.model,
  modality: record.modality,
  input: Number(record.input),
  output: Number(record.output),
  unit: record.unit,
  unit_price: formatNano(record.unitPriceNano),
  input_unit_price: formatNanoOrNull(record.inputUnitPriceNano),
  ...partsView(record.parts),
  charge: formatNano(record.chargeNano),
  basis: record.basis,
  task_id: record.taskId,
  metadata: record.metadata ?? {},
  month: record.month,
  created_at: record.createdAt.toISOString()
})

const receiptFields = (
  currency: string,
  { record, quote, holdNano, overageNano, entries, corrections }: Receipt,
  priceSource: string | null
): ReceiptView => ({
  object: "receipt",
  ...billingView(quote),
  // The charged unit and price replace the quoted ones.
  ...usageView(record),
  currency,
  hold: formatNano(holdNano),
  ...exposureView(quote),
  difference: formatNano(record.chargeNano - holdNano),
  overage: formatNano(overageNano),
  units: Number(record.output),
  input_units: Number(record.input),
  formula: formulaOf(quote),
  corrected: formatNano(corrections.reduce((sum, { amountNano }) => sum + amountNano, 0n)),
  corrections: corrections.map(({ id, amountNano, reason, reference, createdAt }) => ({
    id,
    amount: formatNano(amountNano),
    reason,
    reference,
    at: createdAt.toISOString()
  })),
  entries: entries.map(({ amountNano, createdAt, ...entry }) => ({
    ...entry,
    amount: formatNano(amountNano),
    at: createdAt.toISOString()
  })),
  explanation: chargeReason({
    quote,
    inputUnits: record.input,
    units: record.output,
    parts: record.parts,
    basis: record.basis,
    chargeNano: record.chargeNano,
    currency,
    priceSource
  })
})

/** The receipt for the member, who learns that a price list was applied, but not which. */
export const receiptView = (currency: string, receipt: Receipt): ReceiptView =>
  receiptFields(currency, receipt, receipt.priceList === null ? null : "your price list")

/**
 * The mounts to which an order was sent, in this sequence. All mounts but the last refused the
 * order.
 */
const noFailure = { reason: null, status: null, message: null }

export const attemptViews = (
  job: VendorJob,
  refusals: ReadonlyArray<RefusedJob>,
  heldAt: Date,
  /** The failure of the last attempt; null where it succeeded or may still succeed. */
  lastFailure: Pick<RefusedJob, "reason" | "status" | "message"> | null = null
): ReadonlyArray<AttemptView> =>
  [...refusals, { ...job, ...(lastFailure ?? noFailure) }].map((attempt, index) => ({
    channel: attempt.channelId,
    protocol: attempt.protocol,
    upstream_model: attempt.upstreamModel,
    started_at: (refusals[index - 1]?.at ?? heldAt).toISOString(),
    status: attempt.status,
    reason: attempt.reason,
    message: attempt.message ?? null
  }))

const listInWords = (list: AppliedPriceList | null): string | null =>
  list === null ? null : `the price list ${JSON.stringify(list.name)}`

const noBill = { costNano: null, vendorBill: null, reportedCostNano: null }

/** What the vendor itself says that it bills, beside the cost; only operators see it. */
export const vendorBillView = ({
  costNano,
  vendorBill,
  reportedCostNano
}: Pick<UsageRecord, "costNano" | "vendorBill" | "reportedCostNano"> = noBill) => ({
  vendor_bill:
    vendorBill === null
      ? null
      : { amount: formatNano(vendorBill.amountNano), unit: vendorBill.unit },
  reported_cost: formatNanoOrNull(reportedCostNano),
  cost_difference:
    reportedCostNano === null || costNano === null ? null : formatNano(reportedCostNano - costNano)
})

export const operatorReceiptView = (currency: string, receipt: Receipt): OperatorReceiptView => ({
  ...receiptFields(currency, receipt, listInWords(receipt.priceList)),
  ...(receipt.priceList === null ? {} : { price_list: receipt.priceList }),
  cost: formatNanoOrNull(receipt.record.costNano),
  ...vendorBillView(receipt.record),
  attempts: attemptViews(receipt.job, receipt.refusals, receipt.heldAt)
})

/** The form of times in OpenAI's API. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)

export const isoOrNull = (at: Date | null | undefined): string | null => at?.toISOString() ?? null

/** The tag that a list of usage is filtered by. */
export const tagOf = ({ tag }: { readonly tag?: string }): Tag | null => {
  if (tag === undefined) return null
  const separator = tag.indexOf("=")
  return { name: tag.slice(0, separator), value: tag.slice(separator + 1) }
}
