/**
 * The rules of FOCUS 1.2 and 1.3 for the cost and usage dataset, as facts about the columns that the
 * gateway exports. They were read from the published rule models:
 *
 * - 1.2: `finopsfoundation/focus_validator`, `focus_validator/rules/model-1.2.json`, model 1.2;
 * - 1.3: `FinOps-Open-Cost-and-Usage-Spec/FOCUS_Spec`, `specification/requirements_model/releases/1.3`,
 *   model 1.3.0.4, and for columns that this release did not change
 *   `specification/requirements_model/model_rules` and `specification/datasets/cost_and_usage/columns`.
 *
 * A number is that of a rule: `nulls: [[3, "filled"]]` of `ListCost` is `ListCost-C-003-M` in the
 * model 1.2 and `CAU-ListCost-C-003-M` in the model 1.3, and `presence: 32` is
 * `CostAndUsage-D-032-M`, in 1.3 `CAU-CostAndUsage-D-032-M`. The last letter is left out, as the
 * models differ in it.
 *
 * Of the conditional columns, those are here whose condition the gateway meets: it names accounts,
 * publishes and negotiates unit prices, measures usage, bills by resources with a type (its orders),
 * and has sub accounts (its members) and tags. It has no availability zones, regions, capacity
 * reservations, commitment discounts, contract commitments, split costs, second currency or virtual
 * currency, and one pricing category and one type of account and of sub account, so that the columns
 * of these are missing.
 */
import type { FocusVersion } from "../../src/features/statements/focusRows.ts"
import { toNano } from "./amounts.ts"

/** A row with null for every empty cell. */
type FocusRow = Readonly<Record<string, string | null>>
type Condition = (row: FocusRow) => boolean

interface ColumnRules {
  readonly level: "mandatory" | "conditional" | "recommended"
  readonly presence: number
  readonly format: readonly [rule: number, is: (value: string) => boolean]
  readonly values?: readonly [rule: number, allowed: ReadonlyArray<string>]
  /** When the column is null and when it is not; in all other cases it may be either. */
  readonly nulls: ReadonlyArray<
    readonly [rule: number, must: "null" | "filled", when?: Condition, since?: "1.3"]
  >
  /** The version that added the column. */
  readonly since?: "1.3"
}

// The formats are those of the attributes StringHandling, NullHandling, NumericFormat,
// DateTimeFormat, CurrencyFormat, KeyValueFormat and UnitFormat.
const placeholder = /^(?:n\/?a|none|null|not applicable|unknown|-)$/i
const isText = (value: string) =>
  value.isWellFormed() && value.trim() !== "" && !placeholder.test(value)
const isDecimal = (value: string) => /^-?\d+(?:\.\d+)?(?:E-?\d+)?$/.test(value)
const isPrice = (value: string) => isDecimal(value) && !value.startsWith("-")
const isTime = (value: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value))
const currencies = new Set(Intl.supportedValuesOf("currency"))
const isCurrency = (value: string) => currencies.has(value)
const isUnit = (value: string) => /^(?:[1-9]\d* )?[A-Z][A-Za-z]*s$/.test(value)

const objectOf = (value: string): object | null => {
  try {
    const read: unknown = JSON.parse(value)
    return typeof read === "object" && !Array.isArray(read) ? read : null
  } catch {
    return null
  }
}
const isKeyValues = (value: string) =>
  Object.values(objectOf(value) ?? { wrong: {} }).every((one) => typeof one !== "object" || !one)
/** `SkuPriceDetails-C-017`: FOCUS defines no property of media, so that each has the prefix. */
const isDetails = (value: string) =>
  isKeyValues(value) &&
  Object.keys(objectOf(value) ?? {}).every((key) => /^x_[A-Z][A-Za-z]*$/.test(key))

const isIn =
  (column: string, ...values: ReadonlyArray<string>): Condition =>
  (row) =>
    values.includes(row[column] ?? "")
const isNull =
  (column: string): Condition =>
  (row) =>
    row[column] === null
const isNot =
  (condition: Condition): Condition =>
  (row) =>
    !condition(row)
const isTax = isIn("ChargeCategory", "Tax")
const isCorrection = isIn("ChargeClass", "Correction")
const isBought: Condition = (row) =>
  isIn("ChargeCategory", "Usage", "Purchase")(row) && !isCorrection(row)

const always = (rule: number) => [[rule, "filled"]] as const
const cost = (presence: number): ColumnRules => ({
  level: "mandatory",
  presence,
  format: [2, isDecimal],
  nulls: always(3)
})
const time = (presence: number): ColumnRules => ({
  level: "mandatory",
  presence,
  format: [2, isTime],
  nulls: always(3)
})
const name = (presence: number): ColumnRules => ({
  level: "mandatory",
  presence,
  format: [2, isText],
  nulls: always(3)
})

/** Of the subcategories, only those of the category that the gateway's services are in. */
const aiSubcategories = [
  "AI Platforms",
  "Bots",
  "Generative AI",
  "Machine Learning",
  "Natural Language Processing",
  "Other (AI and Machine Learning)"
]
const serviceCategories = [
  ...["AI and Machine Learning", "Analytics", "Business Applications", "Compute", "Databases"],
  ...["Developer Tools", "Multicloud", "Identity", "Integration", "Internet of Things"],
  ...["Management and Governance", "Media", "Migration", "Mobile", "Networking", "Security"],
  ...["Storage", "Web", "Other"]
]

const columns: Readonly<Record<string, ColumnRules>> = {
  BilledCost: cost(6),
  BillingAccountId: { ...name(24), format: [3, isText], nulls: always(1) },
  BillingAccountName: name(5),
  BillingCurrency: { ...name(35), format: [3, isCurrency], nulls: always(4) },
  BillingPeriodEnd: time(10),
  BillingPeriodStart: time(9),
  ChargeCategory: {
    ...name(8),
    format: [1, isText],
    values: [3, ["Usage", "Purchase", "Tax", "Credit", "Adjustment"]],
    nulls: always(2)
  },
  ChargeClass: { ...name(26), format: [1, isText], values: [5, ["Correction"]], nulls: [] },
  ChargeDescription: name(25),
  ChargeFrequency: {
    level: "recommended",
    presence: 27,
    format: [1, isText],
    values: [3, ["One-Time", "Recurring", "Usage-Based"]],
    nulls: always(2)
  },
  ChargePeriodEnd: time(28),
  ChargePeriodStart: time(37),
  ConsumedQuantity: {
    level: "conditional",
    presence: 11,
    format: [2, isDecimal],
    nulls: [
      [4, "null", isNot(isIn("ChargeCategory", "Usage"))],
      [6, "filled", (row) => isIn("ChargeCategory", "Usage")(row) && !isCorrection(row)],
      [9, "null", isNull("SkuPriceId"), "1.3"]
    ]
  },
  ConsumedUnit: {
    level: "conditional",
    presence: 66,
    format: [3, isUnit],
    nulls: [
      [5, "null", isNull("ConsumedQuantity")],
      [6, "filled", isNot(isNull("ConsumedQuantity"))]
    ]
  },
  ContractedCost: cost(30),
  ContractedUnitPrice: {
    level: "conditional",
    presence: 34,
    format: [9, isPrice],
    nulls: [
      [5, "null", isTax],
      [6, "filled", isBought],
      [14, "null", isNull("SkuPriceId"), "1.3"],
      [15, "filled", isNot(isNull("SkuPriceId")), "1.3"]
    ]
  },
  EffectiveCost: cost(31),
  HostProviderName: { ...name(75), nulls: [[6, "filled"]], since: "1.3" },
  InvoiceId: { level: "recommended", presence: 33, format: [2, isText], nulls: always(5) },
  InvoiceIssuerName: name(23),
  ListCost: cost(32),
  ListUnitPrice: {
    level: "conditional",
    presence: 4,
    format: [8, isPrice],
    nulls: [
      [4, "null", isTax],
      [5, "filled", isBought],
      [12, "null", isNull("SkuPriceId"), "1.3"],
      [13, "filled", isNot(isNull("SkuPriceId")), "1.3"]
    ]
  },
  PricingCategory: {
    level: "conditional",
    presence: 22,
    format: [1, isText],
    values: [7, ["Standard", "Committed", "Dynamic", "Other"]],
    nulls: [
      [3, "null", isTax],
      [4, "filled", isBought],
      [12, "null", isNull("SkuPriceId"), "1.3"]
    ]
  },
  PricingQuantity: {
    level: "mandatory",
    presence: 36,
    format: [2, isDecimal],
    nulls: [
      [4, "null", isTax],
      [5, "filled", isBought],
      [11, "null", isNull("SkuPriceId"), "1.3"]
    ]
  },
  PricingUnit: {
    level: "mandatory",
    presence: 68,
    format: [3, isUnit],
    nulls: [
      [5, "null", isNull("PricingQuantity")],
      [6, "filled", isNot(isNull("PricingQuantity"))]
    ]
  },
  ProviderName: name(38),
  PublisherName: name(21),
  ResourceId: {
    level: "conditional",
    presence: 43,
    format: [2, isText],
    nulls: [[5, "filled", isIn("ChargeCategory", "Usage")]]
  },
  ResourceName: {
    level: "conditional",
    presence: 44,
    format: [2, isText],
    nulls: [[4, "null", isNull("ResourceId")]]
  },
  ResourceType: {
    level: "conditional",
    presence: 39,
    format: [2, isText],
    nulls: [
      [4, "null", isNull("ResourceId")],
      [5, "filled", isNot(isNull("ResourceId"))]
    ]
  },
  ServiceCategory: {
    ...name(40),
    format: [1, isText],
    values: [3, serviceCategories],
    nulls: always(2)
  },
  ServiceName: name(41),
  ServiceProviderName: { ...name(76), since: "1.3" },
  ServiceSubcategory: {
    level: "recommended",
    presence: 42,
    format: [1, isText],
    values: [3, aiSubcategories],
    nulls: always(2)
  },
  SkuId: {
    level: "conditional",
    presence: 60,
    format: [2, isText],
    nulls: [
      [4, "null", isTax],
      [5, "filled", isBought]
    ]
  },
  SkuMeter: {
    level: "conditional",
    presence: 59,
    format: [2, isText],
    nulls: [
      [4, "null", isNull("SkuId")],
      [5, "filled", isNot(isNull("SkuId"))]
    ]
  },
  SkuPriceDetails: {
    level: "conditional",
    presence: 61,
    format: [1, isDetails],
    nulls: [[4, "null", isNull("SkuPriceId")]]
  },
  SkuPriceId: {
    level: "conditional",
    presence: 58,
    format: [2, isText],
    nulls: [
      [4, "null", isTax],
      [5, "filled", isBought]
    ]
  },
  SubAccountId: {
    level: "conditional",
    presence: 19,
    format: [2, isText],
    nulls: [[5, "filled", isNot(isNull("ResourceId"))]]
  },
  SubAccountName: {
    level: "conditional",
    presence: 29,
    format: [2, isText],
    nulls: [
      [4, "null", isNull("SubAccountId")],
      [5, "filled", isNot(isNull("SubAccountId"))]
    ]
  },
  Tags: { level: "conditional", presence: 64, format: [1, isKeyValues], nulls: [] }
}

const areEqual =
  (one: string, other: string): Condition =>
  (row) =>
    row[one] === row[other]
const isProduct =
  (amount: string, price: string): Condition =>
  (row) =>
    isNull(price)(row) ||
    isNull("PricingQuantity")(row) ||
    BigInt(row.PricingQuantity ?? "") * toNano(row[price] ?? "") === toNano(row[amount] ?? "")
const isBefore =
  (start: string, end: string): Condition =>
  (row) =>
    Date.parse(row[start] ?? "") < Date.parse(row[end] ?? "")
const isEither =
  (one: Condition, other: Condition): Condition =>
  (row) =>
    one(row) || other(row)

/** Relations between the columns of a row; the 1.3 model renumbers some of them. */
const relations: ReadonlyArray<readonly [rules: Partial<Record<FocusVersion, string>>, Condition]> =
  [
    [
      { "1.2": "BilledCost-C-005" },
      isEither(areEqual("ProviderName", "InvoiceIssuerName"), isIn("BilledCost", "0"))
    ],
    [
      { "1.2": "BillingPeriodEnd-C-004", "1.3": "BillingPeriodEnd-C-004" },
      isBefore("BillingPeriodStart", "BillingPeriodEnd")
    ],
    [
      { "1.2": "ChargePeriodEnd-C-004", "1.3": "ChargePeriodEnd-C-004" },
      isBefore("ChargePeriodStart", "ChargePeriodEnd")
    ],
    [
      { "1.2": "ChargeFrequency-C-004", "1.3": "ChargeFrequency-C-004" },
      isEither(
        isNot(isIn("ChargeCategory", "Purchase")),
        isNot(isIn("ChargeFrequency", "Usage-Based"))
      )
    ],
    [{ "1.2": "ListCost-C-009" }, isEither(isCorrection, isProduct("ListCost", "ListUnitPrice"))],
    [{ "1.3": "ListCost-C-011" }, isProduct("ListCost", "ListUnitPrice")],
    [
      { "1.2": "ListCost-C-008", "1.3": "ListCost-C-008" },
      isEither(isNot(isNull("ListUnitPrice")), areEqual("ListCost", "BilledCost"))
    ],
    [
      { "1.2": "ContractedCost-C-009" },
      isEither(isCorrection, isProduct("ContractedCost", "ContractedUnitPrice"))
    ],
    [{ "1.3": "ContractedCost-C-011" }, isProduct("ContractedCost", "ContractedUnitPrice")],
    [
      { "1.2": "ContractedCost-C-008", "1.3": "ContractedCost-C-008" },
      isEither(isNot(isNull("ContractedUnitPrice")), areEqual("ContractedCost", "BilledCost"))
    ],
    [
      { "1.2": "EffectiveCost-C-010", "1.3": "EffectiveCost-C-010" },
      isEither(isIn("ChargeCategory", "Usage", "Purchase"), areEqual("EffectiveCost", "BilledCost"))
    ],
    [{ "1.3": "HostProviderName-C-010" }, areEqual("HostProviderName", "ServiceProviderName")],
    [
      { "1.2": "ServiceSubcategory-C-004", "1.3": "ServiceSubcategory-C-004" },
      isIn("ServiceCategory", "AI and Machine Learning")
    ]
  ]

/** Columns of which every value goes with one value of another column, over all rows. */
const parents = [
  ["ServiceName-C-005", "ServiceName", "ServiceCategory"],
  ["ServiceName-C-008", "ServiceName", "ServiceSubcategory"],
  ["SkuPriceId-C-008", "SkuPriceId", "SkuId"],
  ["SkuPriceDetails-C-007", "SkuPriceId", "SkuPriceDetails"]
] as const

const columnsOf = (version: FocusVersion) =>
  Object.entries(columns).filter(([, { since = "1.2" }]) => since <= version)

const ruleOf = (column: string, rule: number) => `${column}-C-${`${rule}`.padStart(3, "0")}`

const valueFaults = (column: string, { format, values }: ColumnRules, value: string) => [
  ...(format[1](value) ? [] : [`${ruleOf(column, format[0])}: "${value}" has another format`]),
  ...(values === undefined || values[1].includes(value)
    ? []
    : [`${ruleOf(column, values[0])}: "${value}" is no allowed value`])
]

const cellFaults = (version: FocusVersion, row: FocusRow) =>
  columnsOf(version).flatMap(([column, rules]) => {
    const value = row[column] ?? null
    const nullFaults = rules.nulls.flatMap(([rule, must, when = () => true, since = "1.2"]) =>
      since > version || !when(row) || (value === null) === (must === "null")
        ? []
        : [`${ruleOf(column, rule)}: ${value === null ? "null" : `"${value}"`} must be ${must}`]
    )
    return [...nullFaults, ...(value === null ? [] : valueFaults(column, rules, value))]
  })

const relationFaults = (version: FocusVersion, row: FocusRow) =>
  relations.flatMap(([{ [version]: rule }, holds]) =>
    rule === undefined || holds(row) ? [] : [`${rule}: does not hold in ${JSON.stringify(row)}`]
  )

const parentFaults = (rows: ReadonlyArray<FocusRow>) =>
  parents.flatMap(([rule, child, parent]) =>
    [...Map.groupBy(rows, (row) => row[child])].flatMap(([value, own]) =>
      value === null || new Set(own.map((row) => row[parent])).size === 1
        ? []
        : [`${rule}: "${value}" has several values of ${parent}`]
    )
  )

const headerFaults = (version: FocusVersion, header: ReadonlyArray<string>) => {
  const own = header.filter((column) => !column.startsWith("x_"))
  const known = new Set(columnsOf(version).map(([column]) => column))
  return [
    ...columnsOf(version).flatMap(([column, { presence, level }]) =>
      header.includes(column)
        ? []
        : [
            `CostAndUsage-D-${`${presence}`.padStart(3, "0")}: the ${level} column ${column} is missing`
          ]
    ),
    ...own.flatMap((column) =>
      known.has(column) ? [] : [`ColumnHandling-A-010: ${column} is no column of ${version}`]
    ),
    ...(header.slice(0, own.length).every((column) => !column.startsWith("x_"))
      ? []
      : ["ColumnHandling-A-013: a custom column stands before a column of FOCUS"])
  ]
}

/** What a document, as the cells of its rows, breaks of the version's rules; each with the rule. */
export const focusFaults = (
  version: FocusVersion,
  header: ReadonlyArray<string>,
  cells: ReadonlyArray<Readonly<Record<string, string>>>
): ReadonlyArray<string> => {
  const rows = cells.map(
    (row): FocusRow =>
      Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, cell || null]))
  )
  return [
    ...headerFaults(version, header),
    ...rows.flatMap((row) => [...cellFaults(version, row), ...relationFaults(version, row)]),
    ...parentFaults(rows)
  ]
}
