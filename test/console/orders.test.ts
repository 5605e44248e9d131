/** Orders as their members and as operators look at them, in a real browser. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { TimelineView } from "../../src/features/history/HistoryApi.ts"
import { OwnOrderView } from "../../src/http/api/orderViews.ts"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { list } from "../../src/http/api/shared.ts"
import { toDecimal } from "../support/amounts.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, finishVideo, orderImages, orderVideo } from "../support/orders.ts"
import { TALK_PRICES, talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

/**
 * The first channel of clip-1 is away, so its orders go on to the next. Cached tokens of talk-1
 * have a price of their own.
 */
const catalogFor = (simulatorUrl: string): typeof CatalogWrite.Encoded => {
  const { models, mounts, ...catalog } = textCatalog()(simulatorUrl)
  const talkPrices = { ...TALK_PRICES, per_million_cached_input: "0.5" }
  return {
    ...catalog,
    models: models.map((model) =>
      model.id === "talk-1" ? { ...model, prices: talkPrices } : model
    ),
    mounts: [
      ...mounts.map((mount) => (mount.model === "clip-1" ? { ...mount, priority: 1 } : mount)),
      { model: "clip-1", channel: "ch-down", upstream_model: "vendor-clip-1", priority: 0 }
    ]
  }
}

const History = Schema.Struct({
  ...TimelineView.fields,
  orphan: Schema.NullOr(Schema.Struct({ note: Schema.NullOr(Schema.String) }))
})

const historyOf = Effect.fnUntraced(function* (id: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(History, yield* gateway.admin(`/tasks/${id}`))
})

const orderOf = Effect.fnUntraced(function* (who: Customer, id: string) {
  const gateway = yield* Gateway
  return yield* bodyAs(OwnOrderView, yield* gateway.call(`/v1/orders/${id}`, { key: who.key }))
})

const MARKUP = 'no <b>bold</b> <img src="x" onerror="document.title=1"> words'

inBrowser(
  "orders in the console",
  layerTestGateway("embedded", { ...quickSettings, webhookAllowPrivate: true }, { catalogFor }),
  (it) => {
    it.effect("a failed one shows its member and an operator what was given back", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("100")
        const endpoint = yield* gateway.call("/v1/webhook_endpoints", {
          key: who.key,
          json: { name: "ends", url: "http://127.0.0.1:9/ends", event_types: ["video.failed"] }
        })
        assert.isBelow(endpoint.status, 300, endpoint.text)
        const id = yield* createVideo(who, {
          model: "film-1",
          prompt: "x sim:fail",
          callback_url: "http://127.0.0.1:9/back"
        })
        const { error } = yield* finishVideo(who, id)
        const { hold } = yield* orderOf(who, id)
        const { transitions } = yield* historyOf(id)
        const page = yield* browser.open("/orders?state=failed", {
          session: { apiKey: who.key, ...asOwner }
        })
        yield* steps(async () => {
          const row = page.getByRole("row", { name: "film-1" })
          await row.getByText("Failed").waitFor()
          await row.getByTitle(id).click()
          const life = page.getByRole("region", { name: "Timeline" })
          await life.getByText(`The hold of ${hold} CNY was released in full.`).waitFor()
          await page
            .getByRole("region", { name: "Result" })
            .getByText(error?.message ?? "-")
            .waitFor()
          await page.getByText("No receipt: nothing was charged").waitFor()
          // To the endpoint and to the callback.
          await life.getByText("Webhook video.failed").nth(1).waitFor()
          assert.match(
            (await life.getByRole("link", { name: "callback" }).getAttribute("href")) ?? "",
            /\/console\/webhooks\/callback_/
          )
          assert.match(
            (await life.getByRole("link", { name: "ends" }).getAttribute("href")) ?? "",
            /\/console\/webhooks\/whe_/
          )
          await page.getByRole("button", { name: "Copy link" }).click()
          const link = await page.evaluate(() => navigator.clipboard.readText())
          assert.strictEqual(link, `${gateway.url}/console/orders/${id}`)
        })
        assert.deepInclude(yield* gateway.balance(who), { balance: "100", held: "0" })
        yield* steps(async () => {
          await page.goto(`${gateway.url}/console/all-orders/${id}`)
          const life = page.getByRole("region", { name: "Timeline" })
          await life.getByText(`The hold of ${hold} CNY was released in full.`).waitFor()
          await life.getByText("Failed", { exact: true }).waitFor()
          await life.getByText("Webhook video.failed").nth(1).waitFor()
          const said = await life.getByText(/^by /).allTextContents()
          assert.deepStrictEqual(
            said,
            transitions.map(({ by }) => `by ${by}`)
          )
        })
      })
    )

    it.effect(
      "a refused one names its reason to the member, and to operators who answered what",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const browser = yield* Browser
          const who = yield* gateway.customer("100")
          yield* orderImages(who, { model: "paint-1", prompt: "x sim:refuse=400" })
          const orders = yield* gateway.call("/v1/orders", { key: who.key })
          const [own] = (yield* bodyAs(list(OwnOrderView), orders)).data
          const { attempts } = yield* historyOf(own?.id ?? "")
          const { channel, status, message } = attempts.at(-1) ?? assert.fail("no attempt")
          const page = yield* browser.open(`/orders/${own?.id}`, {
            session: { apiKey: who.key, ...asOwner }
          })
          yield* steps(async () => {
            const result = page.getByRole("region", { name: "Result" })
            await result.getByText(own?.error?.message ?? "-").waitFor()
            await page.goto(`${gateway.url}/console/all-orders/${own?.id}`)
            const headline = page
              .getByRole("alert")
              .getByText(`${channel} answered ${status}: ${message}`)
            await headline.waitFor()
          })
        })
    )

    it.effect("the list sees what is ordered meanwhile, and a result is shown and deleted", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("100")
        const page = yield* browser.open("/orders", { session: { apiKey: who.key } })
        yield* steps(() => page.getByText("No orders yet").waitFor())
        const made = yield* gateway.call("/v1/images/generations", {
          key: who.key,
          headers: { prefer: "respond-async" },
          json: { model: "paint-1", prompt: "x", n: 2, metadata: { team: "red" } }
        })
        const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), made)
        yield* orderImages(who, { model: "paint-1" })
        yield* gateway.call(`/v1/images/${id}?wait=30`, { key: who.key })
        const { charge, usage_id } = yield* orderOf(who, id)
        const receipt = yield* gateway.call(`/v1/usage/${usage_id}`, { key: who.key })
        const { explanation } = yield* bodyAs(
          Schema.Struct({ explanation: Schema.String }),
          receipt
        )
        yield* steps(async () => {
          const rows = page.getByRole("table", { name: "Orders" }).getByRole("row")
          await rows.nth(2).waitFor()
          assert.strictEqual(await rows.count(), 3)
          const row = rows.filter({ has: page.getByTitle(id) })
          await row.locator("img").waitFor()
          await row.getByText("red", { exact: true }).waitFor()
          const pick = async (label: string, choice: string) => {
            await page.getByRole("combobox", { name: label, exact: true }).click()
            await page.getByRole("option", { name: choice, exact: true }).click()
          }
          await pick("Model", "film-1")
          await page.waitForURL(/model=film-1/)
          await page.getByText("No orders match these filters").waitFor()
          await pick("Period", "This month")
          await page.waitForURL(/from=\d{4}-\d\d-01/)
          await page.getByRole("button", { name: "Clear filters" }).click()
          await rows.nth(2).waitFor()
          await page.setViewportSize({ width: 390, height: 844 })
          // Only a table scrolls sideways; its rows become cards.
          await page.getByRole("group", { name: "Orders" }).waitFor({ state: "detached" })
          await row.getByRole("cell", { name: "Succeeded" }).waitFor()
          const charged = row.locator('[data-label="Charge (CNY)"]')
          assert.strictEqual(await charged.textContent(), charge)
          // The places are read at once: the list moves while it is filled.
          const places = await row.evaluate((card) =>
            [
              ...card.querySelectorAll('img, [data-label="Status"], [data-label="Charge (CNY)"]')
            ].map((part) => {
              const { top, bottom, right } = part.getBoundingClientRect()
              return { top, bottom, right }
            })
          )
          assert.lengthOf(places, 3)
          let above = Number.NEGATIVE_INFINITY
          for (const { top, bottom, right } of places) {
            assert.isAtLeast(top, above)
            assert.isAtMost(right, 390)
            above = bottom
          }
          await page.setViewportSize({ width: 1280, height: 900 })
          await page.getByRole("button", { name: "Filter by team=red" }).click()
          await page.waitForURL(/tag=team%3Dred/)
          await rows.nth(2).waitFor({ state: "detached" })
          await page.getByTitle(id).click()
          await page.getByText(explanation).waitFor()
          await page.getByText(`${charge} CNY charged`).waitFor()
          const shown = page.getByRole("img", { name: "Image 2" })
          await shown.waitFor()
          const width = await shown.evaluate(async (image) => {
            if (!(image instanceof HTMLImageElement)) return 0
            await image.decode()
            return image.naturalWidth
          })
          assert.isAbove(width, 0)
          await page.getByRole("button", { name: "Delete" }).click()
          const dialog = page.getByRole("dialog")
          await dialog.getByText("is not refunded").waitFor()
          await dialog.getByRole("button", { name: "Delete" }).click()
          await page.getByText("Deleted by its owner").waitFor()
          await page.getByRole("link", { name: "Back to orders" }).click()
          await page.waitForURL(/\/orders\/?\?tag=/)
        })
        const gone = yield* gateway.call(`/v1/images/${id}`, { key: who.key })
        assert.strictEqual(gone.status, 404)
        const { deleted_at, ...after } = yield* orderOf(who, id)
        assert.isNotNull(deleted_at)
        assert.strictEqual(after.charge, charge)
      })
    )

    it.effect("a receipt has a line for each price, cached tokens apart from other input", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("1")
        const prompt = `${"a long and repeated prefix ".repeat(10)} sim:cached=40`
        assert.strictEqual((yield* ask(who, talk(prompt))).status, 200)
        const orders = yield* gateway.call("/v1/orders?limit=1", { key: who.key })
        const [order] = (yield* bodyAs(list(OwnOrderView), orders)).data
        const receipt = yield* bodyAs(
          ReceiptView,
          yield* gateway.call(`/v1/usage/${order?.usage_id}`, { key: who.key })
        )
        const [input, output] = [receipt.input_units - 40, receipt.units]
        const page = yield* browser.open(`/orders/${order?.id}`, { session: { apiKey: who.key } })
        const rows = yield* steps(async () => {
          const lines = page.getByRole("table", { name: "Charged units" })
          await lines.getByText("Cached input tokens").waitFor()
          return lines
            .getByRole("row")
            .evaluateAll((all) =>
              all.slice(1).map((row) => [...row.children].map((cell) => cell.textContent))
            )
        })
        const amount = (nano: number) => `${toDecimal(BigInt(nano))} CNY`
        assert.deepStrictEqual(rows, [
          ["Input", `${input}`, "0.000002 / token", amount(input * 2000)],
          ["Cached input tokens", "40", "0.0000005 / token", "0.00002 CNY"],
          ["Output", `${output}`, "0.000008 / token", amount(output * 8000)]
        ])
      })
    )

    it.effect("an operator finds one by the vendor's id and by its tag, and sees its ways", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("100")
        yield* gateway.admin(`/organizations/${who.organizationId}`, {
          method: "PATCH",
          json: { name: "Lighthouse Film" }
        })
        const id = yield* createVideo(who, { model: "clip-1", metadata: { shot: "twelve" } })
        yield* finishVideo(who, id)
        yield* createVideo(who, { model: "film-1" })
        const history = yield* historyOf(id)
        assert.deepStrictEqual(
          history.attempts.map(({ channel }) => channel),
          ["ch-down", "ch-d"]
        )
        const page = yield* browser.open("/all-orders", { session: asOwner })
        yield* steps(async () => {
          const search = page.getByRole("textbox", { name: /vendor job ID, or a tag/ })
          const rows = page.getByRole("table", { name: "Orders" }).getByRole("row")
          const one = rows.filter({ hasText: "Lighthouse Film" })
          for (const [text, address] of [
            [history.upstream_id ?? "", /upstream_id=/],
            ["shot=twelve", /tag=shot%3Dtwelve/]
          ] as const) {
            await search.fill(text)
            await search.press("Enter")
            await page.waitForURL(address)
            await rows.nth(2).waitFor({ state: "detached" })
            await one.getByTitle(id).waitFor()
          }
          const totals = page.getByRole("region", { name: "Totals" })
          await totals.getByText(`${history.quote.amount} CNY`).waitFor()
          await search.fill(id)
          await search.press("Enter")
          await page.waitForURL(new RegExp(`/all-orders/${id}`))
          const attempts = page.getByRole("table", { name: "Attempts" })
          for (const { channel, reason } of history.attempts) {
            const failure = attempts.getByRole("row", { name: channel }).getByRole("cell").last()
            assert.strictEqual(reason === null, (await failure.textContent()) === "")
            if (reason !== null) await failure.getByText(reason).waitFor()
          }
          const calls = page.getByRole("region", { name: "Vendor calls" })
          await calls
            .getByRole("button", { name: /Submit/ })
            .last()
            .waitFor()
          const buttons = calls.getByRole("button")
          assert.strictEqual(await buttons.count(), history.upstream_calls.length)
          await buttons.last().click()
          await calls.getByLabel("Response").filter({ visible: true }).getByText("{").waitFor()
          const ledger = page.getByRole("table", { name: "Ledger" })
          assert.strictEqual(await ledger.getByRole("row").count(), history.ledger.length + 1)
        })
      })
    )

    it.effect("what may have been made unpaid is resolved by those whose role may", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("100")
        const lost = yield* orderVideo(who, { model: "film-1", prompt: "x sim:lost" })
        assert.isAtLeast(lost.status, 500)
        const orders = yield* gateway.call("/v1/orders", { key: who.key })
        const { data } = yield* bodyAs(
          Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }),
          orders
        )
        const id = data[0]?.id ?? ""
        const made = yield* gateway.admin("/operators", {
          json: { name: "who looks", role: "viewer" }
        })
        const { token } = yield* bodyAs(Schema.Struct({ token: Schema.String }), made)
        const looking = yield* browser.open(`/all-orders/${id}`, {
          session: { operator: { token, name: "who looks", role: "viewer" } }
        })
        yield* steps(async () => {
          await looking.getByText("Your role has read access only.").waitFor()
          assert.strictEqual(await looking.getByRole("button", { name: "Settle" }).count(), 0)
        })
        const page = yield* browser.open(`/all-orders/${id}`, { session: asOwner })
        yield* steps(async () => {
          await page.getByLabel("Resolution note").fill("they billed nothing")
          await page.getByRole("button", { name: "Resolve" }).click()
          await page.getByText("The orphan was resolved.").waitFor()
          await page.getByRole("cell", { name: "they billed nothing" }).waitFor()
        })
        assert.strictEqual((yield* historyOf(id)).orphan?.note, "they billed nothing")
      })
    )

    it.effect("a vendor's words stay words", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const vendor = yield* brokenVendor(({ method }) => ({
          body:
            method === "POST"
              ? { id: "job" }
              : { id: "job", status: "failed", error: { code: "<i>Bad</i>", message: MARKUP } }
        }))
        const catalog = catalogFor(gateway.simulator.url)
        yield* gateway.admin("/catalog", {
          method: "PUT",
          json: {
            ...catalog,
            channels: catalog.channels.map((channel) =>
              channel.id === "ch-a" ? { ...channel, base_url: vendor.url } : channel
            )
          }
        })
        const who = yield* gateway.customer("100")
        const id = yield* createVideo(who, { model: "film-1" })
        yield* finishVideo(who, id)
        const page = yield* browser.open(`/orders/${id}`, {
          session: { apiKey: who.key, ...asOwner }
        })
        yield* steps(async () => {
          for (const path of ["orders", "all-orders"]) {
            await page.goto(`${gateway.url}/console/${path}/${id}`)
            await page
              .getByText(/no <b>bold<\/b> .* words/)
              .first()
              .waitFor()
            await page.getByText("<i>Bad</i>").first().waitFor()
            assert.strictEqual(await page.locator("main b, main i, main img").count(), 0, path)
          }
        })
      })
    )

    it.effect("one of another organisation is none at all", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const owner = yield* gateway.customer("100")
        const stranger = yield* gateway.customer("100")
        yield* orderImages(owner, { model: "paint-1" })
        const listed = yield* gateway.admin(
          `/orders?organization_id=${owner.organizationId}&limit=1`
        )
        const { data } = yield* bodyAs(
          Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) }),
          listed
        )
        const id = data[0]?.id ?? ""
        const page = yield* browser.open("/orders", { session: { apiKey: stranger.key } })
        yield* steps(async () => {
          await page.getByText("No orders yet").waitFor()
          const answered = page.waitForResponse((answer) =>
            answer.url().endsWith(`/v1/orders/${id}`)
          )
          await page.getByRole("textbox", { name: /Order ID/ }).fill(id)
          await page.getByRole("button", { name: "Search" }).click()
          await page.getByRole("heading", { name: "Order not found" }).waitFor()
          assert.strictEqual((await answered).status(), 404)
        })
        const own = yield* gateway.call(`/v1/orders/${id}`, { key: owner.key })
        assert.strictEqual(own.status, 200)
      })
    )
  }
)
