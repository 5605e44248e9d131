/** Checks a catalog for contradictions. */
import { Struct } from "effect"
import { builtInDocuments } from "../queue/builtInDocuments.ts"
import { documentFaults } from "../queue/queueFaults.ts"
import type { FieldFault } from "../requestFields.ts"
import type { Resolution } from "../video/tiers.ts"
import { canServe, rowOfModel } from "../video/VideoProtocol.ts"
import { videoLimitFields } from "../video/videoLimits.ts"
import { pricedResolutions } from "../video/videoPriceTable.ts"
import type { CatalogDocument, Channel, Model, Mount } from "./CatalogDocument.ts"
import { keyWarnings, type StoredKeys } from "./channelKeys.ts"
import { isLinkLocalHost } from "./linkLocal.ts"
import { type Modality, modalities } from "./Modality.ts"
import type { ModelLimits } from "./ModelLimits.ts"
import type { Prices } from "./Prices.ts"
import { type ProtocolTables, servesModality } from "./ProtocolTables.ts"
import {
  limitShapeFaults,
  limitUseFaults,
  limitWarnings,
  listFaults,
  type VideoUse
} from "./videoLimitRules.ts"

/** Faults with their paths in the document, such as `mounts[2].channel`. */
type Faults = Generator<FieldFault, void>

const quoted = (text: string): string => JSON.stringify(text)

interface ModalityRules {
  /** The price kinds that a model of the modality may have. */
  readonly prices: ReadonlyArray<Prices["kind"]>
  /** The limits that apply to models of the modality. */
  readonly limits?: ReadonlyArray<keyof ModelLimits>
  /** The protocol table of the modality; null if the gateway has no protocol for it. */
  readonly protocols: Exclude<keyof ProtocolTables, "builtIn"> | null
}

const textLimits = ["input_tokens", "output_tokens", "image_tokens", "thought_tokens"] as const

const transcriptionLimits = ["input_tokens", "output_tokens"] as const
const speechLimits = [...transcriptionLimits, "voices"] as const

const rulesOf: Readonly<Record<Modality, ModalityRules>> = {
  chat: { prices: ["tokens"], protocols: "text", limits: textLimits },
  vlm: { prices: ["tokens"], protocols: "text", limits: textLimits },
  embedding: { prices: ["tokens"], protocols: "text", limits: ["input_tokens"] },
  rerank: { prices: ["tokens", "searches"], protocols: "rerank", limits: ["input_tokens"] },
  image: { prices: ["image", "image_tokens"], protocols: "image" },
  tts: { prices: ["characters", "tokens"], protocols: "audio", limits: speechLimits },
  asr: {
    prices: ["audio_seconds", "tokens"],
    protocols: "audio",
    limits: transcriptionLimits
  },
  video: {
    prices: ["token_video", "second_video", "video_table"],
    protocols: "video",
    limits: ["input_video_seconds", ...Struct.keys(videoLimitFields)]
  },
  omni: { prices: [], protocols: null }
}

/** The price kinds that a model of the modality may have. */
export const priceKindsOf = (modality: Modality): ReadonlyArray<Prices["kind"]> =>
  rulesOf[modality].prices

/** The names of the gateway's protocols for a modality. */
export const protocolNamesOf = (
  modality: Modality,
  protocols: ProtocolTables
): ReadonlyArray<string> => {
  const { protocols: table } = rulesOf[modality]
  return table === null ? [] : [...(protocols[table]?.keys() ?? [])]
}

/** The protocol a mount speaks. */
export const mountProtocol = (model: Model, mount: Mount): string =>
  mount.protocol ?? model.protocol

/**
 * Whether the model can be ordered. Models of some modalities are open only where they are mounted
 * by a protocol that serves the modality, be the mount enabled or not.
 */
export const statusOf = (
  protocols: ProtocolTables,
  { mounts }: Pick<CatalogDocument, "mounts">,
  model: Model
): "open" | "coming_soon" | "planned" => {
  const { modality } = model
  const { status } = modalities[modality]
  if (status !== "by_mount") return status
  const isServed = mounts.some(
    (mount) =>
      mount.model === model.id && servesModality(protocols, mountProtocol(model, mount), modality)
  )
  return isServed ? "open" : "coming_soon"
}

function* duplicates(list: string, entries: ReadonlyArray<{ readonly id: string }>): Faults {
  const seen = new Set<string>()
  for (const [index, { id }] of entries.entries()) {
    if (seen.has(id)) {
      yield { path: `${list}[${index}].id`, message: `${quoted(id)} is listed twice` }
    }
    seen.add(id)
  }
}

/** Requires that a name leads to one model: no alias is an id, or an alias for a second time. */
function* aliasFaults(models: ReadonlyArray<Model>): Faults {
  const ids = new Set(models.map(({ id }) => id))
  const modelsByAlias = new Map<string, string>()
  for (const [index, { id, aliases = [] }] of models.entries()) {
    for (const [position, alias] of aliases.entries()) {
      const path = `models[${index}].aliases[${position}]`
      const owner = modelsByAlias.get(alias)
      if (ids.has(alias)) {
        yield { path, message: `${quoted(alias)} is the id of a model` }
      } else if (owner !== undefined) {
        yield { path, message: `${quoted(alias)} is already an alias of ${quoted(owner)}` }
      }
      modelsByAlias.set(alias, owner ?? id)
    }
  }
}

/**
 * The reason why a link-local or metadata address is refused; null for other addresses. Such an
 * address can answer with the secrets that a cloud provides to this machine, and the secrets could
 * then appear in vendor errors, which other people read.
 */
export const addressFault = ({
  allow_private,
  base_url
}: Pick<Channel, "allow_private" | "base_url">): string | null =>
  allow_private === true || !isLinkLocalHost(base_url)
    ? null
    : 'a link-local address or one of a metadata service needs "allow_private": true on its channel'

function* addressFaults(channels: ReadonlyArray<Channel>): Faults {
  for (const [index, channel] of channels.entries()) {
    const message = addressFault(channel)
    if (message !== null) yield { path: `channels[${index}].base_url`, message }
  }
}

/**
 * Checks that the prices are of the kind that a video protocol requires, if it has a fixed way of
 * billing. A protocol of another modality is no fault here, because orders for it are refused as
 * not supported.
 */
function* billingFaults(
  { video }: ProtocolTables,
  path: string,
  protocol: string,
  prices: Prices
): Faults {
  const billing = video.get(protocol)?.billing ?? null
  if (billing === null || billing === prices.kind) return
  // Seconds and clips are known from the order, and only some vendors report tokens.
  const isTable = prices.kind === "video_table"
  if (isTable && (prices.unit !== "token" || billing === "token_video")) return
  const name = isTable ? `${prices.kind} by ${prices.unit}` : prices.kind
  yield { path, message: `${protocol} is billed by ${billing}, but the price is ${name}` }
}

/** Refuses image and video protocols for text models. */
function* textFaults(
  { video, image }: ProtocolTables,
  modality: Modality,
  path: string,
  protocol: string
): Faults {
  if (rulesOf[modality].protocols !== "text") return
  const other = video.has(protocol) ? "video" : image.has(protocol) ? "image" : null
  if (other === null) return
  yield { path, message: `${protocol} is a protocol of ${other} models, not of ${modality} models` }
}

/**
 * Checks the kind of a price table, which is either a model's prices or a mount's cost. Both must
 * fit the modality of the model.
 */
function* kindFaults(
  protocols: ProtocolTables,
  path: string,
  { modality, protocol }: Pick<Model, "modality" | "protocol">,
  prices: Prices
): Faults {
  if (!rulesOf[modality].prices.includes(prices.kind)) {
    yield { path, message: `a model of modality ${modality} cannot be priced by ${prices.kind}` }
  } else if (modality === "video") {
    yield* billingFaults(protocols, path, protocol, prices)
  }
}

function* priceFaults(protocols: ProtocolTables, models: ReadonlyArray<Model>): Faults {
  for (const [index, model] of models.entries()) {
    if (model.prices === undefined) continue
    yield* kindFaults(protocols, `models[${index}].prices.kind`, model, model.prices)
  }
}

/** Refuses limits that do not apply to the modality, because they are mistakes. */
function* inapplicableLimits(path: string, modality: Modality, limits: ModelLimits): Faults {
  const allowedLimits = rulesOf[modality].limits ?? []
  for (const name of Struct.keys(limits)) {
    if (allowedLimits.includes(name)) continue
    yield {
      path: `${path}.limits.${name}`,
      message: `a model of modality ${modality} has no such limit`
    }
  }
}

/** The video models with a known protocol, as each of their mounts calls them. */
const videoUses = (
  { video }: ProtocolTables,
  { models, mounts }: CatalogDocument
): ReadonlyArray<VideoUse> => {
  const indexedMounts = mounts.map((mount, index) => ({ mount, mountPath: `mounts[${index}]` }))
  const mountsByModel = Map.groupBy(indexedMounts, ({ mount }) => mount.model)
  return models.flatMap((model, index) => {
    if (model.modality !== "video") return []
    const listed = video.get(model.protocol)
    const common = { model, modelPath: `models[${index}]`, listed }
    const uses = mountsByModel.get(model.id) ?? [{ mount: null, mountPath: "" }]
    return uses.flatMap(({ mount, mountPath }) => {
      const protocol = mount === null ? model.protocol : mountProtocol(model, mount)
      const protocolRow = video.get(protocol)
      if (protocolRow === undefined) return []
      const row = rowOfModel(protocolRow, mount?.upstream_model ?? model.id)
      return [{ ...common, mount, mountPath, protocol, row }]
    })
  })
}

/**
 * Checks the limits of models and mounts. Limits that contradict themselves are not compared with
 * anything else.
 */
function* limitFaults(protocols: ProtocolTables, catalog: CatalogDocument): Faults {
  const modalities = new Map(catalog.models.map(({ id, modality }) => [id, modality]))
  const ownFaults = [
    ...catalog.models.flatMap(({ modality, limits = {} }, index) => {
      const path = `models[${index}]`
      return [
        ...inapplicableLimits(path, modality, limits),
        ...limitShapeFaults(`${path}.limits`, limits),
        ...listFaults(`${path}.limits.voices`, limits.voices)
      ]
    }),
    ...catalog.mounts.flatMap(({ model, limits = {} }, index) => {
      const path = `mounts[${index}]`
      const modality = modalities.get(model)
      return [
        ...(modality === undefined ? [] : inapplicableLimits(path, modality, limits)),
        ...limitShapeFaults(`${path}.limits`, limits)
      ]
    })
  ]
  yield* ownFaults
  if (ownFaults.length === 0) yield* limitUseFaults(videoUses(protocols, catalog))
}

function* costFaults(protocols: ProtocolTables, { models, mounts }: CatalogDocument): Faults {
  const modelsById = new Map(models.map((model) => [model.id, model]))
  for (const [index, mount] of mounts.entries()) {
    const model = modelsById.get(mount.model)
    if (model === undefined || mount.cost === undefined) continue
    const { modality } = model
    const protocol = mountProtocol(model, mount)
    yield* kindFaults(protocols, `mounts[${index}].cost.kind`, { modality, protocol }, mount.cost)
  }
}

function* mountFaults(protocols: ProtocolTables, catalog: CatalogDocument): Faults {
  const channels = new Set(catalog.channels.map(({ id }) => id))
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const seen = new Set<string>()
  for (const [index, mount] of catalog.mounts.entries()) {
    const mountPath = `mounts[${index}]`
    const model = models.get(mount.model)
    if (model === undefined) {
      yield { path: `${mountPath}.model`, message: `no model is called ${quoted(mount.model)}` }
    } else if (mount.protocol !== null) {
      const path = `${mountPath}.protocol`
      if (model.modality === "video" && model.prices !== undefined) {
        yield* billingFaults(protocols, path, mount.protocol, model.prices)
      }
      yield* textFaults(protocols, model.modality, path, mount.protocol)
    }
    if (!channels.has(mount.channel)) {
      yield {
        path: `${mountPath}.channel`,
        message: `no channel is called ${quoted(mount.channel)}`
      }
    }
    const pair = JSON.stringify([mount.model, mount.channel])
    if (seen.has(pair))
      yield { path: mountPath, message: "this model is mounted on this channel twice" }
    seen.add(pair)
  }
}

/**
 * Requires a weight above 0 for at least one of the enabled mounts of a model that have the same
 * priority.
 */
function* weightFaults({ mounts }: CatalogDocument): Faults {
  const indexedMounts = mounts.map((mount, index) => ({ ...mount, index }))
  const mountsOfEqualPriority = Map.groupBy(
    indexedMounts.filter(({ enabled }) => enabled),
    ({ model, priority }) => JSON.stringify([model, priority])
  )
  for (const [first, ...others] of mountsOfEqualPriority.values()) {
    if (first === undefined || [first, ...others].some(({ weight }) => weight > 0)) continue
    yield {
      path: `mounts[${first.index}].weight`,
      message: `of the mounts of ${quoted(first.model)} with priority ${first.priority} one needs a weight above 0`
    }
  }
}

/** The resolutions that a model has prices for; null if they are not limited. */
const resolutionsWithPrice = (prices: Prices | undefined): ReadonlyArray<Resolution> | null => {
  if (prices?.kind === "second_video") return Struct.keys(prices.per_second)
  return prices?.kind === "video_table" ? pricedResolutions(prices) : null
}

/** Finds mounts whose protocol offers none of the resolutions that the model has prices for. */
function* offerFaults(protocols: ProtocolTables, { models, mounts }: CatalogDocument): Faults {
  const modelsById = new Map(models.map((model) => [model.id, model]))
  for (const [index, mount] of mounts.entries()) {
    const model = modelsById.get(mount.model)
    const withPrice = resolutionsWithPrice(model?.prices) ?? []
    if (model?.modality !== "video" || withPrice.length === 0) continue
    const protocol = mountProtocol(model, mount)
    const row = protocols.video.get(protocol)
    // The rules of limits compare the resolutions of limits with the prices.
    if (row === undefined || (model.limits?.resolutions ?? mount.limits?.resolutions) !== undefined)
      continue
    const { resolutions } = row
    if (resolutions.length === 0) continue
    if (withPrice.some((resolution) => resolutions.includes(resolution))) continue
    yield {
      path: `mounts[${index}]`,
      message: `${protocol} makes ${resolutions.join(", ")}, and ${quoted(model.id)} has prices for ${withPrice.join(", ")} alone`
    }
  }
}

/** The faults of the catalog's documents, and documents of protocols that the gateway has. */
function* protocolFaults(tables: ProtocolTables, { protocols = [] }: CatalogDocument): Faults {
  const { builtIn = tables } = tables
  const takenIds = new Set(
    [builtIn.video, builtIn.image, builtIn.text, builtIn.rerank, builtIn.audio].flatMap((table) => [
      ...(table?.keys() ?? [])
    ])
  )
  yield* duplicates("protocols", protocols)
  for (const [index, document] of protocols.entries()) {
    const path = `protocols[${index}]`
    if (takenIds.has(document.id)) {
      yield { path: `${path}.id`, message: `${document.id} is a protocol of the gateway itself` }
    }
  }
  yield* storedDocumentFaults({ protocols })
}

/** The contradictions of the catalog's documents of vendors. */
export const storedDocumentFaults = ({
  protocols = []
}: Pick<CatalogDocument, "protocols">): ReadonlyArray<FieldFault> =>
  protocols.flatMap((document, index) =>
    documentFaults(document).map(({ path, message }) => ({
      path: `protocols[${index}].${path}`,
      message
    }))
  )

/** Refuses mounts of models that the document of their protocol does not have. */
function* documentMountFaults({ models, mounts, protocols = [] }: CatalogDocument): Faults {
  const documents = new Map([...builtInDocuments, ...protocols].map((one) => [one.id, one]))
  const modelsById = new Map(models.map((model) => [model.id, model]))
  for (const [index, mount] of mounts.entries()) {
    const model = modelsById.get(mount.model)
    const document = model && documents.get(mountProtocol(model, mount))
    if (model === undefined || document === undefined) continue
    const upstreamModel = mount.upstream_model ?? model.id
    const isDescribed = document.models.some(
      ({ id, modality }) => id === upstreamModel && modality === model.modality
    )
    if (isDescribed) continue
    yield {
      path: `mounts[${index}].upstream_model`,
      message: `the document of ${document.id} has no ${model.modality} model ${quoted(upstreamModel)}`
    }
  }
}

/** Every contradiction with its path; the list is empty for a consistent catalog. */
export const findFaults = (
  catalog: CatalogDocument,
  protocols: ProtocolTables
): ReadonlyArray<FieldFault> => [
  ...duplicates("channels", catalog.channels),
  ...addressFaults(catalog.channels),
  ...protocolFaults(protocols, catalog),
  ...documentMountFaults(catalog),
  ...duplicates("models", catalog.models),
  ...aliasFaults(catalog.models),
  ...priceFaults(protocols, catalog.models),
  ...limitFaults(protocols, catalog),
  ...catalog.models.flatMap(({ modality, protocol }, index) => [
    ...textFaults(protocols, modality, `models[${index}].protocol`, protocol)
  ]),
  ...mountFaults(protocols, catalog),
  ...weightFaults(catalog),
  ...costFaults(protocols, catalog),
  ...offerFaults(protocols, catalog)
]

/** Finds prices of the units of bills on mounts whose vendor reports no bill. */
function* billWarnings(protocols: ProtocolTables, { models, mounts }: CatalogDocument): Faults {
  const modelsById = new Map(models.map((model) => [model.id, model]))
  for (const [index, mount] of mounts.entries()) {
    const model = modelsById.get(mount.model)
    if (model === undefined || mount.bill_unit_price === undefined) continue
    const protocol = mountProtocol(model, mount)
    const row = protocols.video.get(protocol)
    // A relay reports what the vendor of the model's own protocol reports.
    const reporter = row?.relays === true ? protocols.video.get(model.protocol) : row
    if (model.modality === "video" && reporter?.billUnit !== undefined) continue
    yield {
      path: `mounts[${index}].bill_unit_price`,
      message: `${protocol} reports no bill for ${quoted(model.id)}; the price is not used`
    }
  }
}

function* mountWarnings(protocols: ProtocolTables, catalog: CatalogDocument): Faults {
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const channels = new Map(catalog.channels.map((channel) => [channel.id, channel]))
  for (const [index, mount] of catalog.mounts.entries()) {
    const model = models.get(mount.model)
    if (model === undefined) continue
    const { modality } = model
    const protocol = mountProtocol(model, mount)
    const path = `mounts[${index}].protocol`
    if (modality !== "omni" && !servesModality(protocols, protocol, modality)) {
      yield { path, message: `${protocol} is no ${modality} protocol of this gateway` }
    }
    const row = protocols.video.get(protocol)
    if (row === undefined) continue
    if (row.needsAppId && channels.get(mount.channel)?.app_id === null) {
      yield {
        path: `mounts[${index}].channel`,
        message: `${protocol} needs an app_id on its channel; calls answer channel_unavailable`
      }
    }
    if (modality === "video" && !canServe(row, protocols.video.get(model.protocol))) {
      yield {
        path,
        message: `${protocol} serves no model listed as ${model.protocol}; calls answer video_unsupported_protocol`
      }
    }
  }
}

/** Warnings for the operator about a catalog that is consistent. */
export const findWarnings = (
  catalog: CatalogDocument,
  protocols: ProtocolTables,
  storedKeys: StoredKeys
): ReadonlyArray<FieldFault> => [
  ...keyWarnings(catalog, storedKeys),
  ...catalog.models.flatMap((model, index) => {
    if (model.prices !== undefined || statusOf(protocols, catalog, model) !== "open") return []
    const path = `models[${index}].prices`
    return [{ path, message: "without a price it answers billing_unavailable" }]
  }),
  ...mountWarnings(protocols, catalog),
  ...billWarnings(protocols, catalog),
  ...limitWarnings(videoUses(protocols, catalog))
]
