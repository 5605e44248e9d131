/** A catalog with one model for every way a vendor is spoken to. */
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"

type Catalog = typeof CatalogWrite.Encoded
type Prices = NonNullable<Catalog["models"][number]["prices"]>

/** The reference price list, in currency units per million tokens. */
const filmPrices: Prices = {
  kind: "token_video",
  per_million_tokens: {
    base: { without_video: "46", with_video: "28" },
    "1080p": { without_video: "51", with_video: "31" },
    "4K": { without_video: "26", with_video: "16" }
  }
}

/** All different, so that a wrong resolution shows in the price. */
const clipPrices: Prices = {
  kind: "second_video",
  per_second: { "480p": "0.3", "540p": "0.4", "720p": "0.6", "1080p": "1.1", "4K": "2.3" }
}

const imagePrices: Prices = { kind: "image", per_image: "0.17" }

export interface Way {
  readonly model: string
  readonly modality: "video" | "image"
  readonly listed: string
  /** The protocol of the mount where it is not the listed one. */
  readonly mounted?: string
  readonly upstream: string
}

const video = (model: string, listed: string, upstream: string, mounted?: string): Way => ({
  model,
  modality: "video",
  listed,
  upstream,
  ...(mounted === undefined ? {} : { mounted })
})
const image = (model: string, listed: string, upstream: string, mounted?: string): Way => ({
  ...video(model, listed, upstream, mounted),
  modality: "image"
})

/** The catalog's name of each model, and the vendor's. */
export const ways: ReadonlyArray<Way> = [
  video("film-a", "vp_a", "vendor-film-a"),
  video("film-b", "vp_b", "vendor-film-b"),
  video("relay-a", "vp_a", "relay-film-a", "vp_c"),
  video("relay-b", "vp_b", "relay-film-b", "vp_c"),
  video("relay-d", "vp_d", "relay-clip-d", "vp_c"),
  video("relay-e", "vp_e", "relay-clip-e", "vp_c"),
  video("relay-f", "vp_f", "relay2.7-t2v-cn", "vp_c"),
  video("clip-d", "vp_d", "vendor-clip-omni"),
  video("clip-e", "vp_e", "vendor-clip-e"),
  video("text-2.6", "vp_f", "vendor2.6-t2v"),
  video("text-2.7", "vp_f", "vendor2.7-t2v"),
  video("image-2.6", "vp_f", "vendor2.6-i2v"),
  video("image-2.7", "vp_f", "vendor2.7-i2v"),
  video("reference-2.6", "vp_f", "vendor2.6-r2v"),
  video("reference-2.7", "vp_f", "vendor2.7-r2v"),
  image("paint-a", "ip_a", "vendor-paint-a"),
  image("paint-b", "ip_b", "vendor-paint-b"),
  image("relay-paint-messages", "ip_b", "vendor-paint-cn", "ip_c"),
  image("relay-paint-standard", "ip_b", "doubao-paint-cn", "ip_c")
]

/** What an order of the model needs beside its text. */
export const leastInput = (model: string): Readonly<Record<string, unknown>> =>
  /^(?:image|reference)-/.test(model) ? { image: "https://files.test/1.png" } : {}

export const APP_ID = "app-7"

/** Where a protocol's vendor is reached: ip_a wants its version in the base address. */
const baseUrlOf = (simulatorUrl: string, protocol: string): string =>
  `${simulatorUrl}/${protocol}${protocol === "ip_a" ? "/v1" : ""}`

const pricesOf = ({ modality, listed }: Way): Prices =>
  modality === "image" ? imagePrices : ["vp_a", "vp_b"].includes(listed) ? filmPrices : clipPrices

/** Every way, each on a channel of its protocol; with another key on channels of the same. */
export const protocolCatalog = (simulatorUrl: string, apiKey = "vendor-key-1"): Catalog => {
  const protocols = [...new Set(ways.map(({ listed, mounted }) => mounted ?? listed))]
  return {
    channels: protocols.map((protocol) => ({
      id: `ch-${protocol}`,
      name: protocol,
      base_url: baseUrlOf(simulatorUrl, protocol),
      api_key: apiKey,
      app_id: protocol === "vp_b" ? APP_ID : null
    })),
    models: ways.map((way) => ({
      id: way.model,
      modality: way.modality,
      protocol: way.listed,
      prices: pricesOf(way)
    })),
    mounts: ways.map(({ model, listed, mounted, upstream }) => ({
      model,
      channel: `ch-${mounted ?? listed}`,
      protocol: mounted ?? null,
      upstream_model: upstream
    }))
  }
}
