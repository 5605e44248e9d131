/** Models that the endpoint does not serve, or nobody yet. */
import {
  asRich,
  chat,
  embed,
  image,
  quote,
  rerank,
  row,
  speech,
  transcription,
  transcriptionForm,
  video
} from "./Row.ts"

/** Every endpoint that orders by a model, or will. */
const endpoints = {
  videos: video,
  images: image,
  chat,
  embeddings: embed,
  quotes: quote,
  rerank,
  speech,
  transcriptions: transcription,
  "transcriptions as a form": transcriptionForm
}
type Endpoint = keyof typeof endpoints

const reserved = { "rank-1": "rerank", "speak-1": "tts", "listen-1": "asr", "omni-1": "omni" }

const notReady = Object.entries(reserved).flatMap(([model, modality]) =>
  Object.entries(endpoints).map(([endpoint, body]) =>
    row(
      "modality_not_ready",
      `a model of modality ${modality} at ${endpoint}`,
      asRich(body({ model })),
      {
        message: `"${model}" is a model of modality ${modality}, which is not open yet; GET /v1/models tells which are`,
        param: "model"
      }
    )
  )
)

/** Of each open modality: a model, where it belongs, and the endpoints that do not take it. */
const open: ReadonlyArray<
  readonly [model: string, modality: string, home: string, strangers: ReadonlyArray<Endpoint>]
> = [
  ["film-1", "video", "/v1/videos/generations", ["images", "chat", "embeddings", "rerank"]],
  ["paint-1", "image", "/v1/images/generations", ["videos", "chat", "embeddings", "speech"]],
  ["talk-1", "chat", "/v1/chat/completions", ["videos", "images", "embeddings", "transcriptions"]],
  ["look-1", "vlm", "/v1/chat/completions", ["videos", "images", "embeddings", "rerank"]],
  [
    "vector-1",
    "embedding",
    "/v1/embeddings",
    ["videos", "images", "chat", "transcriptions as a form"]
  ]
]

const wanted: Readonly<Record<Exclude<Endpoint, "quotes">, string>> = {
  videos: "video",
  images: "image",
  chat: "chat or vlm",
  embeddings: "embedding",
  rerank: "rerank",
  speech: "tts",
  transcriptions: "asr",
  "transcriptions as a form": "asr"
}

// A quote is read by the model's own modality, so there it cannot mismatch.
const mismatch = open.flatMap(([model, modality, home, strangers]) =>
  strangers.flatMap((endpoint) =>
    endpoint === "quotes"
      ? []
      : [
          row(
            "modality_mismatch",
            `a model of modality ${modality} at ${endpoint}`,
            asRich(endpoints[endpoint]({ model })),
            {
              message: `"${model}" is a model of modality ${modality}, which POST ${home} takes; this endpoint takes models of modality ${wanted[endpoint]}`,
              param: "model"
            }
          )
        ]
  )
)

const notFound = Object.entries(endpoints).map(([endpoint, body]) =>
  row("model_not_found", `a name no model has at ${endpoint}`, asRich(body({ model: "nobody" })), {
    message: 'No model is called "nobody"; GET /v1/models lists those this key may order',
    param: "model"
  })
)

export const modalityRows = [...notReady, ...mismatch, ...notFound]
