/** What people come to the console for, in exactly so many clicks: a change that adds one is seen. */
import { readFile } from "node:fs/promises"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { afterAll } from "vitest"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { ChannelCheckView } from "../../src/features/catalog/ChannelsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { createVideo, orderImages } from "../support/orders.ts"
import { makeReceiver } from "../support/receiver.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"
import { performTask, type TaskResult } from "./support/clicks.ts"

const Orders = list(Schema.Struct({ id: Schema.String }))
const Usage = list(Schema.Struct({ charge: Schema.String, model: Schema.String }))

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()
const follow = (page: Page, name: string) => page.getByRole("link", { name, exact: true }).click()
/** Presses a button of the open dialog. */
const confirm = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true }).click()

/** A customer with a name by which it is found, and the images that it has paid for. */
const payingCustomer = Effect.fnUntraced(function* (name: string, images: number) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  yield* gateway.admin(`/organizations/${who.organizationId}`, { method: "PATCH", json: { name } })
  const { status, text } = yield* orderImages(who, { model: "paint-1", n: images })
  assert.strictEqual(status, 200, text)
  return who
})

const results: Array<TaskResult> = []

const task = (...parameters: Parameters<typeof performTask<Gateway>>) =>
  Effect.map(performTask(...parameters), (result) => results.push(result))

inBrowser(
  "tasks in the console",
  layerTestGateway(
    "embedded",
    { ...quickSettings, webhookAllowPrivate: true },
    { catalogFor: demoCatalog }
  ),
  (it) => {
    afterAll(() => console.table(results))

    it.effect("a video is ordered and seen", () =>
      Effect.gen(function* () {
        const who = yield* (yield* Gateway).customer("100")
        yield* task("Order a video and see it", {
          clicks: 3,
          session: { apiKey: who.key },
          take: (page) =>
            steps(async () => {
              await page.getByRole("combobox", { name: "Model", exact: true }).click()
              await page.getByRole("option", { name: "clip-1", exact: true }).click()
              await page.getByLabel("Prompt").fill("a lighthouse at dusk")
              await page.keyboard.press("Control+Enter")
              await page.locator("video").waitFor()
              await page.waitForFunction(
                () => (document.querySelector("video")?.readyState ?? 0) >= 2
              )
            })
        })
      })
    )

    it.effect("a link in a ticket shows why an order failed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* orderImages(who, { model: "paint-1", prompt: "x sim:refuse=400" })
        const orders = yield* gateway.call("/v1/orders", { key: who.key })
        const [order] = (yield* bodyAs(Orders, orders)).data
        yield* task("See why an order failed, from a link", {
          clicks: 1,
          session: asOwner,
          link: `/all-orders/${order?.id}`,
          take: (page) =>
            steps(() =>
              page
                .getByRole("alert")
                .getByText(/^demo-ip_a answered 400: \w/)
                .waitFor()
            )
        })
      })
    )

    it.effect("a running video is cancelled, by its member and by an operator", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const cancelOrder = (link: string, session: Parameters<typeof task>[1]["session"]) =>
          task("Cancel a running video, from a link", {
            clicks: 2,
            session,
            link,
            take: (page) =>
              steps(async () => {
                await press(page, "Cancel order")
                await page
                  .getByText("The order was cancelled, and its hold was released.")
                  .waitFor()
                await page.getByText("cancelled", { exact: true }).first().waitFor()
              })
          })
        const order = { model: "film-1", prompt: "a lighthouse sim:waits" }
        yield* cancelOrder(`/orders/${yield* createVideo(who, order)}`, { apiKey: who.key })
        yield* cancelOrder(`/all-orders/${yield* createVideo(who, order)}`, asOwner)
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
      })
    )

    it.effect("a customer is created with a member, a key and money", () =>
      task("Create a customer with a member, a key and money", {
        clicks: 4,
        session: asOwner,
        take: (page) =>
          steps(async () => {
            const field = (label: string) =>
              page.getByRole("dialog").getByLabel(label, { exact: true })
            await follow(page, "Customers")
            await press(page, "New customer")
            await field("Name").fill("Harbour")
            await field("First member").fill("Bo")
            await field("API key name").fill("studio")
            await field("Deposit, CNY").fill("12.5")
            await confirm(page, "Create")
            assert.match(await field("API key").inputValue(), /^mg_/)
            await confirm(page, "I have stored it")
            await page.getByRole("heading", { name: "Harbour" }).waitFor()
            await page.getByText("12.5 CNY").first().waitFor()
          })
      })
    )

    it.effect("a new vendor gets its first paid order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* task("Add a vendor and place its first paid order", {
          clicks: 10,
          session: { ...asOwner, apiKey: who.key },
          take: (page) =>
            steps(async () => {
              await follow(page, "Channels")
              await follow(page, "Add channel")
              await page.getByRole("button", { name: /^OpenAI Images/ }).click()
              await page.getByLabel("Base URL").fill(`${gateway.simulator.url}/ip_a/v1`)
              await page.getByLabel("Vendor API key").fill("a-new-secret")
              await page.keyboard.press("Enter")
              await page.getByRole("checkbox", { name: "sim-paint-1" }).check()
              await page.getByLabel("Model ID for clients").fill("paint-new")
              await press(page, "Next")
              await page.getByLabel("Per image").fill("0.3")
              await press(page, "Next")
              await press(page, "Apply")
              await follow(page, "Try it")
              await page.getByLabel("Prompt").fill("a lighthouse")
              await press(page, "Generate images")
              await page.getByRole("img", { name: "Image 1" }).first().waitFor()
            })
        })
        const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
        assert.deepStrictEqual(data, [{ charge: "0.3", model: "paint-new" }])
      })
    )

    it.effect("the customer with the highest spend of the week is seen", () =>
      Effect.gen(function* () {
        yield* payingCustomer("Quiet Street", 1)
        const who = yield* payingCustomer("Lighthouse Film", 10)
        for (const _ of [1, 2]) yield* orderImages(who, { model: "paint-1", n: 10 })
        yield* task("See who spent most this week", {
          clicks: 1,
          session: asOwner,
          take: (page) =>
            steps(async () => {
              await follow(page, "Last 7 days: Top customers this month")
              const totals = page.getByRole("table", { name: "Totals" }).getByRole("row")
              await totals.nth(1).getByText("Lighthouse Film").waitFor()
            })
        })
      })
    )

    it.effect("a budget is set, and seen near its end", () =>
      Effect.gen(function* () {
        yield* payingCustomer("Rain Studio", 1)
        yield* task("Set a budget and see it near its end", {
          clicks: 5,
          session: asOwner,
          take: (page) =>
            steps(async () => {
              await follow(page, "Customers")
              await follow(page, "Rain Studio")
              await follow(page, "Budgets")
              await press(page, "New budget")
              await page.getByRole("dialog").getByLabel("Amount, CNY").fill("0.25")
              await confirm(page, "Save")
              await page.getByText("0.2 charged and 0 held of 0.25 CNY").waitFor()
            })
        })
        const landing = yield* (yield* Browser).open("/", { session: asOwner })
        yield* steps(() =>
          landing
            .getByRole("region", { name: "Budgets near their limit" })
            .getByRole("row", { name: "Rain Studio" })
            .getByText("80.0 %")
            .waitFor()
        )
      })
    )

    it.effect("the key of a vendor is rotated", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* task("Rotate the key of a vendor", {
          clicks: 4,
          session: asOwner,
          take: (page) =>
            steps(async () => {
              await follow(page, "Channels")
              await follow(page, "Simulated vp_f vendor")
              await press(page, "Rotate key default")
              await page.getByLabel("Vendor API key").fill("bad-key")
              await confirm(page, "Save")
              await page.getByText("Key default was rotated.").waitFor()
            })
        })
        // The vendor rejects this key.
        const test = yield* gateway.admin("/channels/demo-vp_f/test", { method: "POST" })
        const { data } = yield* bodyAs(list(ChannelCheckView), test)
        assert.deepStrictEqual(
          data.map(({ credential_accepted }) => credential_accepted),
          [false]
        )
      })
    )

    it.effect("a statement is saved as a file", () =>
      Effect.gen(function* () {
        const { organizationId } = yield* payingCustomer("Paper Boat", 1)
        const month = new Date().toISOString().slice(0, 7)
        yield* task("Save a statement as a file", {
          clicks: 4,
          session: asOwner,
          take: (page) =>
            steps(async () => {
              await follow(page, "Customers")
              await follow(page, "Paper Boat")
              await follow(page, "Statements")
              const saved = page.waitForEvent("download")
              await press(page, `Entries (CSV): ${month}`)
              const file = await saved
              assert.strictEqual(
                file.suggestedFilename(),
                `statement-${organizationId}-${month}.csv`
              )
              assert.include(await readFile(await file.path(), "utf8"), "paint-1")
            })
        })
      })
    )

    it.effect("a webhook is created, and its last delivery seen", () =>
      Effect.gen(function* () {
        const who = yield* (yield* Gateway).customer("100")
        const receiver = yield* makeReceiver()
        yield* task("Create a webhook and see its last delivery", {
          clicks: 4,
          session: { apiKey: who.key },
          take: (page) =>
            Effect.gen(function* () {
              yield* steps(async () => {
                await follow(page, "Webhooks")
                await press(page, "New endpoint")
                await page.getByRole("dialog").getByLabel("Name").fill("studio")
                await page.getByRole("dialog").getByLabel("URL").fill(`${receiver.url}/hooks`)
                await confirm(page, "Create")
                await confirm(page, "I have stored it")
                await page.getByRole("heading", { name: "studio" }).waitFor()
              })
              yield* createVideo(who, { model: "clip-1" })
              yield* steps(async () => {
                const delivery = page.getByRole("row", { name: "video.completed" })
                await delivery.getByText("delivered").waitFor()
                await delivery.getByText("1 · 200").waitFor()
              })
            })
        })
      })
    )

    it.effect("a channel is drained", () =>
      task("Drain a channel", {
        clicks: 3,
        session: asOwner,
        take: (page) =>
          steps(async () => {
            await follow(page, "Channels")
            await press(page, "Drain demo-vp_e")
            await confirm(page, "Drain")
            await page.getByText("demo-vp_e is draining.").waitFor()
          })
      })
    )
  }
)
