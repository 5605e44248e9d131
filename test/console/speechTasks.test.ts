import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { archiving, bucket } from "../support/archives.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { Browser, inBrowser, steps } from "./support/browser.ts"

const Accepted = Schema.Struct({ id: Schema.String })

inBrowser(
  "a task of speech",
  layerTestGateway("embedded", archiving, { catalogFor: speechCatalog, bucket }),
  (it) => {
    it.effect("is heard among the orders, and deleted there", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { key } = yield* gateway.customer("1")
        const accepted = yield* gateway.call("/v1/audio/speech", {
          key,
          headers: { prefer: "respond-async" },
          json: { model: "voice-1", input: "The harbour is calm.", response_format: "wav" }
        })
        const { id } = yield* bodyAs(Accepted, accepted)
        const path = `/v1/audio/speech/${id}`
        yield* gateway.call(`${path}?wait=30`, { key })
        const browser = yield* Browser
        const page = yield* browser.open(`/orders/${id}`, { session: { apiKey: key } })
        yield* steps(async () => {
          await page.getByLabel("Sound", { exact: true }).waitFor()
          await page.waitForFunction(() => (document.querySelector("audio")?.duration ?? 0) > 0)
          await page.getByRole("button", { name: "Delete", exact: true }).click()
          await page
            .getByRole("dialog")
            .getByRole("button", { name: "Delete", exact: true })
            .click()
          await page.getByText("The result and its files were deleted.").waitFor()
        })
        assert.strictEqual((yield* gateway.call(path, { key })).status, 404)
      })
    )
  }
)
