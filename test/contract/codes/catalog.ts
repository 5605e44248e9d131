/** Models that order as they should, and models of which each lacks one thing. */
import type { CatalogWrite } from "../../../src/domain/catalog/CatalogDocument.ts"

type Catalog = typeof CatalogWrite.Encoded
type Model = Catalog["models"][number]
type Mount = Catalog["mounts"][number]

const film = {
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51", with_video: "31" },
    "4K": { without_video: "26", with_video: "16" }
  }
} as const
const clip = { kind: "second_video", per_second: { "720p": "0.6", "1080p": "1.0" } } as const
const paint = { kind: "image", per_image: "0.2" } as const
const talk = { kind: "tokens", per_million_input: "2", per_million_output: "8" } as const

/** Nothing listens there. */
export const NOWHERE = "http://127.0.0.1:9"
/** At this one of its models an adapter fails. */
export const DEFECTIVE = "vendor-film-defective"

const model = (
  id: string,
  modality: Model["modality"],
  protocol: string,
  prices?: Model["prices"]
): Model => ({ id, modality, protocol, ...(prices === undefined ? {} : { prices }) })

const mount = (id: string, channel: string, more: Partial<Mount> = {}): Mount => ({
  model: id,
  channel,
  upstream_model: `vendor-${id}`,
  ...more
})

/** `toldUrl` is where the vendor is that does as it is told; everything else is simulated. */
export const codesCatalog = (simulatorUrl: string, toldUrl: string): Catalog => {
  const channel = (id: string, base_url: string, more = {}) => ({
    id,
    name: id,
    base_url,
    api_key: "vendor-key",
    ...more
  })
  return {
    channels: [
      channel("ch-a", `${simulatorUrl}/vp_a`),
      channel("ch-b", `${simulatorUrl}/vp_b`, { app_id: "app-7" }),
      channel("ch-appless", `${simulatorUrl}/vp_b`),
      channel("ch-c", `${simulatorUrl}/vp_c`),
      channel("ch-d", `${simulatorUrl}/vp_d`),
      channel("ch-i", `${simulatorUrl}/ip_a/v1`),
      channel("ch-t", `${simulatorUrl}/openai/v1`),
      channel("ch-nowhere", NOWHERE),
      { id: "ch-keyless", name: "Keyless", base_url: `${simulatorUrl}/vp_a` },
      channel("ch-off", `${simulatorUrl}/vp_a`, { enabled: false }),
      channel("ch-told-video", toldUrl),
      channel("ch-told-image", `${toldUrl}/v1`),
      channel("ch-told-image-2", `${toldUrl}/v1`),
      channel("ch-told-text", `${toldUrl}/v1`)
    ],
    models: [
      model("film-1", "video", "vp_a", film),
      model("film-told", "video", "vp_a", film),
      model("film-nowhere", "video", "vp_a", film),
      model("film-defective", "video", "vp_a", film),
      model("film-keyless", "video", "vp_a", film),
      model("film-unmounted", "video", "vp_a", film),
      model("film-off", "video", "vp_a", film),
      model("film-channel-off", "video", "vp_a", film),
      model("film-unpriced", "video", "vp_a"),
      model("film-unpriced-off", "video", "vp_a"),
      model("film-only-1080p", "video", "vp_a", {
        kind: "token_video",
        per_million_tokens: { "1080p": { without_video: "51" } }
      }),
      model("film-without-video", "video", "vp_a", {
        kind: "token_video",
        per_million_tokens: { base: { without_video: "46" }, "4K": { with_video: "16" } }
      }),
      model("film-strange", "video", "vp_z", film),
      model("film-strange-off", "video", "vp_z", film),
      model("film-smart", "video", "vp_b", film),
      model("film-appless", "video", "vp_b", film),
      model("film-relayed", "video", "vp_a", film),
      model("film-listed-as-relay", "video", "vp_c", film),
      model("clip-1", "video", "vp_d", clip),
      model("clip-relayed", "video", "vp_e", clip),
      model("clip-unpriced", "video", "vp_d"),
      model("paint-1", "image", "ip_a", paint),
      model("paint-told", "image", "ip_a", paint),
      model("paint-told-2", "image", "ip_a", paint),
      model("paint-unpriced", "image", "ip_a"),
      model("paint-unmounted", "image", "ip_a", paint),
      model("paint-strange", "image", "vp_a", paint),
      model("talk-1", "chat", "openai", talk),
      model("talk-told", "chat", "openai", talk),
      model("talk-unpriced", "chat", "openai"),
      model("talk-half-priced", "chat", "openai", { kind: "tokens", per_million_input: "2" }),
      model("talk-strange", "chat", "other", talk),
      model("talk-unmounted", "chat", "openai", talk),
      model("look-1", "vlm", "openai", talk),
      model("vector-1", "embedding", "openai", { kind: "tokens", per_million_input: "0.5" }),
      model("vector-unpriced", "embedding", "openai"),
      model("vector-strange", "embedding", "other", talk),
      model("rank-1", "rerank", "openai"),
      model("speak-1", "tts", "openai"),
      model("listen-1", "asr", "openai"),
      model("omni-1", "omni", "openai")
    ],
    mounts: [
      mount("film-1", "ch-a"),
      mount("film-told", "ch-told-video"),
      mount("film-nowhere", "ch-nowhere"),
      mount("film-defective", "ch-a"),
      mount("film-keyless", "ch-keyless"),
      mount("film-off", "ch-a", { enabled: false }),
      mount("film-channel-off", "ch-off"),
      mount("film-unpriced", "ch-a"),
      mount("film-only-1080p", "ch-a"),
      mount("film-without-video", "ch-a"),
      mount("film-strange", "ch-a"),
      mount("film-smart", "ch-b"),
      mount("film-appless", "ch-appless"),
      mount("film-relayed", "ch-c", { protocol: "vp_c" }),
      mount("film-listed-as-relay", "ch-c"),
      mount("clip-1", "ch-d"),
      mount("clip-relayed", "ch-c", { protocol: "vp_c" }),
      mount("clip-unpriced", "ch-d"),
      mount("paint-1", "ch-i"),
      mount("paint-told", "ch-told-image"),
      mount("paint-told-2", "ch-told-image-2"),
      mount("paint-unpriced", "ch-i"),
      mount("paint-strange", "ch-a"),
      mount("talk-1", "ch-t"),
      mount("talk-told", "ch-told-text"),
      mount("talk-unpriced", "ch-t"),
      mount("talk-half-priced", "ch-t"),
      mount("talk-strange", "ch-t"),
      mount("look-1", "ch-t"),
      mount("vector-1", "ch-t"),
      mount("vector-unpriced", "ch-t"),
      mount("vector-strange", "ch-t")
    ]
  }
}
