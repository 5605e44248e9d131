/** Checks the limits of video models and of their mounts. */
import { Result } from "effect"
import type { FieldFault } from "../requestFields.ts"
import {
  describeTakes,
  familyOf,
  inputRoles,
  type VideoFamily
} from "../video/families/VideoFamily.ts"
import { ratios as allRatios } from "../video/sizes.ts"
import { Resolution } from "../video/tiers.ts"
import {
  familiesOf,
  placeOrder,
  type VideoProtocolRow,
  writableRatios,
  writableResolutions
} from "../video/VideoProtocol.ts"
import { videoSecondPrice, videoTokenPrice } from "../video/VideoQuote.ts"
import {
  describeSeconds,
  hasOneOf,
  secondsBetween,
  secondsOfLimit,
  type VideoLimits
} from "../video/videoLimits.ts"
import { type VideoOffer, videoOffer } from "../video/videoOffer.ts"
import { pricedResolutions as pricedInTable } from "../video/videoPriceTable.ts"
import type { Model, Mount } from "./CatalogDocument.ts"
import type { Prices } from "./Prices.ts"

type Faults = Generator<FieldFault, void>

/** A video model as one of its mounts calls it; without mounts, as its own protocol would. */
export interface VideoUse {
  readonly model: Model
  /** The path of the model in the document, such as `models[0]`. */
  readonly modelPath: string
  readonly mount: Mount | null
  readonly mountPath: string
  readonly protocol: string
  readonly row: VideoProtocolRow
  /** The row of the protocol under which the model is listed. */
  readonly listed: VideoProtocolRow | undefined
}

const upstreamModelOf = ({ model, mount }: VideoUse): string => mount?.upstream_model ?? model.id

export function* listFaults(
  path: string,
  list: ReadonlyArray<string | number> | undefined
): Faults {
  if (list === undefined) return
  if (list.length === 0) {
    yield { path, message: "an empty list leaves nothing to order; leave the field out" }
  }
  for (const [index, entry] of list.entries()) {
    if (list.indexOf(entry) === index) continue
    yield { path: `${path}[${index}]`, message: `${JSON.stringify(entry)} is listed twice` }
  }
}

function* secondsFaults(path: string, seconds: VideoLimits["seconds"]): Faults {
  if (seconds === undefined) return
  if (hasOneOf(seconds)) return yield* listFaults(`${path}.one_of`, seconds.one_of)
  const [min, max] = seconds
  if (min > max) {
    yield { path, message: `the least seconds, ${min}, are more than the most, ${max}` }
  }
}

/** Contradictions of limits in themselves. */
export function* limitShapeFaults(path: string, limits: VideoLimits): Faults {
  yield* secondsFaults(`${path}.seconds`, limits.seconds)
  yield* listFaults(`${path}.resolutions`, limits.resolutions)
  yield* listFaults(`${path}.ratios`, limits.ratios)
  if (limits.silent === false && limits.sound === false) {
    yield {
      path: `${path}.sound`,
      message: "silent and sound are both false, which leaves nothing to order"
    }
  }
}

const missing = <A>(list: ReadonlyArray<A>, of: ReadonlyArray<A>): ReadonlyArray<A> => {
  const allowed = new Set(of)
  return list.filter((entry) => !allowed.has(entry))
}

const NARROWS = "a mount can only narrow the limits of its model"

function* widerInputs(path: string, wide: VideoLimits, narrow: VideoLimits): Faults {
  if (wide.inputs === undefined || narrow.inputs === undefined) return
  for (const role of inputRoles) {
    const most = wide.inputs[role] ?? 0
    if ((narrow.inputs[role] ?? 0) <= most) continue
    yield { path: `${path}.inputs.${role}`, message: `the model takes ${most}, and ${NARROWS}` }
  }
}

function* widerSwitches(path: string, wide: VideoLimits, narrow: VideoLimits): Faults {
  for (const name of ["smart", "silent", "sound"] as const) {
    if (narrow[name] !== true || wide[name] !== false) continue
    yield { path: `${path}.${name}`, message: `the model has ${name} false, and ${NARROWS}` }
  }
}

/** Finds what a mount has and its model, or else the protocol's row, has not. */
function* widerFaults({ model, mount, mountPath, row, listed }: VideoUse): Faults {
  const limits = mount?.limits
  if (limits === undefined) return
  const path = `${mountPath}.limits`
  const wide = model.limits ?? {}
  const offer = videoOffer(row, listed, { model: wide })
  const seconds = offer.onlySeconds ?? secondsBetween(offer.seconds)
  if (limits.seconds !== undefined && missing(secondsOfLimit(limits.seconds), seconds).length > 0) {
    yield {
      path: `${path}.seconds`,
      message: `the model has ${describeSeconds(seconds)} seconds, and ${NARROWS}`
    }
  }
  for (const resolution of missing(limits.resolutions ?? [], offer.resolutions)) {
    yield {
      path: `${path}.resolutions`,
      message: `the model has ${offer.resolutions.join(", ") || "no resolutions"} and not ${resolution}, and ${NARROWS}`
    }
  }
  const ratios = offer.ratios ?? allRatios
  for (const ratio of missing(limits.ratios ?? [], ratios)) {
    yield {
      path: `${path}.ratios`,
      message: `the model has ${ratios.join(", ")} and not ${ratio}, and ${NARROWS}`
    }
  }
  if ((limits.max_prompt ?? 0) > (wide.max_prompt ?? Number.POSITIVE_INFINITY)) {
    yield {
      path: `${path}.max_prompt`,
      message: `the model takes ${wide.max_prompt} characters, and ${NARROWS}`
    }
  }
  yield* widerInputs(path, wide, limits)
  yield* widerSwitches(path, wide, limits)
}

/** Finds the entries of a limit that the adapter cannot write into a request. */
function* unwritable<Value>(
  use: VideoUse,
  field: "resolutions" | "ratios",
  lists: { readonly model?: ReadonlyArray<Value>; readonly mount?: ReadonlyArray<Value> },
  writable: ReadonlyArray<Value>
): Faults {
  const choice =
    writable.length === 0 ? `sends no ${field.slice(0, -1)}` : `sends ${writable.join(", ")} alone`
  for (const [path, list = []] of [
    [use.modelPath, lists.model],
    [use.mountPath, lists.mount]
  ] as const) {
    for (const [index, value] of list.entries()) {
      if (writable.includes(value)) continue
      yield {
        path: `${path}.limits.${field}[${index}]`,
        message: `${use.protocol} ${choice} to ${JSON.stringify(upstreamModelOf(use))}, and not ${value}`
      }
    }
  }
}

function* unwritableFaults(use: VideoUse): Faults {
  const { model, mount, row, listed } = use
  const call = { row, listed, upstreamModel: upstreamModelOf(use) }
  const listsOf = <Field extends "resolutions" | "ratios">(field: Field) => ({
    model: model.limits?.[field] ?? [],
    mount: mount?.limits?.[field] ?? []
  })
  yield* unwritable(
    use,
    "resolutions",
    listsOf("resolutions"),
    writableResolutions(row, listed, call.upstreamModel)
  )
  yield* unwritable(use, "ratios", listsOf("ratios"), writableRatios(call))
}

/** Finds limits that leave only a choice of sound which the model does not have. */
function* soundFaults(use: VideoUse): Faults {
  const { model, modelPath, mount, mountPath, row, listed, protocol } = use
  const upstreamModel = upstreamModelOf(use)
  const { sound } = placeOrder({ row, listed, upstreamModel }, [])
  const field = sound === "always" ? "sound" : "silent"
  if (sound !== "always" && sound !== "never") return
  for (const [path, limits] of [
    [modelPath, model.limits],
    [mountPath, mount?.limits]
  ] as const) {
    if (limits?.[field] !== false) continue
    yield {
      path: `${path}.limits.${field}`,
      message: `${JSON.stringify(upstreamModel)}, which ${protocol} calls, ${sound} makes sound, so that false leaves nothing to order`
    }
  }
}

/**
 * Finds -1 for videos whose charge is by ordered seconds: nobody would have ordered any number of
 * seconds.
 */
function* smartFaults({ model, modelPath, mount, mountPath, row, protocol }: VideoUse): Faults {
  const billing = model.prices?.kind ?? row.billing
  if (billing !== "second_video") return
  for (const [path, limits] of [
    [modelPath, model.limits],
    [mountPath, mount?.limits]
  ] as const) {
    if (limits?.smart !== true) continue
    yield {
      path: `${path}.limits.smart`,
      message: `${protocol} bills ${JSON.stringify(model.id)} by ordered seconds, which -1 leaves open`
    }
  }
}

/** The resolutions that have a price; null for prices that are not of videos. */
const pricedResolutions = (prices: Prices): ReadonlyArray<Resolution> | null => {
  switch (prices.kind) {
    case "token_video":
      return Resolution.literals.filter((resolution) =>
        [false, true].some((withVideo) =>
          Result.isSuccess(videoTokenPrice(prices, resolution, withVideo))
        )
      )
    case "second_video":
      return Resolution.literals.filter((resolution) =>
        Result.isSuccess(videoSecondPrice(prices, resolution))
      )
    case "video_table":
      return pricedInTable(prices) ?? Resolution.literals
    default:
      return null
  }
}

/** Finds limits whose resolutions have no price at all. */
function* unpricedFaults({ model, modelPath, mount, mountPath, row, listed }: VideoUse): Faults {
  const priced = model.prices === undefined ? null : pricedResolutions(model.prices)
  if (priced === null || priced.length === 0) return
  const message = (resolutions: ReadonlyArray<Resolution>) =>
    `of ${resolutions.join(", ")} none has a price: ${JSON.stringify(model.id)} has prices for ${priced.join(", ")} alone`
  const isPriced = (resolution: Resolution) => priced.includes(resolution)
  const ofModel = model.limits?.resolutions
  if (ofModel !== undefined && !ofModel.some(isPriced)) {
    yield { path: `${modelPath}.limits.resolutions`, message: message(ofModel) }
    return
  }
  if (mount?.limits?.resolutions === undefined) return
  const { resolutions } = videoOffer(row, listed, { model: model.limits, mount: mount.limits })
  if (resolutions.some(isPriced)) return
  yield { path: `${mountPath}.limits.resolutions`, message: message(resolutions) }
}

const hasLimits = ({ model, mount }: VideoUse): boolean =>
  model.limits !== undefined || mount?.limits !== undefined

/** Each fault once: mounts of one model often have the same faults. */
const distinct = (faults: Iterable<FieldFault>): ReadonlyArray<FieldFault> => [
  ...new Map([...faults].map((fault) => [`${fault.path}: ${fault.message}`, fault])).values()
]

/** Contradictions between the limits of models, their mounts, protocols and prices. */
export const limitUseFaults = (uses: ReadonlyArray<VideoUse>): ReadonlyArray<FieldFault> =>
  distinct(
    uses
      .filter(hasLimits)
      .flatMap((use) => [
        ...widerFaults(use),
        ...unwritableFaults(use),
        ...soundFaults(use),
        ...smartFaults(use),
        ...unpricedFaults(use)
      ])
  )

const familySeconds = ({ seconds, onlySeconds }: VideoFamily): ReadonlyArray<number> =>
  onlySeconds ?? secondsBetween(seconds)

const MAY_REFUSE = "the vendor may refuse what is beyond that"

/** A warning about a limit that is beyond what the vendor's table has, which it names. */
type Warn = (field: keyof VideoLimits, known: string) => FieldFault

function* beyondDurations(
  family: VideoFamily,
  row: VideoProtocolRow,
  limits: VideoLimits,
  offer: VideoOffer,
  warn: Warn
): Faults {
  const lengths = familySeconds(family)
  const known = [...lengths, ...secondsBetween(row.seconds)]
  const offered = offer.onlySeconds ?? secondsBetween(offer.seconds)
  if (limits.seconds !== undefined && missing(offered, known).length > 0) {
    yield warn("seconds", `${describeSeconds(lengths)} seconds`)
  }
  const isSmart = family.isSmart === true || row.smart !== "never"
  if (limits.smart === true && offer.smart !== "never" && !isSmart) {
    yield warn("smart", "no duration that the model chooses")
  }
}

function* beyondInputs({ forms }: VideoFamily, { inputs = {} }: VideoOffer, warn: Warn): Faults {
  for (const role of inputRoles) {
    const most = Math.max(0, ...forms.map(({ takes }) => takes[role] ?? 0))
    if ((inputs[role] ?? 0) <= most) continue
    yield warn("inputs", most === 0 ? `no ${role}` : describeTakes({ [role]: most }))
  }
}

/** Finds limits beyond both the protocol's row and the known family of the upstream model. */
function* beyondFamily(use: VideoUse): Faults {
  const { model, modelPath, mount, protocol, row, listed } = use
  const upstreamModel = upstreamModelOf(use)
  const family = familyOf(familiesOf(row, listed), upstreamModel)
  if (family === null) return
  const limits = model.limits ?? {}
  const offer = videoOffer(row, listed, { model: limits, mount: mount?.limits })
  const name = `${family.name}, which ${protocol} calls as ${JSON.stringify(upstreamModel)},`
  const warn: Warn = (field, known) => ({
    path: `${modelPath}.limits.${field}`,
    message: `${name} has ${known}; ${MAY_REFUSE}`
  })
  yield* beyondDurations(family, row, limits, offer, warn)
  const resolutions = [...family.resolutions, ...row.resolutions]
  if (limits.resolutions !== undefined && missing(offer.resolutions, resolutions).length > 0) {
    yield warn("resolutions", family.resolutions.join(", "))
  }
  const ratios = (row.relays ? listed : row)?.ratios ?? allRatios
  if (limits.ratios !== undefined && missing(offer.ratios ?? [], ratios).length > 0) {
    yield warn("ratios", ratios.join(", "))
  }
  yield* beyondInputs(family, offer, warn)
}

/** Limits beyond what the vendor's table has, which are accepted. */
export const limitWarnings = (uses: ReadonlyArray<VideoUse>): ReadonlyArray<FieldFault> =>
  distinct(uses.filter(hasLimits).flatMap((use) => [...beyondFamily(use)]))
