/** The nine modalities and what the service does with each. */
import { Schema, Struct } from "effect"

interface Row {
  /** The short name that `GET /v1/models?modality=` accepts; null if there is none. */
  readonly filter: string | null
  readonly endpoint: string | null
  /** The models of a modality `by_mount` are open where a protocol that serves them is mounted. */
  readonly status: "open" | "by_mount" | "planned"
}

export const modalities = {
  chat: { filter: "language", endpoint: "/v1/chat/completions", status: "open" },
  vlm: { filter: "image-text", endpoint: "/v1/chat/completions", status: "open" },
  embedding: { filter: "vector", endpoint: "/v1/embeddings", status: "open" },
  rerank: { filter: "rerank", endpoint: "/v1/rerank", status: "by_mount" },
  image: { filter: "image", endpoint: "/v1/images/generations", status: "open" },
  tts: { filter: null, endpoint: "/v1/audio/speech", status: "by_mount" },
  asr: { filter: null, endpoint: "/v1/audio/transcriptions", status: "by_mount" },
  video: { filter: "video", endpoint: "/v1/videos/generations", status: "open" },
  omni: { filter: null, endpoint: null, status: "planned" }
} as const satisfies Record<string, Row>

export const Modality = Schema.Literals(Struct.keys(modalities)).annotate({
  description: "What a model takes and makes, and so which endpoint serves it"
})
export type Modality = typeof Modality.Type

/** Whether models of the modality generate no output that is billed by tokens. */
export const isBilledByInput = (modality: Modality): boolean =>
  modality === "embedding" || modality === "rerank"

/** Every value that `?modality=` accepts: the modalities and their short names. */
export const modalityFilters: ReadonlyMap<string, Modality> = new Map(
  Struct.keys(modalities).flatMap((modality) =>
    [modality, modalities[modality].filter ?? modality].map((name) => [name, modality] as const)
  )
)
