/** Price lists are written in the console, and an organisation is put on one. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { PriceListView } from "../../src/features/priceLists/PriceListsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

inBrowser("price lists in the console", layerTestGateway("embedded"), (it) => {
  it.effect(
    "a list is made, refused where a factor does not fit, and given to an organisation",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("1")
        const page = yield* browser.open("/price-lists", { session: asOwner })
        const dialog = page.getByRole("dialog")
        const newest = Effect.gen(function* () {
          const answer = yield* gateway.admin("/price-lists")
          const [one] = (yield* bodyAs(list(PriceListView), answer)).data
          return one ?? assert.fail(answer.text)
        })
        yield* steps(async () => {
          await page.getByRole("button", { name: "New price list" }).click()
          await dialog.getByLabel("Name").fill("Partners")
          await dialog.getByLabel("Factor").fill("0.0000001")
          await dialog.getByRole("button", { name: "Save" }).click()
          await dialog.getByText("the nearest that fits every price").first().waitFor()
          await dialog.getByLabel("Factor").fill("0.85")
          await dialog.getByText("clip-1: 0.6 becomes 0.51").waitFor()
          await dialog.getByRole("button", { name: "Save" }).click()
          await dialog.waitFor({ state: "detached" })
          await page.getByRole("cell", { name: "0.85 × catalog" }).waitFor()
        })
        assert.deepInclude(yield* newest, { name: "Partners", factor: "0.85", watermark: null })

        yield* steps(async () => {
          await page.getByRole("button", { name: "Actions: Partners", exact: true }).click()
          await page.getByRole("menuitem", { name: "Edit", exact: true }).click()
          await dialog.getByRole("combobox", { name: "Type" }).click()
          await page.getByRole("option", { name: "Prices by model" }).click()
          await dialog.getByRole("combobox", { name: "Add model" }).click()
          await page.getByRole("option", { name: "paint-1", exact: true }).click()
          await dialog.getByLabel("Per image").fill("0.15")
          await dialog.getByLabel("Valid from").fill("2020-01-31")
          await dialog.getByRole("combobox", { name: "Watermark" }).click()
          await page.getByRole("option", { name: "On", exact: true }).click()
          await dialog.getByRole("button", { name: "Save" }).click()
          await dialog.waitFor({ state: "detached" })
          await page.getByRole("cell", { name: "1 model" }).waitFor()
        })
        const { id, prices, version, holds_from, watermark } = yield* newest
        assert.deepStrictEqual([holds_from, watermark], ["2020-01-31", true])
        assert.deepEqual(prices, { "paint-1": { kind: "image", per_image: 150_000_000n } })
        assert.strictEqual(version, 2)

        const organization = yield* browser.open(`/customers/${who.organizationId}`, {
          session: asOwner
        })
        const choice = organization.getByRole("dialog")
        yield* steps(async () => {
          await organization.getByRole("button", { name: "Set price list" }).click()
          await choice.getByRole("combobox", { name: "Price list" }).click()
          await organization.getByRole("option", { name: "Partners" }).click()
          await choice.getByRole("button", { name: "Save" }).click()
          await organization.getByText("The price list was saved").waitFor()
          await organization.getByRole("button", { name: "Set credit" }).click()
          await choice.getByLabel("Credit", { exact: true }).fill("5")
          await choice.getByLabel("Holds may use the credit").check()
          await choice.getByRole("button", { name: "Save" }).click()
          await organization.getByText("also for holds").waitFor()
        })
        const { body } = yield* gateway.admin(`/organizations/${who.organizationId}`)
        assert.deepInclude(body, {
          price_list: id,
          credit: "5",
          holds_on_credit: true,
          available: "6"
        })
      })
  )

  it.effect("a month is replayed under the lists of the organisations, or under one for all", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("10")
      const made = yield* gateway.admin("/price-lists", { json: { name: "Half", factor: "0.5" } })
      assert.strictEqual(made.status, 200, made.text)
      yield* orderImages(who, { model: "paint-1" })
      const page = yield* browser.open("/catalog?list=models", { session: asOwner })
      const dialog = page.getByRole("dialog")
      yield* steps(async () => {
        await page.getByRole("button", { name: "Edit paint-1", exact: true }).click()
        await dialog.getByLabel("Per image").fill("0.3")
        await dialog.getByRole("button", { name: "Save to draft" }).click()
        await page.getByRole("button", { name: "Review and apply" }).click()
        const choice = dialog.getByRole("combobox", { name: "Price list" })
        const total = dialog.getByRole("row", { name: /^Total/ })
        for (const [option, charge] of [
          [null, "0.3 CNY"],
          ["Half", "0.15 CNY"],
          ["None (catalog prices)", "0.3 CNY"]
        ] as const) {
          if (option !== null) {
            await choice.click()
            await page.getByRole("option", { name: option }).click()
            await total.waitFor({ state: "detached" })
          }
          await dialog.getByRole("button", { name: "Replay" }).click()
          const [before, after] = [total.getByRole("cell").nth(2), total.getByRole("cell").nth(3)]
          assert.strictEqual(await before.textContent(), "0.2 CNY")
          assert.strictEqual(await after.textContent(), charge)
        }
      })
    })
  )
})
