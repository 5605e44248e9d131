import { readFile } from "node:fs/promises"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { orderImages } from "../support/orders.ts"
import { Browser, inBrowser, steps } from "./support/browser.ts"

const Series = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      start: Schema.String,
      tag: Schema.String,
      count: Schema.Int,
      failed: Schema.Int,
      charge: Schema.String,
      returned: Schema.String
    })
  )
})

const Usage = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

inBrowser("a member's money in the console", layerTestGateway("embedded"), (it) => {
  it.effect("is what the gateway tells: pool, month, series, receipt and file", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("1000.5", { monthlyCap: "2" })
      const projects = ["lighthouse", "<img onerror=alert(1)>", "lighthouse"]
      for (const project of projects) {
        yield* orderImages(who, { model: "paint-1", metadata: { project } })
      }
      const page = yield* browser.open("/money", { session: { apiKey: who.key } })
      yield* steps(async () => {
        await page.getByText("999.9 CNY").first().waitFor()
        await page.getByText("0.6 charged and 0 held of 2 CNY").waitFor()
        const bar = page.getByRole("progressbar", { name: "Monthly cap" })
        assert.strictEqual(await bar.getAttribute("aria-valuenow"), "30")
        const chart = page.getByRole("img", { name: "Spend over time, CNY" })
        // The axis has amounts, and a bar tells its parts and their sum.
        await chart.getByText("0.6", { exact: true }).waitFor()
        await chart.locator(".recharts-bar-rectangle path").first().hover()
        await chart.getByText("paint-1 0.6 CNY").waitFor()
        const totals = page.getByRole("table", { name: "Totals" })
        await totals.getByRole("row", { name: "paint-1 3 0 0.6 0 0 +0.6" }).waitFor()
        await totals.getByRole("row", { name: "Total 3 0 0.6 0 0 +0.6" }).waitFor()
        await page.getByRole("combobox", { name: "Group by" }).click()
        await page.getByRole("option", { name: "Tag" }).click()
        await page.getByText("Enter the name of a tag").waitFor()
        await page.getByLabel("Tag").fill("project")
        await page.getByText("Over time", { exact: true }).click()
        await page.getByRole("table", { name: "Spend over time" }).waitFor()
        // What is asked stands in the address.
        await page.reload()
        await page.getByRole("table", { name: "Spend over time" }).waitFor()
      })
      const { data } = yield* bodyAs(
        Series,
        yield* gateway.call("/v1/usage/series?by=tag&tag=project", { key: who.key })
      )
      assert.lengthOf(data, 2)
      const usage = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
      const receipt = yield* bodyAs(
        ReceiptView,
        yield* gateway.call(`/v1/usage/${usage.data[0]?.id}`, { key: who.key })
      )
      yield* steps(async () => {
        const rows = await page
          .getByRole("table", { name: "Spend over time" })
          .getByRole("row")
          .evaluateAll((all) =>
            all.slice(1).map((row) => [...row.children].map((cell) => cell.textContent))
          )
        const told = data.map((line) => [
          line.start.slice(0, 10),
          line.tag,
          ...[line.count, line.failed].map(String),
          line.charge,
          line.returned
        ])
        assert.deepStrictEqual(rows, told)
        const exported = page.waitForEvent("download")
        await page.getByRole("button", { name: "Export CSV" }).click()
        const [head, ...lines] = (await readFile(await (await exported).path(), "utf8"))
          .trim()
          .split(/\r?\n/)
        assert.strictEqual(head, "Time,Tag,Charges,Failed,Charged,Refunded,Units")
        assert.deepStrictEqual(
          lines.map((line) => line.split(",").slice(0, -1)),
          told
        )
        await page.getByRole("link", { name: "Usage" }).click()
        await page.getByLabel("Tag").fill("project=lighthouse")
        // The file follows what has been typed, however short a time ago.
        const saved = page.waitForEvent("download")
        await page.getByRole("button", { name: "Export CSV" }).click()
        const list = page.getByRole("table", { name: "Charges" }).getByRole("row")
        await list.filter({ hasText: "lighthouse" }).nth(1).waitFor()
        await list.filter({ hasText: "onerror" }).waitFor({ state: "detached" })
        const file = await readFile(await (await saved).path(), "utf8")
        assert.strictEqual(file.trim().split("\n").length, 3)
        await page
          .getByRole("button", { name: /^Receipt/ })
          .first()
          .click()
        await page.getByRole("dialog").getByText(receipt.explanation).waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("dialog").waitFor({ state: "detached" })
        // The key's scopes do not have them.
        await page.getByRole("link", { name: "Statements" }).click()
        await page.getByText("Permission denied.").waitFor()
      })
    })
  )
})
