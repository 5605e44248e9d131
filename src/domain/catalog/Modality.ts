/** The nine modalities and what the service does with each ("Modality overview"). */
import { Schema, Struct } from "effect"

export type ModalityStatus = "open" | "coming_soon" | "planned"

interface Row {
  /** Short name accepted by `GET /v1/models?modality=`; null where the overview names none. */
  readonly filter: string | null
  readonly business: string
  readonly endpoint: string | null
  readonly billingUnit: string | null
  readonly status: ModalityStatus
}

export const modalities = {
  chat: {
    filter: "language",
    business: "language model",
    endpoint: "/v1/chat/completions",
    billingUnit: "tokens, input and output counted separately",
    status: "open"
  },
  vlm: {
    filter: "image-text",
    business: "image-text understanding",
    endpoint: "/v1/chat/completions",
    billingUnit: "tokens, images converted to tokens",
    status: "open"
  },
  embedding: {
    filter: "vector",
    business: "vector model",
    endpoint: "/v1/embeddings",
    billingUnit: "input tokens",
    status: "open"
  },
  rerank: {
    filter: "rerank",
    business: "reranking",
    endpoint: "/v1/rerank",
    billingUnit: "tokens of query and documents",
    status: "coming_soon"
  },
  image: {
    filter: "image",
    business: "image generation",
    endpoint: "/v1/images/generations",
    billingUnit: "images",
    status: "open"
  },
  tts: {
    filter: null,
    business: "speech synthesis",
    endpoint: "/v1/audio/speech",
    billingUnit: "characters",
    status: "coming_soon"
  },
  asr: {
    filter: null,
    business: "speech recognition",
    endpoint: "/v1/audio/transcriptions",
    billingUnit: "audio duration",
    status: "coming_soon"
  },
  video: {
    filter: "video",
    business: "video generation",
    endpoint: "/v1/videos/generations",
    billingUnit: "tokens or seconds",
    status: "open"
  },
  omni: {
    filter: null,
    business: "all-modality",
    endpoint: null,
    billingUnit: null,
    status: "planned"
  }
} as const satisfies Record<string, Row>

export const Modality = Schema.Literals(Struct.keys(modalities)).annotate({
  description: "What a model takes and makes, and so which endpoint serves it"
})
export type Modality = typeof Modality.Type

/** A reserved placeholder: calling it answers `modality_not_ready` (Modality overview, rule 2). */
export const isReserved = (modality: Modality): boolean => modalities[modality].status !== "open"

/** Every value `?modality=` takes: the modalities themselves and their filter short names. */
export const modalityFilters: ReadonlyMap<string, Modality> = new Map(
  Struct.keys(modalities).flatMap((modality) => {
    const { filter } = modalities[modality]
    return filter === null
      ? [[modality, modality] as const]
      : [[modality, modality] as const, [filter, modality] as const]
  })
)
