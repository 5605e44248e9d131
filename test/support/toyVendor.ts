/** A catalog with a vendor that its own document describes, and that vendor. */
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { toyDocument } from "../domain/queue/documents.ts"
import type { ReceivedRequest, WrittenReply } from "./brokenVendor.ts"

type Catalog = typeof CatalogWrite.Encoded

/** The catalog with the model `toy-film` on a channel `toys` at the vendor's address. */
export const withToys = (
  { channels, models, mounts }: Catalog,
  vendorUrl: string,
  channel: { readonly max_tasks?: number } = {}
) => ({
  channels: [
    ...channels,
    { id: "toys", name: "Toys", base_url: vendorUrl, api_key: "toy-key", ...channel }
  ],
  models: [
    ...models,
    {
      id: "toy-film",
      modality: "video",
      protocol: "toy_queue",
      prices: { kind: "second_video", per_second: { "720p": "0.5", "1080p": "0.9" } }
    }
  ],
  mounts: [...mounts, { model: "toy-film", channel: "toys", upstream_model: "film/one" }],
  protocols: [toyDocument]
})

/** Makes each job as soon as `isReady` allows it. */
export const toyVendor = (isReady: () => boolean = () => true) => {
  let jobs = 0
  const files = [{ href: "https://toys.test/1.mp4" }]
  return ({ method }: ReceivedRequest): WrittenReply => {
    if (method === "POST") return { body: { job: { id: `j/${++jobs}`, state: "new" } } }
    return { body: { job: isReady() ? { state: "done", files } : { state: "busy" } } }
  }
}
