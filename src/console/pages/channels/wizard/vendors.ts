/** The vendors of the built-in protocols, as the wizard offers them. */
import type { AudioProtocol } from "../../../../domain/audio/AudioProtocol.ts"
import type { Modality } from "../../../../domain/catalog/Modality.ts"
import type { ImageProtocol } from "../../../../domain/image/ImageProtocol.ts"
import { falDocument } from "../../../../domain/queue/documents/fal.ts"
import { replicateDocument } from "../../../../domain/queue/documents/replicate.ts"
import { type VideoProtocol, videoProtocols } from "../../../../domain/video/VideoProtocol.ts"
import type { PricesText } from "../../catalog/draft/catalogEntries.ts"

export type VendorProtocol =
  | VideoProtocol
  | ImageProtocol
  | AudioProtocol
  | "fal"
  | "jina"
  | "openai"
  | "replicate"

export interface Vendor {
  readonly protocol: VendorProtocol
  readonly name: string
  /** The id that is suggested for its channel. */
  readonly id: string
  /** The vendor's public address; empty where each account has its own. */
  readonly baseUrl: string
  readonly modalities: readonly [Modality, ...ReadonlyArray<Modality>]
  /** Ids of well-known models, offered where the vendor lists none. */
  readonly models: ReadonlyArray<string>
}

const kling = ["kling-v3-omni", "kling-v3", "kling-v3-turbo", "kling-v2-6", "kling-v2-5-turbo"]
const vidu = ["viduq3-pro", "viduq3-turbo", "viduq3-pro-fast", "viduq3-mix", "viduq3"]
const seedance = [
  "doubao-seedance-2-5-260905",
  "doubao-seedance-2-0-260128",
  "doubao-seedance-2-0-fast-260128",
  "doubao-seedance-1-5-pro-251215"
]
const wan = ["wan3.0-video", "wan2.7-t2v", "wan2.7-i2v", "wan2.7-r2v", "wan2.6-t2v", "wan2.6-i2v"]

const veo = [
  "veo-3.1-generate-preview",
  "veo-3.1-fast-generate-preview",
  "veo-3.1-lite-generate-preview"
]

export const vendors: ReadonlyArray<Vendor> = [
  {
    protocol: "openai",
    name: "OpenAI",
    id: "openai",
    baseUrl: "https://api.openai.com/v1",
    modalities: ["chat", "vlm", "embedding", "tts", "asr"],
    models: []
  },
  {
    protocol: "jina",
    name: "Jina AI",
    id: "jina",
    baseUrl: "https://api.jina.ai/v1",
    modalities: ["rerank"],
    models: ["jina-reranker-v3", "jina-reranker-m0", "jina-reranker-v2-base-multilingual"]
  },
  {
    protocol: "elevenlabs",
    name: "ElevenLabs",
    id: "elevenlabs",
    baseUrl: "https://api.elevenlabs.io/v1",
    modalities: ["tts"],
    models: ["eleven_multilingual_v2", "eleven_flash_v2_5", "eleven_v3"]
  },
  {
    protocol: "ip_a",
    name: "OpenAI Images",
    id: "openai-images",
    baseUrl: "https://api.openai.com/v1",
    modalities: ["image"],
    models: []
  },
  {
    protocol: "vp_a",
    name: "Volcengine Ark, BytePlus ModelArk",
    id: "ark",
    baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
    modalities: ["video"],
    models: seedance
  },
  {
    protocol: "vp_b",
    name: "Seedance (app ID)",
    id: "seedance",
    baseUrl: "",
    modalities: ["video"],
    models: []
  },
  {
    protocol: "vp_d",
    name: "Kling AI",
    id: "kling",
    baseUrl: "https://api-singapore.klingai.com",
    modalities: ["video"],
    models: kling
  },
  {
    protocol: "vp_e",
    name: "Vidu",
    id: "vidu",
    baseUrl: "https://api.vidu.com",
    modalities: ["video"],
    models: vidu
  },
  {
    protocol: "vp_f",
    name: "Alibaba Cloud Model Studio",
    id: "model-studio",
    baseUrl: "https://dashscope-intl.aliyuncs.com/api/v1",
    modalities: ["video"],
    models: wan
  },
  {
    protocol: "veo",
    name: "Google Veo",
    id: "veo",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    modalities: ["video"],
    models: veo
  },
  {
    protocol: "minimax",
    name: "MiniMax",
    id: "minimax",
    baseUrl: "https://api.minimax.io",
    modalities: ["video"],
    models: ["MiniMax-H3", "MiniMax-H3-Max"]
  },
  {
    protocol: "ip_b",
    name: "Alibaba Cloud Model Studio Images",
    id: "model-studio-images",
    baseUrl: "https://dashscope-intl.aliyuncs.com/api/v1",
    modalities: ["image"],
    models: ["qwen-image-2.0"]
  },
  {
    protocol: "gemini",
    name: "Google Gemini Images",
    id: "gemini-images",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    modalities: ["image"],
    models: ["gemini-3-pro-image-preview", "gemini-3.1-flash-image-preview"]
  },
  {
    protocol: "dashscope",
    name: "Alibaba Cloud Model Studio Speech",
    id: "model-studio-speech",
    baseUrl: "https://dashscope-intl.aliyuncs.com/api/v1",
    modalities: ["tts", "asr"],
    models: ["qwen3-tts-flash", "qwen3-tts-instruct-flash", "qwen3-asr-flash"]
  },
  {
    protocol: "vp_c",
    name: "Vapeur AI",
    id: "vapeur",
    baseUrl: "https://api.vapeur.ai",
    modalities: ["video"],
    models: [
      "doubao-seedance-2-0-260128",
      "kling-v3-cn",
      "viduq3-pro-cn",
      "viduq3-turbo-cn",
      "wan2.7-t2v-cn",
      "wan2.7-i2v-cn"
    ]
  },
  {
    protocol: "ip_c",
    name: "Vapeur AI Images",
    id: "vapeur-images",
    baseUrl: "https://api.vapeur.ai",
    modalities: ["image"],
    models: ["qwen-image-2.0-cn"]
  },
  {
    protocol: "fal",
    name: "fal",
    id: "fal",
    baseUrl: "https://queue.fal.run",
    modalities: ["video", "image"],
    models: falDocument.models.map(({ id }) => id)
  },
  {
    protocol: "replicate",
    name: "Replicate",
    id: "replicate",
    baseUrl: "https://api.replicate.com/v1",
    modalities: ["video", "image"],
    models: replicateDocument.models.map(({ id }) => id)
  }
]

/** The protocols under which the models of a relay are listed, by the begin of their ids. */
const officialProtocols = [
  [/^doubao/, "vp_a"],
  [/^kling/, "vp_d"],
  [/^vidu/, "vp_e"],
  [/^/, "vp_f"]
] as const satisfies ReadonlyArray<readonly [RegExp, VideoProtocol]>

/** The protocol under which a model of the vendor is listed in the catalog. */
export const officialProtocol = ({ protocol }: Vendor, upstreamModel: string): VendorProtocol =>
  protocol === "vp_c"
    ? (officialProtocols.find(([begin]) => begin.test(upstreamModel))?.[1] ?? "vp_f")
    : protocol

const isVideo = (protocol: VendorProtocol): protocol is VideoProtocol => protocol in videoProtocols

export const needsAppId = ({ protocol }: Vendor): boolean =>
  isVideo(protocol) && videoProtocols[protocol].needsAppId

/** The kind of prices that a model has unless the operator chooses another one. */
export const usualPriceKind = (
  protocol: VendorProtocol,
  modality: Modality
): PricesText["kind"] => {
  if (modality === "tts") return "characters"
  if (modality === "asr") return "audio_seconds"
  if (isVideo(protocol)) return videoProtocols[protocol].billing ?? "second_video"
  if (modality === "video") return "second_video"
  return modality === "image" ? "image" : "tokens"
}

/** The modalities that parts of a model's id suggest; the first match counts. */
const suggestions = [
  [/embed|vector/i, "embedding"],
  [/flux|upscale/i, "image"],
  [/vision|-vl|look/i, "vlm"],
  // The names of many such models contain the word speech or voice too.
  [/whisper|transcri|listen|asr|sensevoice/i, "asr"],
  [/tts|speech|voice/i, "tts"]
] as const satisfies ReadonlyArray<readonly [RegExp, Modality]>

/** The modality that an id suggests, where the vendor has several. */
export const suggestedModality = ({ modalities }: Vendor, upstreamModel: string): Modality => {
  const suggestion = suggestions.find(([part]) => part.test(upstreamModel))?.[1] ?? modalities[0]
  return modalities.includes(suggestion) ? suggestion : modalities[0]
}
