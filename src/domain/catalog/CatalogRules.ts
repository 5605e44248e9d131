/** Contradictions a catalog may hold, and what changed between two of them. */

import { canServe } from "../video/VideoProtocol.ts"
import type { CatalogDocument, Channel, Model, Mount } from "./CatalogDocument.ts"
import { isLinkLocalHost } from "./linkLocal.ts"
import { isReserved, type Modality } from "./Modality.ts"
import type { Prices } from "./Prices.ts"
import type { ProtocolTables } from "./ProtocolTables.ts"

export interface Fault {
  /** Where in the document, such as `mounts[2].channel`. */
  readonly path: string
  readonly message: string
}

const priceKinds: Readonly<Record<Modality, ReadonlyArray<Prices["kind"]>>> = {
  chat: ["tokens"],
  vlm: ["tokens"],
  embedding: ["tokens"],
  rerank: ["tokens"],
  image: ["image"],
  tts: [],
  asr: [],
  video: ["token_video", "second_video"],
  omni: []
}

const duplicates = (list: string, ids: ReadonlyArray<string>): ReadonlyArray<Fault> =>
  ids.flatMap((id, index) =>
    ids.indexOf(id) < index
      ? [{ path: `${list}[${index}].id`, message: `${JSON.stringify(id)} is listed twice` }]
      : []
  )

/** A mistaken or planted address would hand what the cloud tells this machine to whoever reads errors. */
const addressFault = (channel: Channel, index: number): ReadonlyArray<Fault> =>
  channel.allow_private !== true && isLinkLocalHost(channel.base_url)
    ? [
        {
          path: `channels[${index}].base_url`,
          message:
            'a link-local address or one of a metadata service needs "allow_private": true on its channel'
        }
      ]
    : []

/** The protocol a mount speaks. */
export const mountProtocol = (model: Model, mount: Mount): string =>
  mount.protocol ?? model.protocol

/**
 * A video protocol that has one way of billing takes no price of another. A protocol of another
 * modality is no matter of price: calling it answers that the protocol is not supported.
 */
const billingFault = (
  protocols: ProtocolTables,
  path: string,
  protocol: string,
  kind: Prices["kind"]
): ReadonlyArray<Fault> => {
  const billing = protocols.video.get(protocol)?.billing ?? null
  return billing === null || billing === kind
    ? []
    : [{ path, message: `${protocol} is billed by ${billing}, but the price is ${kind}` }]
}

const textModalities: ReadonlySet<Modality> = new Set(["chat", "vlm", "embedding"])

/** A text model cannot speak what images or videos are ordered by. */
const textFault = (
  protocols: ProtocolTables,
  modality: Modality,
  path: string,
  protocol: string
): ReadonlyArray<Fault> => {
  const other = protocols.video.has(protocol)
    ? "video"
    : protocols.image.has(protocol)
      ? "image"
      : null
  return other === null || !textModalities.has(modality)
    ? []
    : [{ path, message: `${protocol} is a protocol of ${other} models, not of ${modality} models` }]
}

const modelFaults = (
  protocols: ProtocolTables,
  model: Model,
  index: number
): ReadonlyArray<Fault> => {
  const { prices } = model
  if (prices === undefined) return []
  const path = `models[${index}].prices.kind`
  return priceKinds[model.modality].includes(prices.kind)
    ? model.modality === "video"
      ? billingFault(protocols, path, model.protocol, prices.kind)
      : []
    : [
        {
          path,
          message: `a model of modality ${model.modality} cannot be priced by ${prices.kind}`
        }
      ]
}

/** Every contradiction by path; an empty list is a sound catalog. */
export const findFaults = (
  catalog: CatalogDocument,
  protocols: ProtocolTables
): ReadonlyArray<Fault> => {
  const channels = new Set(catalog.channels.map((channel) => channel.id))
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const seen = new Set<string>()
  const mountFaults = catalog.mounts.flatMap((mount, index): ReadonlyArray<Fault> => {
    const at = `mounts[${index}]`
    const model = models.get(mount.model)
    const pair = JSON.stringify([mount.model, mount.channel])
    const repeated = seen.has(pair)
    seen.add(pair)
    return [
      ...(model === undefined
        ? [{ path: `${at}.model`, message: `no model is called ${JSON.stringify(mount.model)}` }]
        : mount.protocol !== null && model.modality === "video" && model.prices !== undefined
          ? billingFault(protocols, `${at}.protocol`, mount.protocol, model.prices.kind)
          : mount.protocol === null
            ? []
            : textFault(protocols, model.modality, `${at}.protocol`, mount.protocol)),
      ...(channels.has(mount.channel)
        ? []
        : [
            {
              path: `${at}.channel`,
              message: `no channel is called ${JSON.stringify(mount.channel)}`
            }
          ]),
      ...(repeated ? [{ path: at, message: "this model is mounted on this channel twice" }] : [])
    ]
  })
  return [
    ...duplicates(
      "channels",
      catalog.channels.map((channel) => channel.id)
    ),
    ...catalog.channels.flatMap(addressFault),
    ...duplicates(
      "models",
      catalog.models.map((model) => model.id)
    ),
    ...catalog.models.flatMap((model, index) => modelFaults(protocols, model, index)),
    ...catalog.models.flatMap(({ modality, protocol }, index) =>
      textFault(protocols, modality, `models[${index}].protocol`, protocol)
    ),
    ...mountFaults
  ]
}

/** Things an operator should hear about although the catalog is sound. */
export const findWarnings = (
  catalog: CatalogDocument,
  protocols: ProtocolTables,
  hasKey: (channelId: string) => boolean
): ReadonlyArray<Fault> => {
  const models = new Map(catalog.models.map((model) => [model.id, model]))
  const channels = new Map(catalog.channels.map((channel) => [channel.id, channel]))
  return [
    ...catalog.channels.flatMap((channel, index) =>
      hasKey(channel.id)
        ? []
        : [{ path: `channels[${index}].api_key`, message: "no key is stored for this channel" }]
    ),
    ...catalog.models.flatMap((model, index) =>
      model.prices === undefined && !isReserved(model.modality)
        ? [
            {
              path: `models[${index}].prices`,
              message: "without a price it answers billing_unavailable"
            }
          ]
        : []
    ),
    ...catalog.mounts.flatMap((mount, index) => {
      const model = models.get(mount.model)
      if (model === undefined) return []
      const protocol = mountProtocol(model, mount)
      const row = protocols.video.get(protocol)
      const table = textModalities.has(model.modality)
        ? protocols.text
        : model.modality === "video" || model.modality === "image"
          ? protocols[model.modality]
          : null
      const served = table === null || table.has(protocol)
      return [
        ...(served
          ? []
          : [
              {
                path: `mounts[${index}].protocol`,
                message: `${protocol} is no ${model.modality} protocol of this gateway`
              }
            ]),
        ...(row?.needsAppId === true && channels.get(mount.channel)?.app_id === null
          ? [
              {
                path: `mounts[${index}].channel`,
                message: `${protocol} needs an app_id on its channel; calls answer channel_unavailable`
              }
            ]
          : []),
        ...(model.modality === "video" &&
        row !== undefined &&
        !canServe(row, protocols.video.get(model.protocol))
          ? [
              {
                path: `mounts[${index}].protocol`,
                message: `${protocol} serves no model listed as ${model.protocol}; calls answer video_unsupported_protocol`
              }
            ]
          : [])
      ]
    })
  ]
}

export interface ListChange {
  readonly added: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

export interface CatalogChange {
  readonly channels: ListChange
  readonly models: ListChange
  readonly mounts: ListChange
}

/** Compares two lists of encoded entries by their key. */
export const compareLists = <A>(
  before: ReadonlyArray<A>,
  after: ReadonlyArray<A>,
  key: (entry: A) => string,
  fingerprint: (entry: A) => string
): ListChange => {
  const old = new Map(before.map((entry) => [key(entry), fingerprint(entry)]))
  const now = new Map(after.map((entry) => [key(entry), fingerprint(entry)]))
  return {
    added: [...now.keys()].filter((id) => !old.has(id)),
    changed: [...now].flatMap(([id, print]) => (old.has(id) && old.get(id) !== print ? [id] : [])),
    removed: [...old.keys()].filter((id) => !now.has(id))
  }
}
