import { Array as Arr, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Model } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol, protocolsOf } from "../../domain/catalog/CatalogRules.ts"
import { modalities, modalityFilters } from "../../domain/catalog/Modality.ts"
import { isAllowed, unknownModel } from "../../domain/catalog/modelNames.ts"
import type { ProtocolTables } from "../../domain/catalog/ProtocolTables.ts"
import type { VendorParameters } from "../../domain/catalog/vendorParameters.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import {
  DEFAULT_IMAGES,
  imageFamilyOf,
  MAX_IMAGES,
  MIN_IMAGES
} from "../../domain/image/ImageProtocol.ts"
import { withMarkDefault } from "../../domain/marks.ts"
import { familyOf } from "../../domain/video/families/VideoFamily.ts"
import { defaultSecondsOf } from "../../domain/video/VideoProtocol.ts"
import { mayBeSmart, offeredTogether } from "../../domain/video/VideoSku.ts"
import { familiesOf, offeredParameters } from "../../domain/video/vendorFields.ts"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { unixSeconds } from "../../http/handlers/views.ts"
import { makeMarkDefault } from "../../orders/OrderChecks.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Catalog, type CatalogSnapshot } from "../../services/Catalog.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import { type ModelEntry, ModelsGroup } from "./ModelsApi.ts"

/** The limits of an image model: values that at least one of its mounts accepts. */
const imageLimitsOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  const families = (snapshot.mounts.get(model.id) ?? []).flatMap((mount) => {
    const row = protocols.image.get(mountProtocol(model, mount))
    return row === undefined ? [] : [imageFamilyOf(row, mount.upstream_model ?? model.id)]
  })
  const parameters: VendorParameters = Object.assign(
    {},
    ...families.map(({ parameters }) => parameters)
  )
  const references = families.flatMap(({ references }) => references ?? [])
  return {
    images: { min: MIN_IMAGES, max: MAX_IMAGES, default: DEFAULT_IMAGES },
    parameters,
    references:
      references.length === 0
        ? null
        : {
            max: Math.max(...references.map(({ max }) => max)),
            mask: references.some(({ mask }) => mask)
          },
    streams: families.some(({ streams }) => streams)
  }
}

/** The limits of a video model for each vendor, in the order in which its mounts are called. */
const takesOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  const listed = protocols.video.get(model.protocol)
  const families = (snapshot.mounts.get(model.id) ?? []).flatMap((mount) => {
    const row = protocols.video.get(mountProtocol(model, mount))
    return row === undefined
      ? []
      : (familyOf(familiesOf(row, listed), mount.upstream_model ?? model.id) ?? [])
  })
  return [...new Set(families)].map(({ forms, seconds, onlySeconds, isSmart, ...family }) => ({
    inputs: forms.map(({ takes }) => takes),
    durations: {
      min: seconds[0],
      max: seconds[1],
      ...(onlySeconds === undefined ? {} : { only: onlySeconds }),
      smart: isSmart ?? false
    },
    resolutions: family.resolutions,
    sound: family.sound
  }))
}

/**
 * The values that a client may order of a model: the union of what the protocols of its mounts
 * offer.
 */
const limitsOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  if (model.modality === "image") return imageLimitsOf(protocols, snapshot, model)
  const rows = protocolsOf(model, snapshot.mounts.get(model.id)).flatMap(
    (name) => protocols.video.get(name) ?? []
  )
  if (model.modality !== "video" || !Arr.isReadonlyArrayNonEmpty(rows)) return {}
  const offer = offeredTogether(rows)
  const [min, max] = offer.seconds
  const smart = mayBeSmart(offer, model.prices?.kind)
  const takes = takesOf(protocols, snapshot, model)
  return {
    ...(takes.length === 0 ? {} : { takes }),
    durations: { min, max, default: defaultSecondsOf(offer), smart },
    resolutions: offer.resolutions,
    parameters: offeredParameters(protocols.video, model, snapshot.mounts.get(model.id) ?? [])
  }
}

export const layerModelsHandlers = HttpApiBuilder.group(
  customerApi(ModelsGroup),
  "models",
  Effect.fn(function* (handlers) {
    const catalog = yield* Catalog
    const protocols = yield* Protocols
    const { currency } = yield* Settings
    const marksByDefault = yield* makeMarkDefault

    const orderable = ({ models }: Caller, snapshot: CatalogSnapshot) =>
      [...snapshot.models.values()].filter((model) => isAllowed(models, model))

    /** The limits, with the default of `watermark` that applies to the caller's orders. */
    const limitsFor = (caller: Caller, snapshot: CatalogSnapshot, model: Model) => {
      const limits = limitsOf(protocols, snapshot, model)
      const { parameters }: { readonly parameters?: VendorParameters } = limits
      return parameters !== undefined && marksByDefault(caller)
        ? { ...limits, parameters: withMarkDefault(parameters) }
        : limits
    }

    const entryOf = (caller: Caller, snapshot: CatalogSnapshot, model: Model): ModelEntry => ({
      id: model.id,
      ...(model.aliases === undefined || model.aliases.length === 0
        ? {}
        : { aliases: model.aliases }),
      object: "model" as const,
      created: unixSeconds(snapshot.createdAt),
      owned_by: model.owned_by,
      modality: model.modality,
      status: modalities[model.modality].status,
      input_forms: model.input_forms,
      ...limitsFor(caller, snapshot, model),
      ...(model.limits === undefined ? {} : { limits: model.limits }),
      currency,
      prices: model.prices ?? null
    })

    return handlers.handleAll({
      list: Effect.fn("models.list")(function* ({ query }) {
        const caller = yield* CurrentCaller
        const snapshot = yield* catalog.snapshot
        const modality = query.modality === undefined ? null : modalityFilters.get(query.modality)
        if (modality === undefined) {
          return yield* new InvalidRequest({
            message: `modality: Expected one of ${[...modalityFilters.keys()].join(", ")}`,
            param: "modality"
          })
        }
        return {
          object: "list" as const,
          data: orderable(caller, snapshot)
            .filter((model) => modality === null || model.modality === modality)
            .map((model) => entryOf(caller, snapshot, model))
        }
      }),
      // A model that the key may not order gets the same answer as a model that does not exist.
      read: Effect.fn("models.read")(function* ({ params: { id } }) {
        const caller = yield* CurrentCaller
        const snapshot = yield* catalog.snapshot
        const model = snapshot.modelsByName.get(id)
        return model !== undefined && isAllowed(caller.models, model)
          ? entryOf(caller, snapshot, model)
          : yield* unknownModel(id, orderable(caller, snapshot))
      })
    })
  })
)
