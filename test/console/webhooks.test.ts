/** A member sets up a receiver in the console, and sees what was sent to it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, finishVideo } from "../support/orders.ts"
import { makeReceiver, withStatus } from "../support/receiver.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

/** What failed is sent again after seconds, so that it is seen to wait. */
const settings = { ...quickSettings, webhookAllowPrivate: true }

inBrowser("webhooks in the console", layerTestGateway("embedded", settings), (it) => {
  it.effect("an endpoint is made, tested, told, and told again", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const receiver = yield* makeReceiver()
      const page = yield* browser.open("/webhooks", { session: { apiKey: who.key } })
      const dialog = page.getByRole("dialog")
      yield* steps(async () => {
        await page.getByRole("button", { name: "New endpoint" }).click()
        await dialog.getByRole("button", { name: "Create" }).click()
        await dialog.getByText("Enter a name.").waitFor()
        await dialog.getByLabel("Name").fill("studio")
        await dialog.getByLabel("URL").fill(`${receiver.url}/hooks`)
        await dialog.getByRole("button", { name: "Create" }).click()
        await dialog.getByLabel("Signing secret").waitFor()
        assert.match(await dialog.getByLabel("Signing secret").inputValue(), /^whsec_/)
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        await page.getByRole("button", { name: "Send test event" }).click()
        await dialog.getByRole("button", { name: "Send" }).click()
        await page.getByText("The endpoint responded with 200.").waitFor()
      })
      assert.lengthOf(receiver.received, 1)

      receiver.tell((response) => response.writeHead(503).end("<b>not now</b>"))
      const video = yield* createVideo(who, { model: "film-1" })
      yield* finishVideo(who, video)
      const log = page.getByRole("table", { name: "Deliveries" })
      yield* steps(async () => {
        await log.getByText("pending").waitFor()
        await log.getByRole("button", { name: /^Attempts: 1/ }).click()
        await dialog.getByText("HTTP 503").waitFor()
        // Its receiver's markup is a text here.
        await dialog.getByText("<b>not now</b>").waitFor()
        await page.keyboard.press("Escape")
      })
      receiver.tell(withStatus(204))
      yield* steps(async () => {
        await log.getByRole("button", { name: "Resend" }).click()
        await page.getByText("1 event was queued again.").waitFor()
        await log.getByText("delivered").waitFor()
        await log.getByRole("button", { name: /^Attempts: 2 · 204/ }).waitFor()
      })
      const told = receiver.received.filter(({ body }) => body.type === "video.completed")
      // The test's sample, what failed, and the same again under its id.
      assert.deepStrictEqual(
        told.map(({ id, body }) => [id === told[1]?.id, body.data.id === video]),
        [
          [false, false],
          [true, true],
          [true, true]
        ]
      )

      // An operator sees the same, and takes it out of use.
      const operator = yield* browser.open(`/customers/${who.organizationId}/webhooks`, {
        session: asOwner
      })
      yield* steps(async () => {
        await operator.getByRole("link", { name: "studio" }).click()
        await operator.getByRole("table", { name: "Deliveries" }).getByText("delivered").waitFor()
        await operator.getByRole("button", { name: "Disable" }).click()
        await operator.getByRole("dialog").getByRole("button", { name: "Disable" }).click()
        await operator.getByRole("button", { name: "Enable" }).waitFor()
        await page.reload()
        await page.getByText("Disabled because").waitFor()
        await page.getByRole("button", { name: "Delete" }).click()
        await dialog.getByRole("button", { name: "Delete" }).click()
        await page.getByText("No endpoints yet").waitFor()
      })
      const left = yield* gateway.call("/v1/webhook_endpoints", { key: who.key })
      assert.deepNestedInclude(left.body, { data: [] })
    })
  )
})
