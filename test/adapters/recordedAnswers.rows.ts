/**
 * What vendors were seen to answer, by other people's clients, tests, issues and by the vendors' own
 * pages. The shapes, codes and statuses are theirs, as each source has them; every text and number
 * is made up. `source` names where a shape was seen.
 */
import type { ImageProtocol } from "../../src/domain/image/ImageProtocol.ts"
import type { KnownRefusal } from "../../src/domain/VendorOutcome.ts"
import type { VideoProtocol } from "../../src/domain/video/VideoProtocol.ts"

interface Recorded {
  readonly says: string
  readonly source: string
  /** 200 when left out. */
  readonly status?: number
  readonly body: unknown
}

interface OfVideo extends Recorded {
  readonly protocol: VideoProtocol | "replicate"
}

interface OfImages extends Recorded {
  readonly protocol: ImageProtocol
}

export interface SubmitRow extends OfVideo {
  readonly id: string
}

export interface PollRow extends OfVideo {
  readonly isMarked?: true
  /** What is read of it, as far as it matters. */
  readonly means: Readonly<Record<string, unknown>>
}

export interface ImagesRow extends OfImages {
  readonly means: Readonly<Record<string, unknown>>
}

/** An order that was not taken. */
export type RefusalRow = (OfVideo | OfImages) & {
  readonly upstreamModel: string
  readonly means:
    | {
        readonly effectiveStatus: number
        /** Null where the vendor may have begun. */
        readonly proof: KnownRefusal | null
        readonly isVerdict?: true
      }
    | "lost"
  /** Status of what the client is told, and what must not be in it. */
  readonly told: number
  readonly hides?: ReadonlyArray<string>
}

export const page = "the vendor's page of error codes"
export const ark = "public code of volcengine-python-sdk and vercel/ai packages/bytedance"
export const tanstack = "TanStack/ai packages/ai-byteplus"
export const newApi = "QuantumNous/new-api relay/channel/task"
export const comfy = "ComfyUI comfy_api_nodes"

export const FILE = "https://files.test/o.mp4?Expires=1"
export const MARKED = "https://files.test/o-marked.mp4?Expires=1"
export const PICTURE = "https://files.test/1.png?Expires=1"
export const ACCOUNT = "2100987654"
export const SITE = "help.vendor.test"

export const film = "seedance-1-0-pro-250528"
export const motion = "viduq3-pro"
export const clip = "kling-3.0"
export const scene = "wan2.6-r2v"
export const paint = "seedream-4-5-251128"
export const poster = "wan2.6-t2i"
