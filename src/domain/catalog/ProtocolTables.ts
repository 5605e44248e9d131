/** The protocols that the gateway knows, by name. */
import { type ImageProtocolRow, imageProtocols } from "../image/ImageProtocol.ts"
import { type VideoProtocolRow, videoProtocols } from "../video/VideoProtocol.ts"

/** The features of a protocol for chat, image understanding and embedding models. */
interface TextProtocolRow {
  /** Whether the protocol offers embeddings. */
  readonly embeddings: boolean
}

export const textProtocols = {
  openai: { embeddings: true }
} as const satisfies Record<string, TextProtocolRow>

export type TextProtocol = keyof typeof textProtocols

export interface ProtocolTables {
  readonly video: ReadonlyMap<string, VideoProtocolRow>
  readonly image: ReadonlyMap<string, ImageProtocolRow>
  /** Protocols of the modalities chat, vlm and embedding. */
  readonly text: ReadonlyMap<string, TextProtocolRow>
}

/** The protocols that come with the gateway. */
export const builtInProtocols: ProtocolTables = {
  video: new Map(Object.entries(videoProtocols)),
  image: new Map(Object.entries(imageProtocols)),
  text: new Map(Object.entries(textProtocols))
}
