/** How the gateway is doing, as the console shows it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { OrphanView } from "../../src/features/history/HistoryApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import {
  bodyAs,
  firstAudit,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { createVideo, orderImages } from "../support/orders.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

/** No vendor is asked how far it is, so that what was ordered stays open. */
const settings = { ...quickSettings, askIntervalSeconds: 600, maxAskIntervalSeconds: 600 }

const orphansAt = (query: string) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    return (yield* bodyAs(list(OrphanView), yield* gateway.admin(`/orphans${query}`))).data
  })

inBrowser("health in the console", layerTestGateway("embedded", settings), (it) => {
  it.effect("it is ready, its poller runs, and what is open and plotted is what there is", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      yield* firstAudit
      const who = yield* gateway.customer("100")
      for (const _ of [1, 2]) yield* orderImages(who, { model: "paint-1" })
      const id = yield* createVideo(who, { model: "film-1" })
      const { held } = yield* gateway.balance(who)
      const page = yield* browser.open("/health", { session: asOwner })
      yield* steps(async () => {
        await page.getByText("This gateway accepts requests.").waitFor()
        const checks = page.getByRole("table", { name: "Checks" })
        assert.strictEqual(await checks.getByText("ok", { exact: true }).count(), 6)
        await page.getByText("running", { exact: true }).waitFor()
        await page.getByText("all invariants hold").waitFor()
        await page.getByRole("link", { name: "Open holds" }).click()
        await page.getByText("All: 1 open order").waitFor()
        const ages = page.getByRole("table", { name: "Open holds by age" })
        const youngest = ages.getByRole("row").filter({ hasText: "less than a minute" })
        assert.match((await youngest.textContent()) ?? "", new RegExp(`1${held} CNY$`))
        await page.getByRole("link", { name: id }).waitFor()
        await page.getByRole("link", { name: "Metrics" }).click()
        await page.getByRole("img", { name: "Orders by outcome, orders" }).waitFor()
        await page.getByText("Succeeded 2", { exact: true }).waitFor()
        const channels = page.getByRole("table", { name: "Orders by channel" })
        await channels.getByRole("row", { name: "ch-i 2 0 0.0 %" }).waitFor()
      })
    })
  )

  it.effect("an orphan is resolved with a note", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const vendor = yield* brokenVendor("reset")
      const catalog = testCatalog(gateway.simulator.url)
      const channels = catalog.channels.map((channel) =>
        channel.id === "ch-i" ? { ...channel, base_url: vendor.url } : channel
      )
      yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, channels } })
      const who = yield* gateway.customer("10")
      assert.strictEqual((yield* orderImages(who, { model: "paint-1" })).status, 502)
      const [orphan] = yield* orphansAt("")
      assert.isDefined(orphan)
      const page = yield* browser.open("/health/orphans", { session: asOwner })
      const dialog = page.getByRole("dialog")
      yield* steps(async () => {
        await page.getByRole("cell", { name: "Connection lost" }).waitFor()
        await page.getByRole("cell", { name: "0.2" }).waitFor()
        await page.getByRole("button", { name: "Resolve" }).click()
        await dialog.getByRole("button", { name: "Resolve" }).click()
        await dialog.getByText("Enter a note.").waitFor()
        await dialog.getByLabel("Note").fill("<img src=x onerror=alert(1)> was never made")
        await dialog.getByRole("button", { name: "Resolve" }).click()
        await page.getByText("No orphans").waitFor()
        await page.getByRole("combobox", { name: "Filter" }).click()
        await page.getByRole("option", { name: "resolved" }).click()
        await page.waitForURL(/resolved=true/)
        await page.getByText("<img src=x onerror=alert(1)> was never made").waitFor()
      })
      assert.deepStrictEqual(yield* orphansAt(""), [])
      const [settled] = yield* orphansAt("?resolved=true")
      assert.deepInclude(settled, {
        id: orphan.id,
        note: "<img src=x onerror=alert(1)> was never made"
      })
    })
  )
})
