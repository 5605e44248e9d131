import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { StatementView } from "../../src/features/statements/StatementsApi.ts"
import { BudgetView } from "../../src/http/api/admin/budgets.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { errorOf, orderImages } from "../support/orders.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"

const month = () => new Date().toISOString().slice(0, 7)
const customerPage = ({ organizationId }: Customer) => `/customers/${organizationId}`

/** An image costs 0.2. */
const image = { model: "paint-1" }

const Budgets = Schema.Struct({ data: Schema.Array(BudgetView) })
const Usage = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String, charge: Schema.String }))
})
const Operator = Schema.Struct({ token: Schema.String })

const operatorOf = Effect.fnUntraced(function* (role: "operator" | "finance" | "viewer") {
  const gateway = yield* Gateway
  const made = yield* gateway.admin("/operators", { json: { name: `a ${role}`, role } })
  const { token } = yield* bodyAs(Operator, made)
  return { operator: { token, name: `a ${role}`, role } } as const
})

/** Cells of the row with these texts. */
const rowOf = (page: Page, table: string, ...texts: ReadonlyArray<string>) =>
  texts.reduce(
    (rows, hasText) => rows.filter({ hasText }),
    page.getByRole("table", { name: table }).getByRole("row")
  )

inBrowser("the books of the console", layerTestGateway("embedded"), (it) => {
  it.effect("make a budget, show it full, and why orders are refused", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("10")
      const path = `${customerPage(who)}/budgets`
      const page = yield* browser.open(path, { session: yield* operatorOf("finance") })
      yield* steps(async () => {
        await page.getByRole("button", { name: "New budget" }).click()
        await page.getByRole("combobox", { name: "Scope" }).click()
        await page.getByRole("option", { name: "Member", exact: true }).click()
        await page.getByRole("combobox", { name: "Member" }).click()
        await page.getByRole("option", { name: /^tester/ }).click()
        const form = page.getByRole("dialog", { name: "New budget" })
        const amount = form.getByLabel("Amount, CNY")
        await amount.fill("0,5")
        await form.getByRole("button", { name: "Save" }).click()
        await page.getByText("An amount such as 12.5").waitFor()
        await amount.fill("0.4")
        await form.getByRole("button", { name: "Save" }).click()
        const card = page.getByRole("region", { name: "Member tester · per month" })
        await card.getByText("0 charged and 0 held of 0.4 CNY").waitFor()
      })
      for (const _ of [1, 2]) {
        assert.strictEqual((yield* orderImages(who, image)).status, 200)
      }
      const refused = yield* orderImages(who, image)
      assert.strictEqual((yield* errorOf(refused)).code, "budget_exceeded")
      const { data } = yield* bodyAs(
        Budgets,
        yield* gateway.admin(`/organizations/${who.organizationId}/budgets`)
      )
      const [budget] = data
      assert.deepInclude(budget, { amount: "0.4", used: "0.4", subject_id: who.memberId })
      yield* steps(async () => {
        await page.reload()
        const card = page.getByRole("region", { name: "Member tester · per month" })
        await card.getByText("0.4 charged and 0 held of 0.4 CNY").waitFor()
        await card.getByText("used up").waitFor()
        await card.getByText("New orders in this scope are rejected.").waitFor()
        const bar = card.getByRole("progressbar")
        assert.strictEqual(await bar.getAttribute("aria-valuenow"), "100")
        await card.getByRole("button", { name: /^Remove/ }).click()
        const dialog = page.getByRole("dialog")
        await dialog.getByRole("button", { name: "Remove" }).click()
        await page.getByText("No budgets yet").waitFor()
      })
      assert.strictEqual((yield* orderImages(who, image)).status, 200)
    })
  )

  it.effect("correct a charge, which journal, balance and statement tell exactly", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("10")
      yield* orderImages(who, { ...image, n: 3 })
      yield* orderImages(who, { ...image, n: 2 })
      const { data } = yield* bodyAs(Usage, yield* gateway.call("/v1/usage", { key: who.key }))
      const charge = data.find((record) => record.charge === "0.6")
      const page = yield* browser.open(`${customerPage(who)}/money/charges`, { session: asOwner })
      const why = "<b>one</b> was black"
      yield* steps(async () => {
        await page.getByRole("button", { name: `Receipt ${charge?.id}` }).click()
        await page.getByRole("button", { name: "Refund this charge" }).click()
        const form = page.getByRole("dialog", { name: "Refund this charge" })
        await form.getByLabel("Amount, CNY").fill("0.100000001")
        await form.getByLabel("Reason").fill(why)
        await form.getByRole("button", { name: "Book adjustment" }).dblclick()
        await page.getByText("Balance: 9.100000001 CNY").waitFor()
      })
      const pool = yield* gateway.balance(who)
      assert.strictEqual(pool.balance, "9.100000001")
      yield* steps(async () => {
        await page.goto(page.url().replace(/\/charges.*/, "?as=table"))
        // Walked back from what the pool has now, to nothing.
        await page.getByText("Complete since").waitFor()
        const points = page.getByRole("table", { name: "Balance and held over time" })
        await points.waitFor()
        const balances = await points
          .getByRole("row")
          .evaluateAll((rows) => rows.slice(1).map((row) => row.children[1]?.textContent))
        const steps = balances.filter((balance, index) => balance !== balances[index - 1])
        assert.deepStrictEqual(steps, ["9.100000001", "9", "9.4", "10"])
        assert.strictEqual(await page.getByText("unaccounted for").count(), 0)
        await rowOf(page, "Journal", "Correction", why, "0.100000001").waitFor()
      })
      const statement = yield* bodyAs(
        StatementView,
        yield* gateway.admin(`/organizations/${who.organizationId}/statements/${month()}`)
      )
      yield* steps(async () => {
        await page.getByRole("link", { name: "Statements" }).click()
        await page.getByRole("link", { name: month() }).click()
        await rowOf(page, "Balance", "Closing balance", statement.closing_balance).waitFor()
        await rowOf(page, "Balance", "Corrections of charges", "0.100000001").waitFor()
        await rowOf(page, "Deposits and adjustments", why, "GATEWAY_ADMIN_TOKEN").waitFor()
        await rowOf(page, "Charges by model", "paint-1", "0.899999999").waitFor()
        const saved = page.waitForEvent("download")
        await page.getByRole("button", { name: "Entries (CSV)" }).click()
        const name = (await saved).suggestedFilename()
        assert.strictEqual(name, `statement-${who.organizationId}-${month()}.csv`)
      })
      assert.strictEqual(statement.closing_balance, "9.100000001")
    })
  )

  it.effect("offer each role what it may do", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("10")
      const rights = { viewer: false, operator: false, finance: true } as const
      for (const role of ["viewer", "operator", "finance"] as const) {
        const session = yield* operatorOf(role)
        const page = yield* browser.open(`${customerPage(who)}/money/transfers`, { session })
        yield* steps(async () => {
          await rowOf(page, "Deposits", "10").waitFor()
          const offered = await page.getByRole("button", { name: "Add adjustment" }).count()
          assert.deepStrictEqual([role, offered > 0], [role, rights[role]])
          assert.strictEqual(
            await page.getByRole("button", { name: "Add deposit" }).count(),
            offered
          )
        })
        if (role !== "finance") {
          const answer = yield* gateway.call(
            `/admin/v1/organizations/${who.organizationId}/deposits`,
            { key: session.operator.token, json: { amount: "1", reference: role } }
          )
          assert.strictEqual(answer.status, 403)
          continue
        }
        yield* steps(async () => {
          await page.getByRole("button", { name: "Add deposit" }).click()
          await page.getByLabel("Amount, CNY").fill("2.5")
          await page.getByRole("button", { name: "Deposit", exact: true }).click()
          await rowOf(page, "Deposits", "2.5", "console-").waitFor()
          await page.getByRole("link", { name: "Finance" }).click()
          await page.getByRole("link", { name: "Verify" }).click()
          await page.getByRole("button", { name: "Verify now" }).click()
          await page.getByText("All invariants hold.").waitFor()
        })
        assert.strictEqual((yield* gateway.balance(who)).balance, "12.5")
      }
    })
  )

  it.effect("compare a vendor's list, tell its faults by line, and what is missing", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/books/reconciliations", { session: asOwner })
      const upload = (text: string) =>
        page
          .locator('input[type="file"]')
          .setInputFiles({ name: "bill.csv", mimeType: "text/csv", buffer: Buffer.from(text) })
      yield* steps(async () => {
        await page.getByRole("button", { name: "New reconciliation" }).click()
        await upload("task;billed\ncgt-17;1,50\ncgt-18;much\n")
        await page.getByRole("combobox", { name: "Channel" }).click()
        await page.getByRole("option", { name: "A (ch-a)" }).click()
        await page.getByRole("combobox", { name: "Job ID column" }).fill("task")
        await page.getByRole("combobox", { name: "Amount column" }).click()
        // The names are read off the file.
        await page.getByRole("option", { name: "billed" }).click()
        await page.getByRole("combobox", { name: "Decimal separator" }).click()
        await page.getByRole("option", { name: "comma ," }).click()
        const go = page.getByRole("button", { name: "Reconcile", exact: true })
        await go.click()
        await rowOf(page, "Errors in the file", "billed", "3").waitFor()
        await upload("task;billed\ncgt-17;1,50\n")
        await go.click()
        await page.getByRole("heading", { name: "Bill of ch-a" }).waitFor()
        await rowOf(page, "Result", "Missing in the gateway", "1.5").waitFor()
        await rowOf(page, "Entries", "cgt-17", "Missing in the gateway", "unknown", "1.5").waitFor()
        await page.getByRole("button", { name: "Remove" }).click()
        const dialog = page.getByRole("dialog")
        await dialog.getByRole("button", { name: "Remove" }).click()
        await page.getByText("No reconciliations yet").waitFor()
      })
    })
  )
})
