/**
 * What can be ordered of a video model through one of its mounts. Checks, errors, quotes, holds,
 * sizes and the list of models all read this one offer.
 */
import { Array as Arr, Result } from "effect"
import { InvalidRequest } from "../Errors.ts"
import {
  describeTakes,
  type InputRole,
  inputRoles,
  type VideoForm
} from "./families/VideoFamily.ts"
import { checkShots, type ShotLimits, shotLimitsTogether } from "./shots.ts"
import { ratios as allRatios, nearestRatio, type Ratio } from "./sizes.ts"
import { Resolution } from "./tiers.ts"
import type { ImageRole } from "./VideoBody.ts"
import { textOf, type VideoBlock, type VideoInput } from "./VideoInput.ts"
import type { VideoProtocolRow } from "./VideoProtocol.ts"
import { offeredTogether, type SkuOffer } from "./VideoSku.ts"
import {
  hasOneOf,
  type InputLimits,
  type SecondsLimit,
  secondsOfLimit,
  spanOf,
  type VideoLimits
} from "./videoLimits.ts"

export interface VideoOffer extends SkuOffer, Pick<VideoProtocolRow, "ratios" | "isShapedByImage"> {
  /**
   * The only ratios that are accepted. If missing, any text is sent as the ratio, and `ratios` are
   * only those that have sizes.
   */
  readonly acceptedRatios?: ReadonlyArray<Ratio>
  /** The largest number of media by role; if missing, the vendor alone limits the media. */
  readonly inputs?: InputLimits
  /** The most characters of all texts; if missing, those of every order. */
  readonly maxPrompt?: number
  readonly canBeSilent: boolean
  readonly canSound: boolean
  /** What is accepted of shots; missing if an order cannot list them. */
  readonly shots?: ShotLimits
}

/** The limits of a model and of one of its mounts. */
export interface LimitsOfMount {
  readonly model?: VideoLimits | undefined
  readonly mount?: VideoLimits | undefined
}

const offerOfSeconds = (limit: SecondsLimit): Pick<SkuOffer, "seconds" | "onlySeconds"> => {
  if (!hasOneOf(limit)) return { seconds: limit }
  const onlySeconds = secondsOfLimit(limit)
  return { seconds: spanOf(onlySeconds), onlySeconds }
}

/**
 * The seconds that both limits have. Limits without a common second are those of the first: the
 * catalog is refused if a mount has seconds that its model does not have.
 */
const commonSeconds = (limit: SecondsLimit, narrower: SecondsLimit): SecondsLimit => {
  const allowed = new Set(secondsOfLimit(narrower))
  const common = secondsOfLimit(limit).filter((second) => allowed.has(second))
  if (common.length === 0) return limit
  return hasOneOf(limit) || hasOneOf(narrower) ? { one_of: common } : spanOf(common)
}

/** The entries that both lists have, or the first list if there is none. */
const common = <A>(list: ReadonlyArray<A>, narrower: ReadonlyArray<A> | undefined) => {
  const both = narrower === undefined ? list : list.filter((entry) => narrower.includes(entry))
  return both.length === 0 ? list : both
}

const smartOf = (
  { smart }: Pick<VideoProtocolRow, "smart">,
  { model, mount }: LimitsOfMount
): VideoProtocolRow["smart"] => {
  if (model?.smart === false || mount?.smart === false) return "never"
  return model?.smart === true && smart !== "always" ? "usage_billed" : smart
}

const commonInputs = (one: InputLimits | undefined, other: InputLimits | undefined) => {
  if (one === undefined || other === undefined) return one ?? other
  const common: Partial<Record<InputRole, number>> = {}
  for (const role of inputRoles) common[role] = Math.min(one[role] ?? 0, other[role] ?? 0)
  return common
}

const ratiosOf = (
  row: Pick<VideoProtocolRow, "ratios" | "acceptedRatios">,
  { model, mount }: LimitsOfMount
): Pick<VideoOffer, "ratios" | "acceptedRatios"> => {
  const ownRatios = model?.ratios ?? row.acceptedRatios
  if (ownRatios === undefined && mount?.ratios === undefined) {
    return row.ratios === undefined ? {} : { ratios: row.ratios }
  }
  const ratios = common(ownRatios ?? row.ratios ?? allRatios, mount?.ratios)
  return { ratios, acceptedRatios: ratios }
}

/**
 * The offer of a mount. Without limits it is the protocol's row; a relay has the ratios of the
 * protocol under which the model is listed. Limits of the model replace what the row has, and
 * limits of the mount leave a part of that.
 */
export const videoOffer = (
  row: VideoProtocolRow,
  listed: VideoProtocolRow | undefined,
  limits: LimitsOfMount
): VideoOffer => {
  const { model, mount } = limits
  const { onlySeconds } = row
  const ownSeconds = onlySeconds === undefined ? row.seconds : { one_of: onlySeconds }
  const seconds = model?.seconds ?? ownSeconds
  const shape: Pick<VideoProtocolRow, "ratios" | "acceptedRatios" | "isShapedByImage"> =
    (row.relays ? listed : row) ?? {}
  const inputs = commonInputs(model?.inputs, mount?.inputs)
  const resolutions = inTableOrder(
    common(model?.resolutions ?? row.resolutions, mount?.resolutions)
  )
  const prompts = [model?.max_prompt, mount?.max_prompt].filter((most) => most !== undefined)
  return {
    ...offerOfSeconds(
      mount?.seconds === undefined ? seconds : commonSeconds(seconds, mount.seconds)
    ),
    smart: smartOf(row, limits),
    resolutions,
    ...(row.hasFixedResolution === true && resolutions.length === 0
      ? { hasFixedResolution: true }
      : {}),
    ...(row.secondsAt === undefined ? {} : { secondsAt: row.secondsAt }),
    ...ratiosOf(shape, limits),
    ...(shape.isShapedByImage === undefined ? {} : { isShapedByImage: shape.isShapedByImage }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(prompts.length === 0 ? {} : { maxPrompt: Math.min(...prompts) }),
    canBeSilent: model?.silent !== false && mount?.silent !== false,
    canSound: model?.sound !== false && mount?.sound !== false,
    ...(row.shots === undefined ? {} : { shots: row.shots })
  }
}

/**
 * The offer for orders in one form, which may have fewer seconds and resolutions. Limits that leave
 * none of them stay as they are: the adapter refuses what the form does not have.
 */
export const offerInForm = <Offer extends SkuOffer>(
  offer: Offer,
  form: Pick<VideoForm, "onlySeconds" | "resolutions"> | null
): Offer => {
  if (form === null) return offer
  const { onlySeconds, resolutions } = form
  const own = offer.onlySeconds === undefined ? offer.seconds : { one_of: offer.onlySeconds }
  const narrower = onlySeconds === undefined ? own : commonSeconds(own, { one_of: onlySeconds })
  return {
    ...offer,
    ...offerOfSeconds(narrower),
    resolutions: common(offer.resolutions, resolutions)
  }
}

const inTableOrder = (resolutions: ReadonlyArray<Resolution>): ReadonlyArray<Resolution> =>
  Resolution.literals.filter((resolution) => resolutions.includes(resolution))

/**
 * The longest output that an order with -1 may get, if the limits of the model state one. All
 * mounts of a model have the same, so that they share the quote of such an order.
 */
export const longestSecondsOf = (model: VideoLimits | undefined): number | undefined =>
  model?.seconds === undefined ? undefined : Math.max(...secondsOfLimit(model.seconds))

/** The largest value, or undefined (without a limit) if one of the values is undefined. */
const widest = (values: ReadonlyArray<number | undefined>): number | undefined => {
  const known = values.filter((value) => value !== undefined)
  return known.length < values.length ? undefined : Math.max(...known)
}

const inputsTogether = (offers: ReadonlyArray<VideoOffer>): InputLimits | undefined => {
  const limits = offers.flatMap(({ inputs }) => inputs ?? [])
  if (limits.length < offers.length) return undefined
  const together: Partial<Record<InputRole, number>> = {}
  for (const role of inputRoles) {
    const most = Math.max(...limits.map((inputs) => inputs[role] ?? 0))
    if (most > 0) together[role] = most
  }
  return together
}

const ratiosTogether = (offers: ReadonlyArray<VideoOffer>): ReadonlyArray<Ratio> | undefined => {
  const lists = offers.flatMap(({ acceptedRatios }) =>
    acceptedRatios === undefined ? [] : [acceptedRatios]
  )
  if (lists.length < offers.length) return undefined
  return allRatios.filter((ratio) => lists.some((list) => list.includes(ratio)))
}

/** The union of the offers of several mounts; a single mount may lack a part of it. */
export const offersTogether = (offers: Arr.NonEmptyReadonlyArray<VideoOffer>): VideoOffer => {
  const inputs = inputsTogether(offers)
  const acceptedRatios = ratiosTogether(offers)
  const maxPrompt = widest(offers.map((offer) => offer.maxPrompt))
  const shots = shotLimitsTogether(offers.flatMap((offer) => offer.shots ?? []))
  return {
    ...offeredTogether(offers),
    ...(inputs === undefined ? {} : { inputs }),
    ...(acceptedRatios === undefined ? {} : { acceptedRatios, ratios: acceptedRatios }),
    ...(maxPrompt === undefined ? {} : { maxPrompt }),
    canBeSilent: offers.some(({ canBeSilent }) => canBeSilent),
    canSound: offers.some(({ canSound }) => canSound),
    ...(shots === undefined ? {} : { shots })
  }
}

const fieldOf: Readonly<Record<InputRole, VideoBlock["type"]>> = {
  first_frame: "image",
  middle_frame: "image",
  last_frame: "image",
  reference_image: "image",
  reference_video: "video",
  reference_audio: "audio",
  edit_video: "video",
  extend_video: "video"
}

const refuse = (param: string, message: string) =>
  Result.fail(new InvalidRequest({ message: `${param}: ${message}`, param }))

/** The roles by which an order is sent, in the order of its media. */
type RolesOf = (blocks: ReadonlyArray<VideoBlock>) => ReadonlyArray<InputRole>

const withRole = (blocks: ReadonlyArray<VideoBlock>, role: ImageRole): ReadonlyArray<VideoBlock> =>
  blocks.map((block) => (block.type === "image" ? { ...block, role: block.role ?? role } : block))

/**
 * The ways in which the media can be ordered, as images without a role may have several: the one
 * in which the adapter sends them, a first frame, and references.
 */
const readingsOf = (
  blocks: ReadonlyArray<VideoBlock>
): Arr.NonEmptyReadonlyArray<ReadonlyArray<VideoBlock>> => {
  const roles = blocks.flatMap((block) => (block.type === "image" ? [block.role] : []))
  const withoutRole = roles.filter((role) => role === null).length
  if (withoutRole === 0) return [blocks]
  const references = withRole(blocks, "reference_image")
  return withoutRole === 1 && !roles.includes("first_frame")
    ? [blocks, withRole(blocks, "first_frame"), references]
    : [blocks, references]
}

const checkRoles = (
  inputs: InputLimits,
  roles: ReadonlyArray<InputRole>
): Result.Result<void, InvalidRequest> => {
  for (const role of inputRoles) {
    const count = roles.filter((other) => other === role).length
    if (count > (inputs[role] ?? 0)) {
      return refuse(
        fieldOf[role],
        `The order has ${count} of ${role}, and this model takes ${describeTakes(inputs)}`
      )
    }
  }
  return Result.void
}

/**
 * Checks the media of an order against the limits, and gives images without a role the role that
 * the limits accept, if they do not accept the one in which the adapter would send them.
 */
const checkInputs = (
  { inputs }: Pick<VideoOffer, "inputs">,
  blocks: ReadonlyArray<VideoBlock>,
  rolesOf: RolesOf
): Result.Result<ReadonlyArray<VideoBlock>, InvalidRequest> => {
  if (inputs === undefined) return Result.succeed(blocks)
  const [asSent, ...others] = Arr.map(readingsOf(blocks), (reading) =>
    Result.map(checkRoles(inputs, rolesOf(reading)), () => reading)
  )
  return Result.orElse(asSent, () => others.find(Result.isSuccess) ?? asSent)
}

const checkRatio = (
  { acceptedRatios }: Pick<VideoOffer, "acceptedRatios">,
  ratio: string | null
): Result.Result<void, InvalidRequest> => {
  if (acceptedRatios === undefined || ratio === null) return Result.void
  if (acceptedRatios.some((accepted) => accepted === ratio)) return Result.void
  return refuse(
    "ratio",
    `${JSON.stringify(ratio)} is not offered: this model takes ${acceptedRatios.join(", ")}. ` +
      `The nearest is ${nearestRatio(ratio, acceptedRatios)}`
  )
}

const checkSound = (
  { canBeSilent, canSound }: VideoOffer,
  hasSound: boolean | null
): Result.Result<void, InvalidRequest> => {
  if (hasSound === null || (hasSound ? canSound : canBeSilent)) return Result.void
  return refuse(
    "generate_audio",
    `This model makes no video ${hasSound ? "with" : "without"} sound; ` +
      `the nearest is ${!hasSound}, or leave the field out`
  )
}

/**
 * Checks media, shots, texts, ratio and sound of an order against the limits; duration and resolution are
 * checked by `resolveSku`. The result is the order with the roles, the ratio and the sound that
 * the limits decide.
 */
export const checkLimits = (
  offer: VideoOffer,
  input: VideoInput,
  rolesOf: RolesOf
): Result.Result<VideoInput, InvalidRequest> =>
  Result.gen(function* () {
    const blocks = yield* checkInputs(offer, input.blocks, rolesOf)
    yield* checkShots(offer.shots, input.blocks)
    const characters = textOf(input.blocks).length
    if (offer.maxPrompt !== undefined && characters > offer.maxPrompt) {
      return yield* refuse(
        "prompt",
        `Expected at most ${offer.maxPrompt} characters of text in all, not ${characters}`
      )
    }
    yield* checkRatio(offer, input.ratio)
    yield* checkSound(offer, input.generateAudio)
    // Where only some choices are offered, one is sent, as the vendor's default may be another one.
    const onlySound = offer.canSound && offer.canBeSilent ? null : offer.canSound
    const isShapedByText = blocks.every(({ type }) => type === "text")
    const onlyRatio =
      offer.acceptedRatios === undefined || !isShapedByText ? null : defaultRatioOf(offer)
    return {
      ...input,
      blocks,
      ratio: input.ratio ?? onlyRatio,
      generateAudio: input.generateAudio ?? onlySound
    }
  })

/**
 * The ratio of a video from text alone that is ordered by its size: 16:9, or the first accepted one
 * if that is not accepted.
 */
export const defaultRatioOf = ({ acceptedRatios }: Pick<VideoOffer, "acceptedRatios">): Ratio =>
  acceptedRatios === undefined || acceptedRatios.includes(DEFAULT_RATIO)
    ? DEFAULT_RATIO
    : (acceptedRatios[0] ?? DEFAULT_RATIO)

const DEFAULT_RATIO: Ratio = "16:9"
