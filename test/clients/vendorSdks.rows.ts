/**
 * Orders that the vendors' own providers for the AI SDK can make, of every family we know, as far as
 * their vendor takes them: what is said to the package, and what the vendor must have booked of it.
 */
import type { generateImage, experimental_generateVideo as generateVideo } from "ai"
import type { Order } from "../../src/simulator/Book.ts"

type Said = Parameters<typeof generateVideo>[0]
type Options = NonNullable<Said["providerOptions"]>[string]

export interface VideoRow {
  readonly model: string
  readonly says: string
  readonly call: Pick<
    Said,
    | "prompt"
    | "aspectRatio"
    | "resolution"
    | "duration"
    | "seed"
    | "frameImages"
    | "inputReferences"
    | "generateAudio"
  >
  /** Fields of the vendor's own, as its package calls them; others go out as they are written. */
  readonly options?: Options
  readonly booked: Partial<Pick<Order, "seconds" | "resolution" | "ratio" | "generate_audio">>
  readonly inputs?: Partial<Order["inputs"]>
  /** Seconds that the vendor may bill beside those of the video: of input. */
  readonly inputSeconds?: number
  /** Tokens by the formula: width x height x (24 x seconds + 1) / 1024. */
  readonly tokens?: number
}

export interface ImageRow {
  readonly model: string
  readonly says: string
  readonly call: Pick<Parameters<typeof generateImage>[0], "prompt" | "n" | "size">
  readonly options?: Options
  readonly booked: Partial<Pick<Order, "size">>
  readonly pictures?: number
}

/** The vendors are done when they are first asked. */
export const prompt = "a lighthouse at dusk sim:slow=0"
export const file = (name: string) => `https://files.test/${name}`
export const [first, last] = [file("first.png"), file("last.png")]
export const faces = [file("1.png"), file("2.png"), file("3.png")]
export const [clip, sound] = [file("clip.mp4"), file("sound.mp3")]
/** The head of a picture, of which the package makes a data URL. */
export const bytes = new Uint8Array(
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64")
)

export const hd = { resolution: "1280x720", aspectRatio: "16:9" } as const
export const bookedHd = { resolution: "720p", ratio: "16:9" } as const
export const still = { prompt: { image: first, text: prompt } }
export const frames = {
  prompt,
  frameImages: [
    { image: first, frameType: "first_frame" as const },
    { image: last, frameType: "last_frame" as const }
  ]
}
