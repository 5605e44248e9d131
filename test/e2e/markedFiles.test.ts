/** Vendors that show a marked file beside the plain one: each order is given the one it asked for. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"

const plain = "https://files.test/plain.mp4"
const marked = "https://files.test/marked.mp4"

const envelope = (data: unknown): Reply => ({ body: { code: 0, message: "SUCCEED", data } })

/** Speaks as the vendors of vp_d and vp_e do; every task is done at once. */
const makingBoth = () => {
  let jobs = 0
  return ({ method, target }: ReceivedRequest): Reply => {
    const isUnified = target.startsWith("/vp_d/")
    if (method === "POST") {
      jobs += 1
      return isUnified ? envelope({ id: `job-${jobs}` }) : { body: { task_id: `job-${jobs}` } }
    }
    const ids = new URL(target, "http://vendor.test").searchParams.get("task_ids") ?? ""
    const outputs = [{ type: "video", url: plain, watermark_url: marked }]
    return isUnified
      ? envelope(ids.split(",").map((id) => ({ id, status: "succeeded", outputs })))
      : { body: { state: "success", creations: [{ url: plain, watermarked_url: marked }] } }
  }
}

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: protocolCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`files that are marked as made by AI (${kind})`, (it) => {
    it.effect.each(["clip-d", "clip-e", "relay-e"])("%s", (model) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const vendor = yield* brokenVendor(makingBoth())
        const catalog = protocolCatalog(vendor.url)
        yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
        const who = yield* gateway.customer("100")
        const wishes = [true, undefined, false, true]
        const ids = yield* Effect.forEach(wishes, (watermark) =>
          createVideo(who, { model, watermark })
        )
        const files = yield* Effect.forEach(ids, (id) =>
          Effect.map(finishVideo(who, id), ({ content }) => content?.video_url)
        )
        assert.deepStrictEqual(files, [marked, plain, plain, marked])
      })
    )
  })
}
