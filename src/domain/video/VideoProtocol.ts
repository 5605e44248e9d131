/** The video protocols: what a client may order from each, and how it is billed. */

import { Result } from "effect"
import { InvalidRequest } from "../Errors.ts"
import type { VendorBill } from "../money/vendorBill.ts"
import { miniMaxFamilies, placeMiniMax } from "./families/minimax.ts"
import {
  anyForm,
  describeInputs,
  describeTakes,
  familyOf,
  type InputRole,
  type PlaceOrder,
  placeMedia,
  rolesByForms,
  rolesWith,
  type VideoFamily,
  type VideoForm,
  type VideoPlacement
} from "./families/VideoFamily.ts"
import { placeVeo, unknownVeo, veoFamilies, veoSeconds, veoSecondsAt } from "./families/veo.ts"
import { anyContent, contentFamilies, placeContent } from "./families/vp_a.ts"
import {
  olderUnifiedResolutions,
  placeOlderUnified,
  placeUnified,
  unifiedFamilies,
  unknownUnified
} from "./families/vp_d.ts"
import { placeTier, tierFamilies } from "./families/vp_e.ts"
import { cloudFamilies, cloudResolutions, isSizedCloud, placeCloud } from "./families/vp_f.ts"
import type { ShotLimits } from "./shots.ts"
import { type Ratio, ratios } from "./sizes.ts"
import { Resolution } from "./tiers.ts"
import type { VideoBlock } from "./VideoInput.ts"
import {
  blockParameters,
  cloudParameters,
  miniMaxParameters,
  noParameters,
  tierParameters,
  unifiedParameters,
  type VideoParameters,
  veoParameters
} from "./videoParameters.ts"

export type VideoBilling = "token_video" | "second_video"

/**
 * The API variants of the relay; vp_a and vp_b share one, the others are named after their
 * protocol.
 */
export type RelayFamily = "a" | "d" | "e" | "f"

/** The features of one protocol. Support for a new vendor begins with such a row. */
export interface VideoProtocolRow extends VideoParameters {
  /**
   * The known model families of the vendor. The first family whose pattern matches the model id
   * applies; for an unknown model, the inputs alone decide the call.
   */
  readonly families?: ReadonlyArray<VideoFamily>
  /** The forms of a model without a family; those of `anyForm` if missing. */
  readonly unknownForms?: Pick<VideoFamily, "forms">
  /** Whether the seconds, resolutions and ratios of families limit their models, and are not hints. */
  readonly isLimitedByFamily?: true
  /** The closed interval of allowed durations, in whole seconds. */
  readonly seconds: readonly [min: number, max: number]
  /** The only durations in `seconds`, in order; every whole second if missing. */
  readonly onlySeconds?: ReadonlyArray<number>
  /** The only durations of some resolutions; those of the row if missing. */
  readonly secondsAt?: Readonly<Partial<Record<Resolution, ReadonlyArray<number>>>>
  /**
   * The orders that may have the duration -1, with which the model chooses the duration:
   * `token_billed` are those billed by tokens, `usage_billed` all that are not billed by ordered
   * seconds.
   */
  readonly smart: "never" | "always" | "token_billed" | "usage_billed"
  /**
   * The allowed resolutions in the protocol's spelling. If empty, the vendor accepts no resolution,
   * and the gateway accepts any value unless the row has a fixed one.
   */
  readonly resolutions: ReadonlyArray<Resolution>
  /**
   * Beside empty `resolutions`: whether an order may name no resolution but the default one, by which
   * it is billed, because no other can be sent.
   */
  readonly hasFixedResolution?: true
  /** What the model of the row takes of shots, from its family; missing if it takes none. */
  readonly shots?: ShotLimits
  /** The ratios of `sizes.ts` that the vendor supports; all of them if missing. */
  readonly ratios?: ReadonlyArray<Ratio>
  /** The only ratios that the model of the row accepts, from its family; any if missing. */
  readonly acceptedRatios?: ReadonlyArray<Ratio>
  /** Whether an input image decides the shape, so that no ratio is sent with it. */
  readonly isShapedByImage?: boolean
  /** Whether the vendor makes sound if the order does not say so; true if missing. */
  readonly soundsByDefault?: boolean
  /**
   * Decides how an order is sent: the roles of its media, and what decides on its sound. If missing,
   * the forms of the families decide.
   */
  readonly place?: PlaceOrder
  /** The unit of billing; null if it depends on the prices of the model in the catalog. */
  readonly billing: VideoBilling | null
  /**
   * The unit in which the vendor reports what it bills for a finished video; missing if it reports
   * no bill.
   */
  readonly billUnit?: VendorBill["unit"]
  /** Whether the channel must have an application id. */
  readonly needsAppId: boolean
  /**
   * Whether the protocol is a relay. A relay calls a model through the family of the protocol under
   * which the catalog lists the model, and serves only models of protocols with a family.
   */
  readonly relays: boolean
  /**
   * The family with which a relay serves models listed under this protocol; null if relays do not
   * serve them.
   */
  readonly relayFamily: RelayFamily | null
}

export const videoProtocols = {
  vp_a: {
    seconds: [5, 15],
    smart: "never",
    resolutions: ["480p", "720p", "1080p", "4K"],
    place: placeContent,
    billing: "token_video",
    needsAppId: false,
    relays: false,
    relayFamily: "a",
    families: contentFamilies,
    unknownForms: anyContent,
    ...blockParameters
  },
  vp_b: {
    seconds: [4, 15],
    smart: "always",
    resolutions: [],
    place: placeContent,
    billing: "token_video",
    needsAppId: true,
    relays: false,
    relayFamily: "a",
    ...noParameters
  },
  vp_c: {
    seconds: [1, 16],
    smart: "token_billed",
    resolutions: ["480p", "540p", "720p", "1080p", "4K"],
    place: placeContent,
    billing: null,
    needsAppId: false,
    relays: true,
    relayFamily: null,
    ...noParameters
  },
  vp_d: {
    families: unifiedFamilies,
    unknownForms: unknownUnified,
    seconds: [3, 15],
    smart: "never",
    resolutions: ["720p", "1080p", "4K"],
    ratios: ["16:9", "9:16", "1:1"],
    isShapedByImage: true,
    soundsByDefault: false,
    place: placeUnified,
    billing: "second_video",
    billUnit: "unit",
    needsAppId: false,
    relays: false,
    relayFamily: "d",
    ...unifiedParameters
  },
  vp_e: {
    families: tierFamilies,
    seconds: [1, 16],
    smart: "never",
    resolutions: ["540p", "720p", "1080p"],
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"],
    isShapedByImage: true,
    place: placeTier,
    billing: "second_video",
    billUnit: "credit",
    needsAppId: false,
    relays: false,
    relayFamily: "e",
    ...tierParameters
  },
  vp_f: {
    seconds: [2, 15],
    smart: "never",
    resolutions: ["720p", "1080p"],
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"],
    isShapedByImage: true,
    place: placeCloud,
    billing: "second_video",
    billUnit: "second",
    needsAppId: false,
    relays: false,
    relayFamily: "f",
    families: cloudFamilies,
    ...cloudParameters
  },
  veo: {
    seconds: [4, 8],
    onlySeconds: veoSeconds,
    secondsAt: veoSecondsAt,
    smart: "never",
    resolutions: ["720p", "1080p", "4K"],
    ratios: ["16:9", "9:16"],
    place: placeVeo,
    billing: "second_video",
    needsAppId: false,
    relays: false,
    relayFamily: null,
    families: veoFamilies,
    unknownForms: unknownVeo,
    ...veoParameters
  },
  minimax: {
    seconds: [4, 15],
    smart: "never",
    resolutions: ["768p", "2K"],
    isShapedByImage: true,
    place: placeMiniMax,
    billing: "second_video",
    billUnit: "second",
    needsAppId: false,
    relays: false,
    relayFamily: null,
    families: miniMaxFamilies,
    ...miniMaxParameters
  }
} as const satisfies Record<string, VideoProtocolRow>

export type VideoProtocol = keyof typeof videoProtocols

/**
 * Whether a protocol can call a model that is listed under another protocol: a relay needs a family
 * for that protocol.
 */
export const canServe = (row: VideoProtocolRow, listed: VideoProtocolRow | undefined): boolean =>
  !row.relays || (listed !== undefined && listed.relayFamily !== null)

/**
 * The known model families. A relay has the families of the protocol under which a model is listed,
 * except family d, which the relay calls through an older API.
 */
export const familiesOf = (
  row: VideoProtocolRow,
  listed: VideoProtocolRow | undefined
): ReadonlyArray<VideoFamily> => {
  if (!row.relays) return row.families ?? []
  return listed === undefined || listed.relayFamily === "d" ? [] : (listed.families ?? [])
}

/**
 * The row with the shots of one model, and with its durations, resolutions and ratios if the
 * families state them.
 */
export const rowOfModel = (row: VideoProtocolRow, upstreamModel: string): VideoProtocolRow => {
  const family = familyOf(row.families ?? [], upstreamModel)
  if (family === null) return row
  const { seconds, onlySeconds, resolutions, acceptedRatios, shots } = family
  const shotLimits = shots === undefined ? {} : { shots }
  if (row.isLimitedByFamily !== true) return shots === undefined ? row : { ...row, shots }
  const { onlySeconds: _, ...otherFields } = row
  return {
    ...otherFields,
    ...shotLimits,
    seconds,
    resolutions,
    ...(resolutions.length === 0 ? { hasFixedResolution: true } : {}),
    ...(acceptedRatios === undefined ? {} : { acceptedRatios }),
    ...(onlySeconds === undefined ? {} : { onlySeconds })
  }
}

/** How a mount calls a model: the protocol, the protocol it is listed under, the vendor's model. */
export interface VideoCall {
  readonly row: VideoProtocolRow
  readonly listed: VideoProtocolRow | undefined
  readonly upstreamModel: string
}

const placeByFamily =
  (families: ReadonlyArray<VideoFamily>): PlaceOrder =>
  (upstreamModel, blocks) => {
    const family = familyOf(families, upstreamModel)
    return {
      roles: rolesByForms(family ?? anyForm, blocks),
      sound: family?.sound ?? "unset"
    }
  }

/**
 * How an order is sent by a mount. A relay sends it as the protocol under which the model is
 * listed, except that family d is the older API.
 */
export const placeOrder = (
  { row, listed, upstreamModel }: VideoCall,
  blocks: ReadonlyArray<VideoBlock>
): VideoPlacement => {
  const vendor = row.relays ? (listed ?? row) : row
  const place = vendor.place ?? placeByFamily(vendor.families ?? [])
  const isOlder = isOlderApi({ row, listed })
  return (isOlder ? placeOlderUnified : place)(upstreamModel, blocks)
}

/**
 * The roles that have another meaning without a form: sent as another role, they would make
 * another video than the one ordered.
 */
const rolesWithForm = {
  middle_frame: "image",
  edit_video: "video",
  extend_video: "video"
} as const satisfies Partial<Record<InputRole, VideoBlock["type"]>>

const hasFormRole = (role: InputRole): role is keyof typeof rolesWithForm =>
  Object.hasOwn(rolesWithForm, role)

/** Whether a mount sends an order through the older API of a relay's family d. */
const isOlderApi = ({ row, listed }: Pick<VideoCall, "row" | "listed">): boolean =>
  row.relays && listed?.relayFamily === "d"

const formsOf = (call: VideoCall): Pick<VideoFamily, "forms"> => {
  const { row, listed, upstreamModel } = call
  const vendor = row.relays ? (listed ?? row) : row
  const defaultForms = isOlderApi(call) ? anyForm : (vendor.unknownForms ?? anyForm)
  return familyOf(familiesOf(row, listed), upstreamModel) ?? defaultForms
}

/** The form in which the media of an order are sent; null if the model has none for them. */
export const formOf = (call: VideoCall, blocks: ReadonlyArray<VideoBlock>): VideoForm | null =>
  Result.match(placeMedia(formsOf(call), blocks), {
    onSuccess: ({ form }) => form,
    onFailure: () => null
  })

/** Refuses a medium whose role has no form of the model, as another role would be another video. */
export const checkForms = (
  call: VideoCall,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<void, InvalidRequest> => {
  const family = formsOf(call)
  const missingRole = rolesWith(blocks, "reference_image")
    .filter(hasFormRole)
    .find((role) => family.forms.every(({ takes }) => takes[role] === undefined))
  if (missingRole === undefined) return Result.void
  const param = rolesWithForm[missingRole]
  const message = `${param}: This model does not take ${describeTakes({ [missingRole]: 1 })}, which has the role ${missingRole}: it takes ${describeInputs(family)}`
  return Result.fail(new InvalidRequest({ message, param }))
}

type WritableResolutions = Readonly<
  Partial<Record<RelayFamily, (upstreamModel: string) => ReadonlyArray<Resolution>>>
>

/**
 * The resolutions that an adapter can write, by the family of API that it calls; every one if
 * missing.
 */
const directResolutions: WritableResolutions = { f: cloudResolutions }
const relayedResolutions: WritableResolutions = {
  d: () => olderUnifiedResolutions,
  f: cloudResolutions
}

/**
 * The resolutions that the adapter can write into a request for the upstream model; none for a
 * protocol without resolutions.
 */
export const writableResolutions = (
  row: VideoProtocolRow,
  listed: VideoProtocolRow | undefined,
  upstreamModel: string
): ReadonlyArray<Resolution> => {
  if (row.resolutions.length === 0) return []
  const [table, family] = row.relays
    ? [relayedResolutions, listed?.relayFamily ?? null]
    : [directResolutions, row.relayFamily]
  const writable = family === null ? undefined : table[family]
  return writable === undefined ? Resolution.literals : writable(upstreamModel)
}

/** The ratios that the adapter can write into a request for the upstream model. */
export const writableRatios = ({ row, listed, upstreamModel }: VideoCall): ReadonlyArray<Ratio> => {
  const vendor = row.relays ? listed : row
  const isSized = vendor?.relayFamily === "f" && isSizedCloud(upstreamModel)
  return (isSized ? vendor.ratios : undefined) ?? ratios
}

/** The default duration and resolution of an order. */
export const DEFAULT_SECONDS = 5
export const DEFAULT_RESOLUTION: Resolution = "720p"

/** The API's value for a duration chosen by the model. */
export const SMART_SECONDS = -1
