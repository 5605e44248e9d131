/**
 * The demo catalog: every protocol, each by a model of its own, on the simulator, and a model of
 * every modality that is still to come.
 */
import type { CatalogWrite } from "./domain/catalog/CatalogDocument.ts"
import type { Modality } from "./domain/catalog/Modality.ts"

type Catalog = typeof CatalogWrite.Encoded
type Prices = NonNullable<Catalog["models"][number]["prices"]>

interface DemoModel {
  readonly id: string
  readonly modality: Modality
  /** The protocol the catalog lists it under. */
  readonly protocol: string
  /** The protocol of its mount, where it comes through the relay. */
  readonly relay?: "vp_c" | "ip_c"
  /** An id the simulated vendor knows. */
  readonly upstream: string
  readonly forms: ReadonlyArray<"text" | "image" | "video" | "audio">
  readonly prices: Prices
}

/** The reference list prices, also for vp_b, which renders its one clarity at the base price. */
const film: Prices = {
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51", with_video: "31" },
    "4K": { without_video: "26", with_video: "16" }
  }
}
const clip: Prices = { kind: "second_video", per_second: { "720p": "0.6", "1080p": "1.0" } }
const motion: Prices = {
  kind: "second_video",
  per_second: { "540p": "0.3", "720p": "0.5", "1080p": "0.8" }
}
const image = (perImage: string): Prices => ({ kind: "image", per_image: perImage })

const text = (input: string, output?: string): Prices => ({
  kind: "tokens",
  per_million_input: input,
  ...(output === undefined ? {} : { per_million_output: output })
})

const everyForm = ["text", "image", "video", "audio"] as const

const models: ReadonlyArray<DemoModel> = [
  {
    id: "film-1",
    modality: "video",
    protocol: "vp_a",
    upstream: "sim-film-2",
    forms: everyForm,
    prices: film
  },
  {
    id: "clip-1",
    modality: "video",
    protocol: "vp_d",
    upstream: "sim-clip-3.0",
    forms: ["text", "image", "video"],
    prices: clip
  },
  {
    id: "paint-1",
    modality: "image",
    protocol: "ip_a",
    upstream: "sim-paint-1",
    forms: ["text"],
    prices: image("0.2")
  },
  {
    id: "film-2",
    modality: "video",
    protocol: "vp_b",
    upstream: "sim-film-3",
    forms: everyForm,
    prices: film
  },
  {
    id: "motion-1",
    modality: "video",
    protocol: "vp_e",
    upstream: "viduq3-pro",
    forms: ["text", "image"],
    prices: motion
  },
  {
    id: "scene-1",
    modality: "video",
    protocol: "vp_f",
    upstream: "wan2.6-t2v",
    forms: ["text"],
    prices: clip
  },
  {
    id: "paint-2",
    modality: "image",
    protocol: "ip_b",
    upstream: "qwen-image-2.0",
    forms: ["text", "image"],
    prices: image("0.25")
  },
  {
    id: "relay-film",
    modality: "video",
    protocol: "vp_a",
    relay: "vp_c",
    upstream: "doubao-sim-film-2",
    forms: everyForm,
    prices: film
  },
  {
    id: "relay-clip",
    modality: "video",
    protocol: "vp_d",
    relay: "vp_c",
    upstream: "kling-sim-clip",
    forms: ["text", "image"],
    prices: clip
  },
  {
    id: "relay-motion",
    modality: "video",
    protocol: "vp_e",
    relay: "vp_c",
    upstream: "viduq3-turbo-cn",
    forms: ["text", "image"],
    prices: motion
  },
  {
    id: "relay-scene",
    modality: "video",
    protocol: "vp_f",
    relay: "vp_c",
    upstream: "wan2.7-i2v-cn",
    forms: ["image"],
    prices: clip
  },
  {
    id: "relay-paint",
    modality: "image",
    protocol: "ip_b",
    relay: "ip_c",
    upstream: "qwen-image-2.0-cn",
    forms: ["text", "image"],
    prices: image("0.25")
  },
  {
    id: "relay-sketch",
    modality: "image",
    protocol: "ip_b",
    relay: "ip_c",
    upstream: "doubao-sim-sketch",
    forms: ["text"],
    prices: image("0.15")
  },
  {
    id: "talk-1",
    modality: "chat",
    protocol: "openai",
    upstream: "sim-talk-1",
    forms: ["text"],
    prices: text("2", "8")
  },
  {
    id: "look-1",
    modality: "vlm",
    protocol: "openai",
    upstream: "sim-look-1",
    forms: ["text", "image"],
    prices: text("3", "9")
  },
  {
    id: "vector-1",
    modality: "embedding",
    protocol: "openai",
    upstream: "sim-vector-1",
    forms: ["text"],
    prices: text("0.5")
  }
]

/** Listed, and mounted nowhere: calling them tells that they are not open yet. */
const reserved = [
  { id: "rank-1", modality: "rerank" },
  { id: "speak-1", modality: "tts" },
  { id: "listen-1", modality: "asr" },
  { id: "omni-1", modality: "omni" }
] as const

/** Their base addresses end with the version. */
const versioned: ReadonlySet<string> = new Set(["ip_a", "openai"])

const calledBy = (model: DemoModel) => model.relay ?? model.protocol

/** One channel a protocol; the models in the order newcomers should meet them. */
export const demoCatalog = (simulatorUrl: string): Catalog => ({
  channels: [...new Set(models.map(calledBy))].map((protocol) => ({
    id: `demo-${protocol}`,
    name: `Simulated ${protocol} vendor`,
    base_url: `${simulatorUrl}/${protocol}${versioned.has(protocol) ? "/v1" : ""}`,
    app_id: protocol === "vp_b" ? "demo-application" : null,
    api_key: `demo-secret-${protocol}`
  })),
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
  mounts: models.map((model) => ({
    model: model.id,
    channel: `demo-${calledBy(model)}`,
    protocol: model.relay ?? null,
    upstream_model: model.upstream
  }))
})
