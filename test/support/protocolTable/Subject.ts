/** The data of the protocol table: what may be ordered of a model and what its vendor gets to see. */
import type { Tariff, Tier } from "./tariffs.ts"

/** An order as it goes to the vendor. */
export interface Wish {
  readonly prompt: string
  /** -1 where the length is left to the model. */
  readonly seconds: number
  readonly tier: Tier
  /** Our id of the task, for protocols that carry it. */
  readonly task: string
}

/** One form of input, ordered in every length and resolution. */
export interface Form {
  readonly says: string
  /** What the client writes beside model, prompt, duration and resolution. */
  readonly input: Readonly<Record<string, unknown>>
  /** Where the order goes; null when it has no form at this vendor and is not sent. */
  readonly path: string | null
  readonly body: (wish: Wish) => unknown
  /** The body of the vendor's HTTP 400, where it refuses; ids in it are written `<id>`. */
  readonly refusal?: (wish: Wish) => unknown
  /** The order is not sent although others of its form are. */
  readonly unsent?: (wish: Wish) => boolean
  readonly withVideo?: true
}

export interface Subject {
  readonly says: string
  /** Id in the protocol catalog. */
  readonly model: string
  /** As it starts its paths at the simulator. */
  readonly protocol: string
  readonly seconds: {
    readonly least: number
    readonly inside: number
    readonly most: number
    readonly smart: boolean
  }
  /** Resolutions on offer; null when any word is taken and 720p is billed. */
  readonly tiers: ReadonlyArray<Tier> | null
  readonly tariff: Tariff
  readonly forms: ReadonlyArray<Form>
}

/** Addresses of the media in the table's orders. */
export const I1 = "https://files.test/1.png"
export const I2 = "https://files.test/2.png"
export const A1 = "https://files.test/1.mp3"
export const V1 = "https://files.test/1.mp4"

/** What clients write for each form of input. */
export const inputs = {
  text: {},
  shaped: { ratio: "9:16", generate_audio: true },
  image: { image: I1 },
  images: { images: [I1, { url: I2 }] },
  audio: { audio_url: A1 },
  imageAndAudio: { image_url: { url: I1 }, audios: [A1] },
  video: { video: V1 },
  frames: {
    content: [
      { type: "image_url", role: "first_frame", image_url: { url: I1 } },
      { type: "image_url", role: "last_frame", image_url: { url: I2 } }
    ]
  }
} as const
