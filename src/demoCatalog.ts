/**
 * The demo catalog on the simulator: at least one model for every protocol, and one for every
 * modality that is not available yet.
 */
import type { CatalogWrite } from "./domain/catalog/CatalogDocument.ts"
import type { Modality } from "./domain/catalog/Modality.ts"

type Catalog = typeof CatalogWrite.Encoded
type Prices = NonNullable<Catalog["models"][number]["prices"]>

/**
 * The fields that models of one sort share; `forms` lists the media that a model accepts as input.
 */
interface Sort {
  readonly modality: Modality
  readonly forms: ReadonlyArray<"text" | "image" | "video" | "audio">
  readonly prices: Prices
}

interface DemoModel extends Sort {
  readonly id: string
  /** The protocol under which the catalog lists the model. */
  readonly protocol: string
  /** The protocol of the model's mount; set only where the model is called through the relay. */
  readonly relay?: "vp_c" | "ip_c"
  /** The model id at the simulated vendor. */
  readonly upstream: string
}

/**
 * The reference list prices. `vp_b` uses them too, because it renders its only resolution at the
 * base price.
 */
const film: Sort = {
  modality: "video",
  forms: ["text", "image", "video", "audio"],
  prices: {
    kind: "token_video",
    per_million_tokens: {
      base: { without_video: "46", with_video: "28" },
      "1080p": { without_video: "51", with_video: "31" },
      "4K": { without_video: "26", with_video: "16" }
    }
  }
}
const clip = (...forms: Sort["forms"]): Sort => ({
  modality: "video",
  forms,
  prices: { kind: "second_video", per_second: { "720p": "0.6", "1080p": "1.0" } }
})
const motion: Sort = {
  modality: "video",
  forms: ["text", "image"],
  prices: { kind: "second_video", per_second: { "540p": "0.3", "720p": "0.5", "1080p": "0.8" } }
}
/** Two prices of a second: up to 1080p, and of 4K. */
const shot = (low: string, high: string, ...forms: Sort["forms"]): Sort => ({
  modality: "video",
  forms,
  prices: { kind: "second_video", per_second: { "720p": low, "1080p": low, "4K": high } }
})
const reel: Sort = {
  modality: "video",
  forms: ["text", "image", "video", "audio"],
  prices: {
    kind: "video_table",
    unit: "second",
    lines: [
      { resolution: "768p", price: "0.08" },
      { resolution: "2K", price: "0.13" }
    ],
    input_seconds: true,
    reference_surcharge: { beyond: 5, price: "0.04" }
  }
}
const takingOnly = (sort: Sort, ...forms: Sort["forms"]): Sort => ({ ...sort, forms })
const paint = (per_image: string, ...forms: Sort["forms"]): Sort => ({
  modality: "image",
  forms,
  prices: { kind: "image", per_image }
})
const sketch: Sort = {
  modality: "image",
  forms: ["text", "image"],
  prices: {
    kind: "image_tokens",
    per_million_text_input: "2",
    per_million_image_input: "2",
    per_million_image_output: "120",
    most_output_tokens: { "*": { "*": 2000 } }
  }
}
const tokens = (per_million_input: string, per_million_output: string): Prices => ({
  kind: "tokens",
  per_million_input,
  per_million_output
})
const talk: Sort = { modality: "chat", forms: ["text"], prices: tokens("2", "8") }
const look: Sort = { modality: "vlm", forms: ["text", "image"], prices: tokens("3", "9") }
const vector: Sort = {
  modality: "embedding",
  forms: ["text"],
  prices: { kind: "tokens", per_million_input: "0.5" }
}

const rank: Sort = {
  modality: "rerank",
  forms: ["text"],
  prices: { kind: "tokens", per_million_input: "0.8" }
}
const voice: Sort = {
  modality: "tts",
  forms: ["text"],
  prices: { kind: "characters", per_million_characters: "100" }
}

const listen: Sort = {
  modality: "asr",
  forms: ["audio"],
  prices: { kind: "audio_seconds", per_second: "0.0001" }
}

/** The main models, in the order in which new users should see them. */
const usual: ReadonlyArray<DemoModel> = [
  { ...film, id: "film-1", protocol: "vp_a", upstream: "doubao-seedance-2-0-260128" },
  { ...clip("text", "image", "video"), id: "clip-1", protocol: "vp_d", upstream: "kling-v3-omni" },
  { ...paint("0.2", "text", "image"), id: "paint-1", protocol: "ip_a", upstream: "sim-paint-1" },
  { ...film, id: "film-2", protocol: "vp_b", upstream: "sim-film-3" },
  { ...motion, id: "motion-1", protocol: "vp_e", upstream: "viduq3-pro" },
  { ...clip("text"), id: "scene-1", protocol: "vp_f", upstream: "wan2.6-t2v" },
  {
    ...shot("0.4", "0.6", "text", "image"),
    id: "shot-1",
    protocol: "veo",
    upstream: "veo-3.1-generate-preview"
  },
  { ...reel, id: "reel-1", protocol: "minimax", upstream: "MiniMax-H3" },
  {
    ...paint("0.25", "text", "image"),
    id: "paint-2",
    protocol: "ip_b",
    upstream: "qwen-image-2.0"
  },
  { ...film, id: "relay-film", protocol: "vp_a", relay: "vp_c", upstream: "doubao-sim-film-2" },
  {
    ...clip("text", "image"),
    id: "relay-clip",
    protocol: "vp_d",
    relay: "vp_c",
    upstream: "kling-sim-clip"
  },
  { ...motion, id: "relay-motion", protocol: "vp_e", relay: "vp_c", upstream: "viduq3-turbo-cn" },
  {
    ...clip("image"),
    id: "relay-scene",
    protocol: "vp_f",
    relay: "vp_c",
    upstream: "wan2.7-i2v-cn"
  },
  {
    ...paint("0.25", "text", "image"),
    id: "relay-paint",
    protocol: "ip_b",
    relay: "ip_c",
    upstream: "qwen-image-2.0-cn"
  },
  {
    ...paint("0.15", "text", "image"),
    id: "relay-sketch",
    protocol: "ip_b",
    relay: "ip_c",
    upstream: "doubao-sim-sketch"
  },
  { ...sketch, id: "sketch-1", protocol: "gemini", upstream: "gemini-3-pro-image-preview" },
  { ...talk, id: "talk-1", protocol: "openai", upstream: "sim-talk-1" },
  { ...talk, id: "talk-2", protocol: "openai_responses", upstream: "sim-talk-2" },
  { ...look, id: "look-1", protocol: "openai", upstream: "sim-look-1" },
  { ...vector, id: "vector-1", protocol: "openai", upstream: "sim-vector-1" },
  { ...rank, id: "rank-1", protocol: "jina", upstream: "sim-rank-1" },
  { ...voice, id: "voice-1", protocol: "openai", upstream: "sim-voice-1" },
  { ...voice, id: "voice-2", protocol: "elevenlabs", upstream: "eleven_multilingual_v2" },
  { ...voice, id: "voice-3", protocol: "dashscope", upstream: "qwen3-tts-flash" },
  { ...listen, id: "listen-1", protocol: "openai", upstream: "sim-listen-1" },
  { ...listen, id: "listen-2", protocol: "dashscope", upstream: "qwen3-asr-flash" }
]

/**
 * One model for each other model family of the same vendors, because families accept different
 * input.
 */
const otherFamilies: ReadonlyArray<DemoModel> = [
  ...(
    [
      ["film-1.0", "doubao-seedance-1-0-pro-250528"],
      ["film-1.5", "doubao-seedance-1-5-pro-251215"]
    ] as const
  ).map(([id, upstream]) => ({
    ...takingOnly(film, "text", "image"),
    id,
    protocol: "vp_a",
    upstream
  })),
  ...(
    [
      ["film-2.0-fast", "doubao-seedance-2-0-fast-260128"],
      ["film-2.0-mini", "doubao-seedance-2-0-mini-260128"],
      ["film-2.5", "doubao-seedance-2-5-260905"]
    ] as const
  ).map(([id, upstream]) => ({ ...film, id, protocol: "vp_a", upstream })),
  ...(
    [
      ["clip-o1", "kling-o1", "video"],
      ["clip-3.0", "kling-v3", "image"],
      ["clip-3.0-turbo", "kling-v3-turbo", "image"],
      ["clip-2.6", "kling-v2-6", "image"],
      ["clip-2.5-turbo", "kling-v2-5-turbo", "image"]
    ] as const
  ).map(([id, upstream, form]) => ({ ...clip("text", form), id, protocol: "vp_d", upstream })),
  ...(
    [
      ["motion-1-turbo", "viduq3-turbo", "text", "image"],
      ["motion-1-fast", "viduq3-pro-fast", "image"],
      ["motion-1-mix", "viduq3-mix", "image"],
      ["motion-1-reference", "viduq3", "image"]
    ] as const
  ).map(([id, upstream, ...forms]) => ({
    ...takingOnly(motion, ...forms),
    id,
    protocol: "vp_e",
    upstream
  })),
  ...(
    [
      ["scene-2.6-image", "wan2.6-i2v", "image"],
      ["scene-2.6-flash", "wan2.6-i2v-flash", "image"],
      ["scene-2.6-reference", "wan2.6-r2v", "image", "video"],
      ["scene-2.6-reference-flash", "wan2.6-r2v-flash", "image", "video"],
      ["scene-2.7", "wan2.7-t2v", "text", "audio"],
      ["scene-2.7-image", "wan2.7-i2v", "image", "audio"],
      ["scene-2.7-reference", "wan2.7-r2v", "image", "video"],
      ["scene-3.0", "wan3.0-video", "text", "image", "video", "audio"]
    ] as const
  ).map(([id, upstream, ...forms]) => ({ ...clip(...forms), id, protocol: "vp_f", upstream })),
  ...(
    [
      ["shot-1-fast", "veo-3.1-fast-generate-preview"],
      ["shot-1-lite", "veo-3.1-lite-generate-preview"],
      ["shot-0", "veo-3.0-generate-001"],
      ["shot-0-fast", "veo-3.0-fast-generate-001"]
    ] as const
  ).map(([id, upstream]) => ({
    ...shot("0.12", "0.3", "text", "image"),
    id,
    protocol: "veo",
    upstream
  })),
  { ...sketch, id: "sketch-0", protocol: "gemini", upstream: "gemini-2.5-flash-image" },
  { ...reel, id: "reel-1-max", protocol: "minimax", upstream: "MiniMax-H3-Max" }
]

const seedance = "fal-ai/bytedance/seedance/v1/pro"
const kling = "fal-ai/kling-video"

/** Models of the vendors that documents describe. */
const queues: ReadonlyArray<DemoModel> = [
  { ...clip("text"), id: "clip-9", protocol: "fal", upstream: `${seedance}/text-to-video` },
  { ...clip("image"), id: "clip-9-image", protocol: "fal", upstream: `${seedance}/image-to-video` },
  {
    ...clip("text"),
    id: "clip-9-shots",
    protocol: "fal",
    upstream: `${kling}/v3/pro/text-to-video`
  },
  {
    ...clip("image"),
    id: "clip-9-shots-image",
    protocol: "fal",
    upstream: `${kling}/v3/pro/image-to-video`
  },
  { ...clip("text"), id: "clip-9-long", protocol: "fal", upstream: `${kling}/v4/text-to-video` },
  {
    ...clip("image"),
    id: "clip-9-long-image",
    protocol: "fal",
    upstream: `${kling}/v4/image-to-video`
  },
  { ...paint("0.1", "text"), id: "paint-9", protocol: "fal", upstream: "fal-ai/flux/dev" },
  {
    ...paint("0.2", "image"),
    id: "upscale-9",
    protocol: "fal",
    upstream: "fal-ai/clarity-upscaler"
  },
  {
    ...clip("text", "image"),
    id: "clip-10",
    protocol: "replicate",
    upstream: "bytedance/seedance-1-pro"
  },
  {
    ...clip("image"),
    id: "clip-10-frames",
    protocol: "replicate",
    upstream: "kwaivgi/kling-v2.1"
  },
  {
    ...paint("0.02", "text"),
    id: "paint-10",
    protocol: "replicate",
    upstream: "black-forest-labs/flux-schnell"
  },
  {
    ...paint("0.05", "image"),
    id: "upscale-10",
    protocol: "replicate",
    upstream: "recraft-ai/recraft-crisp-upscale"
  }
]

const models = [...usual, ...otherFamilies, ...queues]

/**
 * Models that are listed without a mount. The error for an order of such a model says that the
 * model is not available yet.
 */
const reserved = [
  { id: "speak-1", modality: "tts" },
  { id: "omni-1", modality: "omni" }
] as const

/** The protocols whose base address ends with the version of the API. */
const versioned: ReadonlySet<string> = new Set([
  "ip_a",
  "openai",
  "openai_responses",
  "jina",
  "elevenlabs"
])

const calledBy = (model: DemoModel) => model.relay ?? model.protocol

/**
 * The model that has two mounts, on two accounts of its vendor. The second mount is used where the
 * first one produces nothing.
 */
const servedTwice = "paint-1"

/** Builds the catalog: one channel per protocol, and one more for the model with two mounts. */
export const demoCatalog = (simulatorUrl: string): Catalog => {
  const channelOf = (protocol: string, id: string) => ({
    id: `demo-${id}`,
    name: `Simulated ${protocol} vendor`,
    base_url: `${simulatorUrl}/${protocol}${versioned.has(protocol) ? "/v1" : ""}`,
    app_id: protocol === "vp_b" ? "demo-application" : null,
    api_key: `demo-secret-${id}`
  })
  const second = models.filter(({ id }) => id === servedTwice)
  const mountOf = (model: DemoModel, channel: string, priority: number) => ({
    model: model.id,
    channel: `demo-${channel}`,
    protocol: model.relay ?? null,
    upstream_model: model.upstream,
    priority
  })
  return {
    channels: [
      ...[...new Set(models.map(calledBy))].map((protocol) => channelOf(protocol, protocol)),
      ...second.map((model) => channelOf(calledBy(model), `${calledBy(model)}-2`))
    ],
    models: [
      ...models.map(({ id, modality, protocol, forms, prices }) => ({
        id,
        modality,
        protocol,
        input_forms: forms,
        prices
      })),
      ...reserved.map((model) => ({ ...model, protocol: "openai" }))
    ],
    mounts: [
      ...models.map((model) => mountOf(model, calledBy(model), 0)),
      ...second.map((model) => mountOf(model, `${calledBy(model)}-2`, 1))
    ]
  }
}
