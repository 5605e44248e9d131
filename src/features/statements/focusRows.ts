/**
 * Charges in the columns of the FinOps Open Cost and Usage Specification (FOCUS) 1.2 and 1.3: every
 * mandatory column, the conditional columns whose condition holds, and two custom columns with the
 * prefix `x_`. Version 1.3 names the service's provider and its host, and keeps the names of
 * provider and publisher that it deprecates. The tests check the rows against the rules in
 * `test/support/focusRules.ts`.
 */
import { baseUnits, bySide } from "../../domain/money/chargeParts.ts"
import { formatNano } from "../../domain/money/Money.ts"
import type { Row } from "../../runtime/texts/csvText.ts"
import type { Statement, StatementEntry } from "./Statements.ts"
import { skuPriceOf } from "./skuPrices.ts"

/** The columns of version 1.3 in alphabetical order, as in the specification. */
const columns = [
  "BilledCost",
  "BillingAccountId",
  "BillingAccountName",
  "BillingCurrency",
  "BillingPeriodEnd",
  "BillingPeriodStart",
  "ChargeCategory",
  "ChargeClass",
  "ChargeDescription",
  "ChargeFrequency",
  "ChargePeriodEnd",
  "ChargePeriodStart",
  "ConsumedQuantity",
  "ConsumedUnit",
  "ContractedCost",
  "ContractedUnitPrice",
  "EffectiveCost",
  "HostProviderName",
  "InvoiceId",
  "InvoiceIssuerName",
  "ListCost",
  "ListUnitPrice",
  "PricingCategory",
  "PricingQuantity",
  "PricingUnit",
  "ProviderName",
  "PublisherName",
  "ResourceId",
  "ResourceName",
  "ResourceType",
  "ServiceCategory",
  "ServiceName",
  "ServiceProviderName",
  "ServiceSubcategory",
  "SkuId",
  "SkuMeter",
  "SkuPriceDetails",
  "SkuPriceId",
  "SubAccountId",
  "SubAccountName",
  "Tags",
  "x_KeyId",
  "x_Modality"
] as const
type FocusRow = { readonly [Column in (typeof columns)[number]]: Row[string] }

export const focusVersions = ["1.2", "1.3"] as const
export type FocusVersion = (typeof focusVersions)[number]

/** The columns that version 1.3 added. */
const addedColumns: ReadonlySet<string> = new Set(["HostProviderName", "ServiceProviderName"])

export const focusColumns: Readonly<Record<FocusVersion, ReadonlyArray<string>>> = {
  "1.2": columns.filter((column) => !addedColumns.has(column)),
  "1.3": columns
}

const PROVIDER = "Media gateway"

/** ISO 8601 without fractions of a second, as the specification requires. */
const timeOf = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`
const SECOND_MILLIS = 1000

const costs = (nano: bigint) => {
  const amount = formatNano(nano)
  return { BilledCost: amount, ContractedCost: amount, EffectiveCost: amount, ListCost: amount }
}

const serviceNames: Readonly<Record<string, string>> = {
  chat: "Language model",
  vlm: "Image-text understanding",
  embedding: "Vector model",
  rerank: "Reranking",
  tts: "Speech synthesis",
  asr: "Speech recognition",
  image: "Image generation",
  video: "Video generation"
}

const unitNames: Readonly<Record<string, string>> = {
  reference: "References",
  token: "Tokens",
  second: "Seconds",
  image: "Images",
  clip: "Clips",
  character: "Characters",
  search: "Searches"
}

/** The name of a meter that counts the unit, such as `images` or `searches`. */
const pluralOf = (unit: string | null): string => (unit === "search" ? "searches" : `${unit}s`)

interface Meter {
  readonly name: string
  readonly unit: string | null
  readonly quantity: bigint
  readonly unitPriceNano: bigint
  /** Whether the price is the base price, which can depend on the facts of the order. */
  readonly isBase: boolean
}

/**
 * The meters that an order was charged by: input, output and their parts are separate meters, as
 * each has its own price.
 */
const metersOf = (entry: StatementEntry): ReadonlyArray<Meter> => {
  const { input, output, unit, unitPriceNano, inputUnitPriceNano } = entry
  const parts = entry.parts ?? []
  const { inputParts, outputParts, besideParts } = bySide(parts)
  const meters = [
    {
      name: "input",
      unit,
      quantity: input === null ? null : baseUnits(input, inputParts),
      unitPriceNano: inputUnitPriceNano,
      isBase: true
    },
    {
      name: unit === "token" ? "output" : pluralOf(unit),
      unit,
      quantity: output === null ? null : baseUnits(output, outputParts),
      unitPriceNano,
      isBase: true
    },
    ...parts.map((part) => ({
      name: part.kind,
      unit: besideParts.includes(part) ? part.kind : unit,
      quantity: part.units,
      unitPriceNano: part.unitPriceNano,
      isBase: false
    }))
  ]
  return meters.flatMap(({ quantity, unitPriceNano: price, ...meter }) =>
    quantity === null || quantity === 0n || price === null
      ? []
      : [{ ...meter, quantity, unitPriceNano: price }]
  )
}

/**
 * Makes the builder of an entry's rows. Deposits and withdrawals are payments, for which FOCUS has
 * no rows.
 */
export const focusRowsOf = (statement: Statement, currency: string) => {
  /** The columns of every row. A correction has the member, the key and the tags of its order. */
  const commonColumns = (entry: StatementEntry, order = entry.corrected ?? entry) => ({
    BillingAccountId: statement.organizationId,
    BillingAccountName: statement.organizationName,
    BillingCurrency: currency,
    BillingPeriodEnd: timeOf(statement.to),
    BillingPeriodStart: timeOf(statement.from),
    ChargePeriodEnd: timeOf(new Date(entry.at.getTime() + SECOND_MILLIS)),
    ChargePeriodStart: timeOf(entry.at),
    InvoiceId: `${statement.organizationId}/${statement.month}`,
    InvoiceIssuerName: PROVIDER,
    HostProviderName: PROVIDER,
    ProviderName: PROVIDER,
    PublisherName: PROVIDER,
    ServiceProviderName: PROVIDER,
    ServiceCategory: "AI and Machine Learning",
    ServiceSubcategory: "Generative AI",
    ServiceName: serviceNames[order.modality ?? ""] ?? order.modality ?? PROVIDER,
    SubAccountId: order.memberId,
    SubAccountName: order.memberName,
    Tags: order.metadata,
    x_KeyId: order.keyId,
    x_Modality: order.modality
  })

  const usageRows = (entry: StatementEntry): ReadonlyArray<FocusRow> =>
    metersOf(entry).map(({ name, unit: unitOfMeter, quantity, unitPriceNano, isBase }) => {
      const count = quantity.toString()
      const price = formatNano(unitPriceNano)
      const unit = unitNames[unitOfMeter ?? ""] ?? unitOfMeter
      return {
        ...commonColumns(entry),
        ...costs(quantity * unitPriceNano),
        ...skuPriceOf({
          model: entry.model,
          meter: name,
          unitPriceNano,
          quote: isBase ? entry.quote : null
        }),
        ChargeCategory: "Usage",
        ChargeClass: null,
        ChargeDescription: `${entry.model}, ${name}`,
        ChargeFrequency: "Usage-Based",
        ConsumedQuantity: count,
        ConsumedUnit: unit,
        ContractedUnitPrice: price,
        ListUnitPrice: price,
        PricingCategory: "Standard",
        PricingQuantity: count,
        PricingUnit: unit,
        ResourceId: entry.id,
        ResourceName: null,
        ResourceType: "Order",
        SkuId: entry.model,
        SkuMeter: name
      }
    })

  /**
   * The row of a credit or a correction. The class `Correction` marks a correction of an earlier
   * billing period.
   */
  const adjustmentRow = (entry: StatementEntry): FocusRow => ({
    ...commonColumns(entry),
    ...costs(-entry.amountNano),
    ChargeCategory: entry.kind === "credit" ? "Credit" : "Adjustment",
    ChargeClass:
      entry.corrected !== null && entry.corrected.month < statement.month ? "Correction" : null,
    ChargeDescription: entry.reason,
    ChargeFrequency: "One-Time",
    ConsumedQuantity: null,
    ConsumedUnit: null,
    ContractedUnitPrice: null,
    ListUnitPrice: null,
    PricingCategory: null,
    PricingQuantity: null,
    PricingUnit: null,
    ResourceId: entry.correctedId,
    ResourceName: null,
    ResourceType: entry.correctedId === null ? null : "Order",
    SkuId: null,
    SkuMeter: null,
    SkuPriceDetails: null,
    SkuPriceId: null
  })

  return (entry: StatementEntry): ReadonlyArray<FocusRow> => {
    switch (entry.kind) {
      case "charge":
        return usageRows(entry)
      case "credit":
      case "correction":
        return [adjustmentRow(entry)]
      case "deposit":
      case "withdrawal":
        return []
    }
  }
}
