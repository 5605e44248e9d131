/** The protocols that the gateway knows, by name. */
import { type AudioProtocolRow, audioProtocols } from "../audio/AudioProtocol.ts"
import { type ImageProtocolRow, imageProtocols } from "../image/ImageProtocol.ts"
import { builtInDocuments } from "../queue/builtInDocuments.ts"
import type { QueueDocument } from "../queue/QueueDocument.ts"
import { imageRowOf, videoRowOf } from "../queue/queueRows.ts"
import { type VideoProtocolRow, videoProtocols } from "../video/VideoProtocol.ts"
import type { Modality } from "./Modality.ts"

/** The features of a protocol for chat, image understanding and embedding models. */
interface TextProtocolRow {
  /** Whether the protocol offers embeddings. */
  readonly embeddings: boolean
}

export const textProtocols = {
  openai: { embeddings: true },
  openai_responses: { embeddings: true }
} as const satisfies Record<string, TextProtocolRow>

export type TextProtocol = keyof typeof textProtocols

/** The features of a protocol for reranking models: it has none beyond the call itself. */
type RerankProtocolRow = Readonly<Record<never, never>>

export const rerankProtocols = {
  jina: {}
} as const satisfies Record<string, RerankProtocolRow>

export type RerankProtocol = keyof typeof rerankProtocols

export interface ProtocolTables {
  readonly video: ReadonlyMap<string, VideoProtocolRow>
  readonly image: ReadonlyMap<string, ImageProtocolRow>
  /** Protocols of the modalities chat, vlm and embedding. */
  readonly text: ReadonlyMap<string, TextProtocolRow>
  /** Absent, as `audio`, where a program that replaces the protocols has none. */
  readonly rerank?: ReadonlyMap<string, RerankProtocolRow>
  /** Protocols of the modalities tts and asr. */
  readonly audio?: ReadonlyMap<string, AudioProtocolRow>
  /** The tables without the protocols of the catalog's documents, if these ones have them. */
  readonly builtIn?: ProtocolTables
}

type DocumentRows = Pick<ProtocolTables, "video" | "image">

/** The rows of protocols that documents describe; each has those of the modalities of its models. */
export const documentRows = (documents: ReadonlyArray<QueueDocument>): DocumentRows => {
  const withModels = (modality: "video" | "image") =>
    documents.filter(({ models }) => models.some((model) => model.modality === modality))
  return {
    video: new Map(withModels("video").map((one) => [one.id, videoRowOf(one)] as const)),
    image: new Map(withModels("image").map((one) => [one.id, imageRowOf(one)] as const))
  }
}

const ofDocuments = documentRows(builtInDocuments)

/** The protocols that come with the gateway. */
export const builtInProtocols: ProtocolTables = {
  video: new Map<string, VideoProtocolRow>([
    ...Object.entries(videoProtocols),
    ...ofDocuments.video
  ]),
  image: new Map<string, ImageProtocolRow>([
    ...Object.entries(imageProtocols),
    ...ofDocuments.image
  ]),
  text: new Map(Object.entries(textProtocols)),
  rerank: new Map(Object.entries(rerankProtocols)),
  audio: new Map(Object.entries(audioProtocols))
}

/** The gateway's own protocols, with those of the documents of one catalog. */
export const protocolsWith = (
  tables: ProtocolTables,
  documents: ReadonlyArray<QueueDocument>
): ProtocolTables => {
  const builtIn = tables.builtIn ?? tables
  if (documents.length === 0) return builtIn
  const rows = documentRows(documents)
  return {
    ...builtIn,
    builtIn,
    video: new Map([...builtIn.video, ...rows.video]),
    image: new Map([...builtIn.image, ...rows.image])
  }
}

/** Whether a protocol serves models of the modality. */
export const servesModality = (
  protocols: ProtocolTables,
  protocol: string,
  modality: Modality
): boolean => {
  switch (modality) {
    case "video":
    case "image":
      return protocols[modality].has(protocol)
    case "rerank":
      return protocols.rerank?.has(protocol) === true
    case "chat":
    case "vlm":
      return protocols.text.has(protocol)
    case "embedding":
      return protocols.text.get(protocol)?.embeddings === true
    case "tts":
      return (protocols.audio?.get(protocol)?.speech ?? null) !== null
    case "asr":
      return (protocols.audio?.get(protocol)?.transcription ?? null) !== null
    case "omni":
      return false
  }
}
