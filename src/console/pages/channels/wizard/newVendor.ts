/** The entries that the wizard adds to the catalog: a channel, its models and their mounts. */
import { Effect } from "effect"
import type { Modality } from "../../../../domain/catalog/Modality.ts"
import { AccountCheckView } from "../../../../features/catalog/ChannelsApi.ts"
import type { Session } from "../../../gateway/session.ts"
import { sendJson } from "../../catalog/draft/catalogCalls.ts"
import type { CatalogText, ModelText, PricesText } from "../../catalog/draft/catalogEntries.ts"
import { amountsOf } from "../../catalog/EntryTable.tsx"
import { emptyPrices } from "../../catalog/forms/PriceFields.tsx"
import { officialProtocol, suggestedModality, usualPriceKind, type Vendor } from "./vendors.ts"

export interface NewModel {
  /** The vendor's id of the model. */
  readonly upstream: string
  /** The id under which clients order it. */
  readonly id: string
  readonly modality: Modality
  readonly prices: PricesText | undefined
}

export interface NewVendor {
  readonly vendor: Vendor
  readonly id: string
  readonly name: string
  readonly baseUrl: string
  readonly appId: string
  readonly apiKey: string
  /** The last test of this account; null where the account was changed since. */
  readonly check: AccountCheckView | null
  readonly models: ReadonlyArray<NewModel>
}

const freeId = (document: CatalogText, id: string): string => {
  const taken = new Set(document.channels.map((channel) => channel.id))
  const numbers = Array.from({ length: taken.size + 1 }, (_, index) => index)
  const candidates = numbers.map((number) => (number === 0 ? id : `${id}-${number + 1}`))
  return candidates.find((candidate) => !taken.has(candidate)) ?? id
}

export const newVendorOf = (document: CatalogText, vendor: Vendor): NewVendor => ({
  vendor,
  id: freeId(document, vendor.id),
  name: vendor.name,
  baseUrl: vendor.baseUrl,
  appId: "",
  apiKey: "",
  check: null,
  models: []
})

/** The model of the catalog that the new mount refers to, if it is there already. */
export const listedModel = (document: CatalogText, id: string): ModelText | undefined =>
  document.models.find((model) => model.id === id)

/** The prices of another mount of the same model of the vendor. */
const knownPrices = (document: CatalogText, upstream: string): PricesText | undefined => {
  const ids = document.mounts
    .filter((mount) => (mount.upstream_model ?? mount.model) === upstream)
    .map(({ model }) => model)
  return document.models.find(({ id, prices }) => ids.includes(id) && prices !== undefined)?.prices
}

const usualPrices = (vendor: Vendor, upstream: string, modality: Modality): PricesText =>
  emptyPrices(usualPriceKind(officialProtocol(vendor, upstream), modality))

export const newModelOf = (document: CatalogText, vendor: Vendor, upstream: string): NewModel => {
  const modality = suggestedModality(vendor, upstream)
  return {
    upstream,
    id: upstream,
    modality,
    prices: knownPrices(document, upstream) ?? usualPrices(vendor, upstream, modality)
  }
}

const hasAmount = (prices: PricesText | undefined): boolean =>
  prices !== undefined && amountsOf(prices).some(([, amount]) => amount !== "")

/** The model with another modality. Amounts that were entered are kept. */
export const withModality = (vendor: Vendor, model: NewModel, modality: Modality): NewModel => ({
  ...model,
  modality,
  prices: hasAmount(model.prices) ? model.prices : usualPrices(vendor, model.upstream, modality)
})

/** The new models that have no price, neither here nor in the catalog. */
export const unpricedModels = (
  document: CatalogText,
  { models }: NewVendor
): ReadonlyArray<NewModel> =>
  models.filter(({ id, prices }) => !hasAmount(listedModel(document, id)?.prices ?? prices))

const modelText = (vendor: Vendor, { upstream, id, modality, prices }: NewModel): ModelText => {
  const model = {
    id,
    modality,
    protocol: officialProtocol(vendor, upstream),
    input_forms: modality === "vlm" ? ["text", "image"] : ["text"]
  }
  return hasAmount(prices) && prices !== undefined ? { ...model, prices } : model
}

/** The catalog with the vendor's channel, and with those of its models that are not there yet. */
export const withVendor = (document: CatalogText, newVendor: NewVendor): CatalogText => {
  const { vendor, id, name, baseUrl, appId, apiKey, models } = newVendor
  const channel = { id, name, base_url: baseUrl, app_id: appId === "" ? null : appId }
  return {
    channels: [...document.channels, apiKey === "" ? channel : { ...channel, api_key: apiKey }],
    models: [
      ...document.models,
      ...models
        .filter((model) => listedModel(document, model.id) === undefined)
        .map((model) => modelText(vendor, model))
    ],
    mounts: [
      ...document.mounts,
      ...models.map((model) => {
        const protocol =
          listedModel(document, model.id)?.protocol ?? officialProtocol(vendor, model.upstream)
        return {
          model: model.id,
          channel: id,
          protocol: protocol === vendor.protocol ? null : vendor.protocol,
          upstream_model: model.upstream === model.id ? null : model.upstream
        }
      })
    ]
  }
}

/** Tests the account at the vendor. The fields are sent as they were typed. */
export const testAccount = (session: Session, newVendor: NewVendor) =>
  Effect.suspend(() => {
    const { vendor, baseUrl, appId, apiKey } = newVendor
    const body = {
      protocol: vendor.protocol,
      base_url: baseUrl,
      app_id: appId === "" ? null : appId,
      api_key: apiKey
    }
    const init = { method: "POST", body: JSON.stringify(body) }
    return sendJson(session, "/admin/v1/channels/test", init, AccountCheckView)
  })
