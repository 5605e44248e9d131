/** Customers and operators are managed in the console, as far as the role of its operator goes. */
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KeyView, OrganizationView } from "../../src/features/accounts/AccountsApi.ts"
import { AuditView } from "../../src/features/history/HistoryApi.ts"
import { list } from "../../src/http/api/shared.ts"
import type { Role } from "../../src/services/operators/Operators.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"

const image = (key: string) => ({ key, json: { model: "paint-1", prompt: "a lighthouse" } })

/** Picks from the menu of a row. */
const pick = async (page: Page, row: string, action: string) => {
  await page.getByRole("button", { name: `Actions: ${row}`, exact: true }).click()
  await page.getByRole("menuitem", { name: action, exact: true }).click()
}

const Made = Schema.Struct({ token: Schema.String })

inBrowser("customers in the console", layerTestGateway("embedded"), (it) => {
  it.effect("a key is made, shown once, used and revoked, and its tabs are told", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const page = yield* browser.open("/customers", { session: asOwner })
      const dialog = page.getByRole("dialog")
      const key = yield* steps(async () => {
        await page.getByRole("button", { name: "New customer" }).click()
        await dialog.getByLabel("Name", { exact: true }).fill("Lighthouse")
        await dialog.getByRole("button", { name: "Create" }).click()
        await page.getByRole("heading", { name: "Lighthouse" }).waitFor()
        await page.getByRole("link", { name: "Members" }).click()
        await page.getByRole("button", { name: "New member" }).click()
        await dialog.getByLabel("Name").fill("Ann")
        await dialog.getByLabel("Monthly cap").fill("0.5")
        // A person may press twice.
        await dialog.getByRole("button", { name: "Create" }).dblclick()
        await dialog.waitFor({ state: "detached" })
        await page.getByRole("cell", { name: "0.5 CNY" }).waitFor()
        await pick(page, "Ann", "New key")
        await dialog.getByLabel("Name").fill("painting")
        await dialog.getByLabel("chat").uncheck()
        await dialog.getByRole("button", { name: "Create" }).click()
        const secret = dialog.getByLabel("API key")
        await secret.waitFor()
        await page.keyboard.press("Escape")
        await page.mouse.click(5, 5)
        const shown = await secret.inputValue()
        await dialog.getByRole("button", { name: "Copy" }).click()
        assert.strictEqual(await page.evaluate(() => navigator.clipboard.readText()), shown)
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        await dialog.waitFor({ state: "detached" })
        assert.notInclude(await page.content(), shown)
        assert.strictEqual(
          await page.evaluate(() => document.activeElement?.ariaLabel),
          "Actions: Ann"
        )
        return shown
      })
      const [organization] = (yield* bodyAs(
        list(OrganizationView),
        yield* gateway.admin("/organizations?limit=1")
      )).data
      assert.isDefined(organization)
      assert.strictEqual(organization.name, "Lighthouse")
      yield* steps(async () => {
        await page
          .getByRole("navigation", { name: "Lighthouse" })
          .getByRole("link", { name: "Overview" })
          .click()
        await page.getByText("Gateway default").waitFor()
        await page.getByRole("button", { name: "Set watermark" }).click()
        await dialog.getByRole("combobox", { name: "Watermark" }).click()
        await page.getByRole("option", { name: "On", exact: true }).click()
        await dialog.getByRole("button", { name: "Save" }).click()
        await page.getByText("The watermark was saved").waitFor()
      })
      const marking = yield* gateway.admin(`/organizations/${organization.id}`)
      assert.deepInclude(marking.body, { watermark: true })
      const keys = yield* gateway.admin(`/keys?organization_id=${organization.id}`)
      const [made] = (yield* bodyAs(list(KeyView), keys)).data
      assert.deepInclude(made, {
        name: "painting",
        scopes: [
          "models",
          "videos",
          "images",
          "embeddings",
          "rerank",
          "audio",
          "usage",
          "webhooks"
        ],
        models: null,
        expires_at: null
      })
      const members = yield* gateway.admin(`/members?organization_id=${organization.id}`)
      assert.lengthOf(members.text.match(/"mem_[^"]+"/g) ?? [], 1)

      yield* gateway.admin(`/organizations/${organization.id}/deposits`, {
        json: { amount: "1", reference: "r" }
      })
      const order = gateway.call("/v1/images/generations", image(key))
      assert.strictEqual((yield* order).status, 200)

      const developer = yield* browser.open("/webhooks", { session: { apiKey: key } })
      yield* steps(async () => {
        await developer.getByText("Lighthouse · Ann").waitFor()
        await page.getByRole("link", { name: "Members" }).click()
        await page.reload()
        await page.getByRole("cell", { name: "0.2 CNY" }).waitFor()
        await page.getByRole("link", { name: "Ann", exact: true }).click()
        await page.getByText("Keys of Ann").waitFor()
        await pick(page, "painting", "Revoke")
        await dialog.getByText("This cannot be undone").waitFor()
        await dialog.getByRole("button", { name: "Revoke" }).click()
        await page.getByRole("table", { name: "Keys" }).getByText("revoked").waitFor()
      })
      const refused = yield* order.pipe(
        Effect.repeat({ until: ({ status }) => status === 401 }),
        Effect.timeout("1 second")
      )
      assert.deepNestedInclude(refused.body, { "error.code": "invalid_api_key" })
      yield* steps(async () => {
        await developer.reload()
        await developer.getByText("of this tab is no longer valid").waitFor()
        await developer.getByRole("heading", { name: "Sign in" }).waitFor()
      })
    })
  )

  it.effect("an agent gets a key with a budget, which it reads itself, and its settings", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("10")
      const page = yield* browser.open("/agents", { session: asOwner })
      const dialog = page.getByRole("dialog")
      const choose = async (label: string, id: string) => {
        await dialog.getByRole("combobox", { name: label }).click()
        await page.getByRole("option", { name: id }).click()
      }
      const key = yield* steps(async () => {
        await page.getByRole("button", { name: "New agent key" }).click()
        await dialog.getByLabel("Name").fill("painter")
        await choose("Organisation", who.organizationId)
        await choose("Member", "tester")
        await dialog.getByRole("button", { name: "Create" }).click()
        await dialog.getByText("Enter a positive amount").waitFor()
        await dialog.getByLabel("Budget", { exact: true }).fill("0.5")
        await dialog.getByRole("button", { name: "Create" }).click()
        const secret = await dialog.getByLabel("API key").inputValue()
        await dialog.getByLabel("Settings for Claude Code").getByText(secret).waitFor()
        for (const name of ["Claude Desktop", "Cursor", "VS Code"]) {
          await dialog.getByRole("tab", { name }).click()
          const settings = await dialog.getByLabel(`Settings for ${name}`).textContent()
          assert.include(JSON.stringify(JSON.parse(settings ?? "")), secret)
        }
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        const row = page.getByRole("row").filter({ hasText: "painter · in total" })
        await row.getByText("0.5 CNY").first().waitFor()
        return secret
      })
      assert.strictEqual((yield* gateway.call("/v1/images/generations", image(key))).status, 200)
      const agent = yield* browser.open("/agents", { session: { apiKey: key } })
      yield* steps(async () => {
        const budgets = agent.getByRole("table", { name: "Budgets" })
        const row = budgets.getByRole("row").filter({ hasText: "Key · in total" })
        await row.getByText("0.2 CNY").waitFor()
        await row.getByText("0.3 CNY").waitFor()
        await agent.getByText(`${gateway.url}/mcp`, { exact: true }).waitFor()
        const settings = agent.getByLabel("Settings for Claude Code")
        await settings.getByText(`'${gateway.url}/mcp'`).waitFor()
        assert.notInclude(await agent.content(), key)
      })
    })
  )

  it.effect("each role is offered what it may do, and reads the rest", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("1")
      const tokenOf = Effect.fnUntraced(function* (role: Role) {
        const made = yield* gateway.admin("/operators", { json: { name: `the ${role}`, role } })
        return (yield* bodyAs(Made, made)).token
      })
      const offered: Readonly<Record<Role, ReadonlyArray<string>>> = {
        owner: ["Rename", "Disable", "New member", "Actions: tester", "New key", "Actions: test"],
        operator: [
          "Rename",
          "Disable",
          "New member",
          "Actions: tester",
          "New key",
          "Actions: test"
        ],
        finance: ["Rename", "Disable", "New member", "Actions: tester"],
        viewer: []
      }
      for (const role of ["owner", "operator", "finance", "viewer"] as const) {
        const token = yield* tokenOf(role)
        const session = { operator: { token, name: `the ${role}`, role } }
        const page = yield* browser.open(`/customers/${who.organizationId}`, { session })
        yield* steps(async () => {
          const actions = async () => {
            const buttons = await page
              .getByRole("main")
              .getByRole("button")
              .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent ?? ""))
            return buttons.filter((name) => /^(?:Actions|Rename|Disable|New)/.test(name))
          }
          await page.getByText("Gateway default").waitFor()
          assert.strictEqual(
            await page.getByText("has read access only").count(),
            role === "viewer" ? 1 : 0
          )
          const ofOverview = await actions()
          await page.getByRole("link", { name: "Members" }).click()
          await page.getByRole("table", { name: "Members" }).getByText("tester").waitFor()
          const ofMembers = await actions()
          await page.getByRole("link", { name: "Keys", exact: true }).click()
          await page.getByRole("table", { name: "Keys" }).getByText("active").waitFor()
          const ofKeys = await actions()
          assert.deepStrictEqual([...ofOverview, ...ofMembers, ...ofKeys], offered[role], role)
          await page.getByRole("link", { name: "Operators" }).click()
          await page.getByRole("cell", { name: `the ${role}`, exact: true }).waitFor()
          const create = page.getByRole("button", { name: "New operator" })
          assert.strictEqual(await create.count(), role === "owner" ? 1 : 0, role)
          await page.getByRole("link", { name: "Webhooks" }).click()
          await page.getByText("No endpoints yet").waitFor()
          const endpoint = page.getByRole("button", { name: "New endpoint" })
          assert.strictEqual(await endpoint.count(), /owner|operator/.test(role) ? 1 : 0, role)
        })
      }
      // An owner makes another, whose token opens the gateway, and takes it back.
      const page = yield* browser.open("/operators", { session: asOwner })
      const dialog = page.getByRole("dialog")
      const token = yield* steps(async () => {
        await page.getByRole("button", { name: "New operator" }).click()
        await dialog.getByLabel("Name").fill("Vera")
        await dialog.getByText("Read access").waitFor()
        await dialog.getByRole("button", { name: "Create" }).click()
        const shown = await dialog.getByLabel("Token").inputValue()
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        return shown
      })
      assert.strictEqual((yield* gateway.call("/admin/v1/me", { key: token })).status, 200)
      yield* steps(async () => {
        await pick(page, "Vera", "Revoke")
        await dialog.getByRole("button", { name: "Revoke" }).click()
        await page.getByText("“Vera” was revoked.").waitFor()
        await page.getByRole("link", { name: "Audit" }).click()
        await page.getByLabel("Action").fill("revokeOperator")
        await page.waitForURL(/action=revokeOperator/)
        await page.getByRole("cell", { name: "revokeOperator" }).waitFor()
        assert.strictEqual(await page.getByRole("row").count(), 2)
      })
      assert.strictEqual((yield* gateway.call("/admin/v1/me", { key: token })).status, 401)
      const audit = yield* bodyAs(list(AuditView), yield* gateway.admin("/audit?limit=1"))
      assert.deepInclude(audit.data[0], { action: "revokeOperator", status: 200 })
    })
  )

  it.effect("a customer with a member, a key and money is made by one form", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const page = yield* browser.open("/customers", { session: asOwner })
      const dialog = page.getByRole("dialog")
      const create = dialog.getByRole("button", { name: "Create" })
      yield* steps(async () => {
        await page.getByRole("button", { name: "New customer" }).click()
        await dialog.getByLabel("Name", { exact: true }).fill("Harbour")
        await dialog.getByLabel("API key name").fill("studio")
        await create.click()
        await dialog.getByText("A key needs a member.").waitFor()
        await dialog.getByLabel("First member").fill("Bo")
        await dialog.getByLabel("Deposit, CNY").fill("12.5")
        // The gateway refuses the first try at the deposit: nothing is made twice by the second.
        await page.route("**/deposits", (route) =>
          route.fulfill({ status: 403, contentType: "application/json", body: "{}" })
        )
        await create.click()
        await dialog.getByText("“Harbour” was created, but not everything else.").waitFor()
        await page.unroute("**/deposits")
        await create.click()
      })
      const key = yield* steps(async () => {
        const shown = await dialog.getByLabel("API key", { exact: true }).inputValue()
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        await page.getByRole("heading", { name: "Harbour" }).waitFor()
        await page.getByText("12.5 CNY").first().waitFor()
        return shown
      })
      assert.strictEqual((yield* gateway.call("/v1/images/generations", image(key))).status, 200)
      const { data: organizations } = yield* bodyAs(
        list(OrganizationView),
        yield* gateway.admin("/organizations?name=Harbour")
      )
      assert.deepStrictEqual(
        organizations.map(({ balance }) => balance),
        ["12.3"]
      )
      const members = yield* gateway.admin(`/members?organization_id=${organizations[0]?.id}`)
      assert.lengthOf(members.text.match(/"mem_[^"]+"/g) ?? [], 1)
      yield* steps(async () => {
        // The page of the catalog has read it in another form than the dialog, which has its models.
        await page.getByRole("link", { name: "Catalog", exact: true }).click()
        await page.getByRole("table", { name: "Channels" }).getByText("ch-i").first().waitFor()
        await page.goBack()
        // The only member is chosen already.
        await page.getByRole("link", { name: "Keys", exact: true }).click()
        await page.getByRole("button", { name: "New key" }).click()
        await dialog
          .getByRole("combobox", { name: "Member" })
          .and(page.locator('[value^="Bo"]'))
          .waitFor()
        await dialog.getByLabel("Name", { exact: true }).fill("batch")
        await create.click()
        await dialog.getByRole("button", { name: "I have stored it" }).click()
        await page.getByRole("cell", { name: "batch", exact: true }).waitFor()
        await page.getByRole("link", { name: "Orders" }).last().click()
        await page.getByRole("table", { name: "Orders" }).getByText("paint-1").first().waitFor()
      })
    })
  )

  it.effect("an operator lands on an overview, whose entries open the page of each", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("1")
      const at = `/organizations/${who.organizationId}`
      const payload = { scope: "organization", period: "month", amount: "0.25" }
      yield* gateway.admin(`${at}/budgets`, { json: payload })
      yield* gateway.admin(`${at}/low_balance`, { method: "PUT", json: { threshold: "0.9" } })
      assert.strictEqual(
        (yield* gateway.call("/v1/images/generations", image(who.key))).status,
        200
      )
      const page = yield* browser.open("/", { session: asOwner })
      const card = (name: string) => page.getByRole("region", { name })
      yield* steps(async () => {
        await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
        await card("Today").getByText("100.0 %", { exact: true }).waitFor()
        // No mount of this catalog has a cost.
        await card("This month").getByText("unknown", { exact: true }).waitFor()
        await card("Channels in trouble").getByRole("link", { name: "Show all" }).waitFor()
        await card("Open orphans").getByText("No open orphans").waitFor()
        await card("Top models this month").getByRole("link", { name: "paint-1" }).waitFor()
        await card("Low balances").getByRole("cell", { name: "0.8 CNY" }).waitFor()
        await card("Low balances").getByRole("link", { name: "Show all" }).click()
        const rows = page.getByRole("table", { name: "Customers" }).getByRole("row")
        await rows.getByText("0.9 CNY").waitFor()
        assert.strictEqual(await rows.count(), 2)
        await page.goBack()
        await card("Budgets near their limit").getByText("80.0 %").waitFor()
        await card("Budgets near their limit").getByRole("link", { name: "per month" }).click()
        await page.waitForURL(`**/customers/${who.organizationId}/budgets`)
        await page.getByText("0.2 charged and 0 held of 0.25 CNY").waitFor()
        await page.goBack()
        await card("Today").getByRole("link", { name: "Orders" }).click()
        await page.getByRole("table", { name: "Orders" }).getByText("paint-1").first().waitFor()
        assert.match(page.url(), /all-orders\?from=/)
      })
    })
  )

  it.effect("pages that have moved are found under their old addresses", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const { organizationId: id } = yield* (yield* Gateway).customer("1")
      const page = yield* browser.open("/access", { session: asOwner })
      const moves = [
        ["/access", "/customers"],
        [`/access/organizations/${id}`, `/customers/${id}`],
        ["/access/operators", "/operators"],
        ["/access/audit?action=deposit", "/operators/audit?action=deposit"],
        [`/access/webhooks/${id}`, `/customers/${id}/webhooks`],
        ["/access/webhooks/operators", "/operators/webhooks"],
        [`/books/organizations/${id}?as=table`, `/customers/${id}/money?as=table`],
        [`/books/organizations/${id}/charges`, `/customers/${id}/money/charges`],
        [`/books/organizations/${id}/statements/2026-01`, `/customers/${id}/statements/2026-01`]
      ] as const
      yield* steps(async () => {
        const root = page.url().replace(/\/console.*/, "/console")
        for (const [old, present] of moves) {
          await page.goto(`${root}${old}`)
          await page.waitForURL(`${root}${present}`)
          await page.getByRole("heading", { level: 1 }).waitFor()
          assert.strictEqual(await page.getByText("Page not found").count(), 0)
        }
      })
    })
  )

  it.effect("a member's key opens no page of operators, and no other organisation's things", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("1")
      const stranger = yield* gateway.customer("1", { key: { scopes: ["models", "webhooks"] } })
      const made = yield* gateway.call("/v1/webhook_endpoints", {
        key: who.key,
        json: {
          name: "secret hooks",
          url: "https://example.com/hooks",
          event_types: ["video.failed"]
        }
      })
      const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), made)
      const page = yield* browser.open("/webhooks", { session: { apiKey: stranger.key } })
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      yield* steps(async () => {
        await page.getByText("No endpoints yet").waitFor()
        for (const path of [
          `/customers/${who.organizationId}`,
          `/customers/${who.organizationId}/webhooks/${id}`,
          "/health/orphans",
          "/books",
          "/all-orders"
        ]) {
          await page.goto(page.url().replace(/\/console.*/, `/console${path}`))
          await page.getByText("Page not found").waitFor()
        }
        assert.notInclude(asked.join(" "), "/admin/")
        await page.goto(page.url().replace(/\/console.*/, `/console/webhooks/${id}`))
        await page.getByText("Not found.").first().waitFor()
        assert.notInclude(await page.content(), "secret hooks")
        // What the key's scopes do not allow is said instead of tried.
        await page.getByRole("link", { name: "Billing Missing scope" }).click()
        await page.getByText("This page needs a key with the scope usage").waitFor()
      })
      const signedOut = yield* browser.open(`/customers/${who.organizationId}`)
      yield* steps(() => signedOut.getByRole("heading", { name: "Sign in" }).waitFor())
    })
  )
})
