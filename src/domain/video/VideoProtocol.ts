/** The video protocols: what a client may order and how it is billed. */
import type { VideoFamily } from "./families/VideoFamily.ts"
import { contentFamilies } from "./families/vp_a.ts"
import { unifiedFamilies } from "./families/vp_d.ts"
import { tierFamilies } from "./families/vp_e.ts"
import { cloudFamilies } from "./families/vp_f.ts"
import type { Ratio } from "./sizes.ts"
import type { Resolution } from "./tiers.ts"
import {
  blockParameters,
  cloudParameters,
  noParameters,
  tierParameters,
  unifiedParameters,
  type VideoParameters
} from "./videoParameters.ts"

export type VideoBilling = "token_video" | "second_video"

/** A way the relay speaks; vp_a and vp_b share one, the others are named after their protocol. */
export type RelayFamily = "a" | "d" | "e" | "f"

/** What one protocol offers; a new vendor begins with such a row. */
export interface VideoProtocolRow extends VideoParameters {
  /** What is known of its vendor's models, the first that an id fits; others go by their inputs alone. */
  readonly families?: ReadonlyArray<VideoFamily>
  /** Closed interval of whole seconds. */
  readonly seconds: readonly [min: number, max: number]
  /** Who may ask for -1, the length the model chooses itself. */
  readonly smart: "never" | "always" | "token_billed"
  /** Whitelist in the protocol's spelling. Empty: the upstream takes none, and any value is accepted. */
  readonly resolutions: ReadonlyArray<Resolution>
  /** The ratios its vendor has sizes for, of those in `sizes.ts`; all of them when left out. */
  readonly ratios?: ReadonlyArray<Ratio>
  /** A picture that is given decides the shape, and no ratio is sent beside it. */
  readonly isShapedByImage?: boolean
  /** `null`: the mounted catalog model decides. */
  readonly billing: VideoBilling | null
  /** The channel must hold an application id. */
  readonly needsAppId: boolean
  /** It speaks by the family of the protocol a model is listed under, and serves no other model. */
  readonly relays: boolean
  /** How a relay serves models listed under this protocol; `null`: it does not. */
  readonly relayFamily: RelayFamily | null
}

export const videoProtocols = {
  vp_a: {
    seconds: [5, 15],
    smart: "never",
    resolutions: ["480p", "720p", "1080p", "4K"],
    billing: "token_video",
    needsAppId: false,
    relays: false,
    relayFamily: "a",
    families: contentFamilies,
    ...blockParameters
  },
  vp_b: {
    seconds: [4, 15],
    smart: "always",
    resolutions: [],
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
    billing: null,
    needsAppId: false,
    relays: true,
    relayFamily: null,
    ...noParameters
  },
  vp_d: {
    families: unifiedFamilies,
    seconds: [3, 15],
    smart: "never",
    resolutions: ["720p", "1080p", "4K"],
    ratios: ["16:9", "9:16", "1:1"],
    isShapedByImage: true,
    billing: "second_video",
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
    billing: "second_video",
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
    billing: "second_video",
    needsAppId: false,
    relays: false,
    relayFamily: "f",
    families: cloudFamilies,
    ...cloudParameters
  }
} as const satisfies Record<string, VideoProtocolRow>

export type VideoProtocol = keyof typeof videoProtocols

/** Whether a protocol can call a model listed under another: a relay needs a family for it. */
export const canServe = (row: VideoProtocolRow, listed: VideoProtocolRow | undefined): boolean =>
  !row.relays || (listed !== undefined && listed.relayFamily !== null)

/** The default tier: used when a request leaves duration or resolution out. */
export const DEFAULT_SECONDS = 5
export const DEFAULT_RESOLUTION: Resolution = "720p"

/** The default length, or the nearest the protocol offers. */
export const defaultSecondsOf = ({
  seconds: [min, max]
}: Pick<VideoProtocolRow, "seconds">): number => Math.min(Math.max(DEFAULT_SECONDS, min), max)

/** Client spelling of the length the model chooses itself. */
export const SMART_SECONDS = -1
