/** The entries of models for a caller: what can be ordered of each, and its price. */
import { Array as Arr, Clock, Effect } from "effect"
import { type AudioFamily, audioFamilyOf } from "../../domain/audio/AudioProtocol.ts"
import { speechParameters, transcriptionParameters } from "../../domain/audio/audioParameters.ts"
import type { Model } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol, statusOf } from "../../domain/catalog/CatalogRules.ts"
import { modalityFilters } from "../../domain/catalog/Modality.ts"
import { isAllowed, unknownModel } from "../../domain/catalog/modelNames.ts"
import type { ProtocolTables } from "../../domain/catalog/ProtocolTables.ts"
import { parametersTogether, type VendorParameters } from "../../domain/catalog/vendorParameters.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import {
  DEFAULT_IMAGES,
  imageFamilyOf,
  MAX_IMAGES,
  MIN_IMAGES
} from "../../domain/image/ImageProtocol.ts"
import { withMarkDefault } from "../../domain/marks.ts"
import { rerankParameters } from "../../domain/rerank/RerankRequest.ts"
import {
  familyOf,
  type SoundOfModel,
  type VideoFamily,
  type VideoForm
} from "../../domain/video/families/VideoFamily.ts"
import { type MountOffer, mountOffers } from "../../domain/video/modelOffers.ts"
import type { ShotLimits } from "../../domain/video/shots.ts"
import { familiesOf } from "../../domain/video/VideoProtocol.ts"
import { billingOf, defaultSecondsTogether, mayBeSmart } from "../../domain/video/VideoSku.ts"
import { offeredParameters } from "../../domain/video/vendorFields.ts"
import { offersTogether, type VideoOffer } from "../../domain/video/videoOffer.ts"
import { makeMarkDefault } from "../../orders/OrderChecks.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import { Catalog, type CatalogSnapshot, markOfList, offerModel } from "../../services/Catalog.ts"
import { Protocols } from "../../services/ProtocolAdapter.ts"
import type { ModelEntry } from "../api/models.ts"
import { unixSeconds } from "./views.ts"

/** The limits of an image model: values that at least one of its mounts accepts. */
const imageLimitsOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  const families = (snapshot.mounts.get(model.id) ?? []).flatMap((mount) => {
    const row = protocols.image.get(mountProtocol(model, mount))
    return row === undefined ? [] : [imageFamilyOf(row, mount.upstream_model ?? model.id)]
  })
  const parameters = parametersTogether(families.map(({ parameters }) => parameters))
  const references = families.flatMap(({ references }) => references ?? [])
  const least = Math.min(...families.map((family) => family.references?.min ?? 0))
  return {
    images: { min: MIN_IMAGES, max: MAX_IMAGES, default: DEFAULT_IMAGES },
    parameters,
    references:
      references.length === 0
        ? null
        : {
            ...(least > 0 ? { min: least } : {}),
            max: Math.max(...references.map(({ max }) => max)),
            mask: references.some(({ mask }) => mask)
          },
    streams: families.some(({ streams }) => streams)
  }
}

/** The fields of an audio model: the union of those of its mounts; none without a mount. */
const audioLimitsOf = <F extends AudioFamily>(
  snapshot: CatalogSnapshot,
  model: Model,
  familiesOfProtocol: (protocol: string) => Arr.NonEmptyReadonlyArray<F> | null | undefined,
  parametersOf: (family: F) => VendorParameters
) => {
  const tables = (snapshot.mounts.get(model.id) ?? []).flatMap((mount) => {
    const families = familiesOfProtocol(mountProtocol(model, mount)) ?? null
    if (families === null) return []
    return [parametersOf(audioFamilyOf(families, mount.upstream_model ?? model.id))]
  })
  return tables.length === 0 ? {} : { parameters: parametersTogether(tables) }
}

type Takes = NonNullable<ModelEntry["takes"]>[number]

/** The forms of a family without the roles that the limits exclude. */
const formsWithin = (
  forms: ReadonlyArray<VideoForm>,
  { inputs }: VideoOffer
): ReadonlyArray<VideoForm["takes"]> => {
  if (inputs === undefined) return forms.map(({ takes }) => takes)
  const accepted = Object.fromEntries(Object.entries(inputs).filter(([, most]) => most > 0))
  const isAccepted = (takes: VideoForm["takes"]) =>
    Object.keys(takes).every((role) => Object.hasOwn(accepted, role))
  const known = forms.map(({ takes }) => takes).filter(isAccepted)
  // The operator's word stands where it goes beyond the table.
  return known.length === 0
    ? [accepted]
    : known.map((takes) =>
        Object.fromEntries(Object.keys(takes).map((role) => [role, accepted[role] ?? 0]))
      )
}

const soundWithin = (sound: SoundOfModel, { canBeSilent, canSound }: VideoOffer): SoundOfModel => {
  if (!canBeSilent) return "always"
  return canSound ? sound : "never"
}

/** What a vendor takes of a model: limits of the operator stand in place of the vendor's table. */
const takesOfMount = (
  model: Model,
  { mount, offer }: MountOffer,
  family: VideoFamily | null
): Takes | null => {
  if (family === null && offer.inputs === undefined) return null
  const isLimited = (field: "seconds" | "smart" | "resolutions") =>
    family === null || model.limits?.[field] !== undefined || mount?.limits?.[field] !== undefined
  const lengths = family !== null && !isLimited("seconds") ? family : offer
  return {
    inputs: formsWithin(family?.forms ?? [], offer),
    durations: {
      min: lengths.seconds[0],
      max: lengths.seconds[1],
      ...(lengths.onlySeconds === undefined ? {} : { only: lengths.onlySeconds }),
      smart:
        family !== null && !isLimited("smart")
          ? (family.isSmart ?? false)
          : mayBeSmart(offer, billingOf(model.prices))
    },
    resolutions:
      family !== null && !isLimited("resolutions") ? family.resolutions : offer.resolutions,
    sound: soundWithin(family?.sound ?? "unset", offer)
  }
}

/** The limits of a video model for each vendor, in the order in which its mounts are called. */
const takesOf = (
  protocols: ProtocolTables,
  model: Model,
  offers: ReadonlyArray<MountOffer>
): ReadonlyArray<Takes> => {
  const listed = protocols.video.get(model.protocol)
  const takes = offers.flatMap((one) => {
    if (one.mount === null) return []
    const upstreamModel = one.mount.upstream_model ?? model.id
    const family = familyOf(familiesOf(one.row, listed), upstreamModel)
    const takes = takesOfMount(model, one, family)
    return takes === null ? [] : [[JSON.stringify([family?.name ?? null, takes]), takes] as const]
  })
  return [...new Map(takes).values()]
}

const shotsView = ({ most, seconds: [min, max] }: ShotLimits) => ({
  max: most,
  seconds: { min, max }
})

const videoLimitsOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  const mounts = snapshot.mounts.get(model.id) ?? []
  const offers = mountOffers(protocols.video, model, mounts)
  if (!Arr.isReadonlyArrayNonEmpty(offers)) return {}
  const offer = offersTogether(Arr.map(offers, (one) => one.offer))
  const [min, max] = offer.seconds
  const smart = mayBeSmart(offer, billingOf(model.prices))
  const takes = takesOf(protocols, model, offers)
  return {
    ...(takes.length === 0 ? {} : { takes }),
    durations: {
      min,
      max,
      ...(offer.onlySeconds === undefined ? {} : { only: offer.onlySeconds }),
      default: defaultSecondsTogether(
        Arr.map(offers, (one) => one.offer),
        null
      ),
      smart
    },
    resolutions: offer.resolutions,
    ...(offer.acceptedRatios === undefined ? {} : { ratios: offer.acceptedRatios }),
    ...(offer.maxPrompt === undefined ? {} : { max_prompt: offer.maxPrompt }),
    ...(offer.shots === undefined ? {} : { shots: shotsView(offer.shots) }),
    ...(offer.canBeSilent ? {} : { silent: false }),
    ...(offer.canSound ? {} : { sound: false }),
    parameters: offeredParameters(protocols.video, model, mounts)
  }
}

/**
 * The values that a client may order of a model: the union of what its mounts offer.
 */
const limitsOf = (protocols: ProtocolTables, snapshot: CatalogSnapshot, model: Model) => {
  switch (model.modality) {
    case "image":
      return imageLimitsOf(protocols, snapshot, model)
    case "video":
      return videoLimitsOf(protocols, snapshot, model)
    case "rerank":
      return { parameters: rerankParameters }
    case "tts":
      return audioLimitsOf(
        snapshot,
        model,
        (protocol) => protocols.audio?.get(protocol)?.speech,
        (family) => speechParameters(family, model.limits?.voices)
      )
    case "asr":
      return audioLimitsOf(
        snapshot,
        model,
        (protocol) => protocols.audio?.get(protocol)?.transcription,
        transcriptionParameters
      )
    default:
      return {}
  }
}

/**
 * The input forms of the catalog, with `image` for a model whose edits take reference images; an
 * image alone for a model that needs one.
 */
const inputFormsOf = (
  { input_forms }: Model,
  { references = null }: Pick<ModelEntry, "references">
): ReadonlyArray<string> =>
  references === null
    ? input_forms
    : Arr.dedupe([...input_forms, ...(references.min === undefined ? ["text"] : []), "image"])

export const makeModelEntries = Effect.gen(function* () {
  const catalog = yield* Catalog
  const protocols = yield* Protocols
  const { currency } = yield* Settings
  const marksByDefault = yield* makeMarkDefault

  const orderable = ({ models }: Caller, snapshot: CatalogSnapshot) =>
    [...snapshot.models.values()].filter((model) => isAllowed(models, model))

  /** Gives a model the prices that it has for the caller's organisation now. */
  const offersTo = ({ priceList }: Caller, snapshot: CatalogSnapshot) =>
    Effect.map(
      Clock.currentTimeMillis,
      (now) => (model: Model) => offerModel(snapshot, priceList, model, now).model
    )

  /** The limits, with the default of `watermark` that applies to the caller's orders. */
  const limitsFor = (caller: Caller, snapshot: CatalogSnapshot, model: Model) => {
    const limits = limitsOf(protocols, snapshot, model)
    const { parameters }: { readonly parameters?: VendorParameters } = limits
    const listMark = markOfList(snapshot, caller.priceList)
    return parameters !== undefined && marksByDefault(caller, listMark)
      ? { ...limits, parameters: withMarkDefault(parameters) }
      : limits
  }

  const entryOf = (caller: Caller, snapshot: CatalogSnapshot, model: Model): ModelEntry => {
    const limits = limitsFor(caller, snapshot, model)
    return {
      id: model.id,
      ...(model.aliases === undefined || model.aliases.length === 0
        ? {}
        : { aliases: model.aliases }),
      object: "model" as const,
      created: unixSeconds(snapshot.createdAt),
      owned_by: model.owned_by,
      modality: model.modality,
      status: statusOf(protocols, snapshot.document, model),
      input_forms: inputFormsOf(model, limits),
      ...limits,
      ...(model.limits === undefined ? {} : { limits: model.limits }),
      currency,
      prices: model.prices ?? null
    }
  }

  return {
    /** The models that the caller may order, of a modality or of all. */
    list: Effect.fnUntraced(function* (caller: Caller, modalityName?: string) {
      const snapshot = yield* catalog.snapshot
      const modality = modalityName === undefined ? null : modalityFilters.get(modalityName)
      if (modality === undefined) {
        return yield* new InvalidRequest({
          message: `modality: Expected one of ${[...modalityFilters.keys()].join(", ")}`,
          param: "modality"
        })
      }
      const offered = yield* offersTo(caller, snapshot)
      return orderable(caller, snapshot)
        .filter((model) => modality === null || model.modality === modality)
        .map((model) => entryOf(caller, snapshot, offered(model)))
    }),
    /**
     * The model of this id or alias. A model that the caller may not order fails with the same
     * error as a model that does not exist.
     */
    find: Effect.fnUntraced(function* (caller: Caller, id: string) {
      const snapshot = yield* catalog.snapshot
      const offered = yield* offersTo(caller, snapshot)
      const model = snapshot.modelsByName.get(id)
      return model !== undefined && isAllowed(caller.models, model)
        ? entryOf(caller, snapshot, offered(model))
        : yield* unknownModel(id, orderable(caller, snapshot))
    })
  }
})
