/**
 * Charges in the columns of the FinOps Open Cost and Usage Specification (FOCUS) 1.2: every column it
 * makes mandatory, those it asks for where there is what they tell, and two of our own, which begin
 * with `x_`.
 */
import { formatNano } from "../../domain/money/Money.ts"
import type { Row } from "../../runtime/texts/csvText.ts"
import type { Statement, StatementEntry } from "./Statements.ts"

/** In order of the alphabet, as the specification lists them. */
export const focusColumns = [
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
  "ResourceType",
  "ServiceCategory",
  "ServiceName",
  "ServiceSubcategory",
  "SkuId",
  "SkuMeter",
  "SkuPriceId",
  "SubAccountId",
  "SubAccountName",
  "Tags",
  "x_KeyId",
  "x_Modality"
] as const
type FocusRow = { readonly [Column in (typeof focusColumns)[number]]: Row[string] }

const PROVIDER = "Media gateway"

/** Without fractions of a second, which the specification has no form for. */
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
  image: "Image generation",
  video: "Video generation"
}

const unitNames: Readonly<Record<string, string>> = {
  token: "Tokens",
  second: "Seconds",
  image: "Images"
}

interface Meter {
  readonly name: string
  readonly quantity: bigint
  readonly unitPriceNano: bigint
}

/** What an order was charged for: input and output apart where each has its price. */
const metersOf = (entry: StatementEntry): ReadonlyArray<Meter> => {
  const { input, output, unit, unitPriceNano, inputUnitPriceNano } = entry
  const meters = [
    { name: "input", quantity: input, unitPriceNano: inputUnitPriceNano },
    { name: unit === "token" ? "output" : `${unit}s`, quantity: output, unitPriceNano }
  ]
  return meters.flatMap(({ name, quantity, unitPriceNano: price }) =>
    quantity === null || quantity === 0n || price === null
      ? []
      : [{ name, quantity, unitPriceNano: price }]
  )
}

/** The rows of one entry; none of a deposit or a withdrawal, which are payments. */
export const focusRowsOf = (statement: Statement, currency: string) => {
  const members = new Map(statement.byMember.map(({ memberId, name }) => [memberId, name]))
  const nothing = {
    ...{ ConsumedQuantity: null, ConsumedUnit: null, ContractedUnitPrice: null },
    ...{ ListUnitPrice: null, PricingCategory: null, PricingQuantity: null, PricingUnit: null },
    ...{ SkuId: null, SkuMeter: null, SkuPriceId: null }
  }
  const common = (entry: StatementEntry) => ({
    ...nothing,
    BillingAccountId: statement.organizationId,
    BillingAccountName: statement.organizationName,
    BillingCurrency: currency,
    BillingPeriodEnd: timeOf(statement.to),
    BillingPeriodStart: timeOf(statement.from),
    ChargePeriodEnd: timeOf(new Date(entry.at.getTime() + SECOND_MILLIS)),
    ChargePeriodStart: timeOf(entry.at),
    InvoiceId: `${statement.organizationId}/${statement.month}`,
    ...{ InvoiceIssuerName: PROVIDER, ProviderName: PROVIDER, PublisherName: PROVIDER },
    ServiceCategory: "AI and Machine Learning",
    ServiceSubcategory: "Generative AI",
    ServiceName: serviceNames[entry.modality ?? ""] ?? entry.modality ?? PROVIDER,
    SubAccountId: entry.memberId,
    SubAccountName: members.get(entry.memberId ?? "") ?? null,
    Tags: entry.metadata,
    x_KeyId: entry.keyId,
    x_Modality: entry.modality
  })

  const usageRows = (entry: StatementEntry): ReadonlyArray<FocusRow> =>
    metersOf(entry).map(({ name, quantity, unitPriceNano }) => {
      const [count, price] = [quantity.toString(), formatNano(unitPriceNano)]
      const unit = unitNames[entry.unit ?? ""] ?? entry.unit
      return {
        ...common(entry),
        ...costs(quantity * unitPriceNano),
        ...{ ChargeCategory: "Usage", ChargeClass: null, ChargeFrequency: "Usage-Based" },
        ChargeDescription: `${entry.model}, ${name}`,
        ...{ ConsumedQuantity: count, ConsumedUnit: unit },
        ...{ PricingCategory: "Standard", PricingQuantity: count, PricingUnit: unit },
        ...{ ContractedUnitPrice: price, ListUnitPrice: price },
        ...{ ResourceId: entry.id, ResourceType: "Order" },
        ...{ SkuId: entry.model, SkuMeter: name, SkuPriceId: `${entry.model}/${name}/${price}` }
      }
    })

  /** What was given: a correction of a month that was told before says so. */
  const givenRow = (entry: StatementEntry): FocusRow => ({
    ...common(entry),
    ...costs(-entry.amountNano),
    ChargeCategory: entry.kind === "credit" ? "Credit" : "Adjustment",
    ChargeClass:
      entry.correctedMonth !== null && entry.correctedMonth < statement.month ? "Correction" : null,
    ChargeDescription: entry.reason,
    ChargeFrequency: "One-Time",
    ResourceId: entry.correctedId,
    ResourceType: entry.correctedId === null ? null : "Order"
  })

  return (entry: StatementEntry): ReadonlyArray<FocusRow> => {
    switch (entry.kind) {
      case "charge":
        return usageRows(entry)
      case "credit":
      case "correction":
        return [givenRow(entry)]
      case "deposit":
      case "withdrawal":
        return []
    }
  }
}
