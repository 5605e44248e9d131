import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

inBrowser("a session of the console", layerTestGateway("embedded"), (it) => {
  it.effect("begins with a key, is kept for the tab, and ends with it", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const page = yield* browser.open("/")
      yield* steps(async () => {
        await page.getByLabel("API key or operator token").fill(who.key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { name: "Playground" }).waitFor()
        assert.notInclude(page.url(), who.key)
        await page.reload()
        await page.getByRole("heading", { name: "Playground" }).waitFor()
        await page.getByRole("button", { name: "Signed in" }).click()
        await page.getByRole("menuitem", { name: "Sign out" }).click()
        await page.getByRole("heading", { name: "Sign in" }).waitFor()
        await page.reload()
        await page.getByRole("heading", { name: "Sign in" }).waitFor()
      })
    })
  )

  it.effect("opens the page of a link after the sign-in, with its filters", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const page = yield* browser.open("/orders?model=film-1")
      yield* steps(async () => {
        await page.getByLabel("API key or operator token").fill(who.key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { name: "Orders", level: 1 }).waitFor()
        assert.match(page.url(), /\/console\/orders\?model=film-1$/)
      })
    })
  )

  it.effect("opens the first page to a key that the page of a link is not for", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const page = yield* browser.open("/all-orders")
      yield* steps(async () => {
        await page.getByLabel("API key or operator token").fill(who.key)
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByRole("heading", { name: "Playground" }).waitFor()
      })
    })
  )

  it.effect("is handed to new tabs, stored only in each tab, and ends in all of them", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const first = yield* browser.open("/")
      yield* steps(async () => {
        await first.getByLabel("API key or operator token").fill(who.key)
        await first.getByRole("button", { name: "Sign in" }).click()
        await first.getByRole("heading", { name: "Playground" }).waitFor()
        const second = await first.context().newPage()
        await second.goto(first.url().replace("/playground", "/orders"))
        await second.getByRole("heading", { name: "Orders", level: 1 }).waitFor()
        assert.notInclude(await second.evaluate(() => JSON.stringify({ ...localStorage })), who.key)
        await second.getByRole("button", { name: "Signed in" }).click()
        await second.getByRole("menuitem", { name: "Sign out" }).click()
        for (const page of [first, second]) {
          await page.getByRole("heading", { name: "Sign in" }).waitFor()
          await page.reload()
          await page.getByRole("heading", { name: "Sign in" }).waitFor()
        }
      })
    })
  )

  it.effect("is refused to a key that nobody has", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/")
      yield* steps(async () => {
        await page.getByLabel("API key or operator token").fill("mg_nobody")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByText("key or token is not valid").waitFor()
      })
    })
  )

  it.effect("says that the browser is offline, sends no action, and loads its lists again", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const page = yield* browser.open("/operators", { session: asOwner })
      const name = page.getByRole("dialog").getByLabel("Name")
      const notice = page.getByRole("status").filter({ hasText: "You are offline" })
      const cell = (text: string) =>
        page.getByRole("cell", { name: text, exact: true, includeHidden: true })
      yield* steps(async () => {
        await page.getByRole("button", { name: "New operator" }).click()
        await name.fill("Never sent")
        await page.context().setOffline(true)
        await notice.waitFor()
        await name.press("Enter")
        await page.getByText("You are offline. Try again when the connection is back.").waitFor()
      })
      yield* gateway.admin("/operators", { json: { name: "Made meanwhile", role: "viewer" } })
      yield* steps(async () => {
        await page.context().setOffline(false)
        await notice.waitFor({ state: "detached" })
        await cell("Made meanwhile").waitFor()
        assert.strictEqual(await cell("Never sent").count(), 0)
      })
    })
  )

  it.effect("says so where the code of a page is not loaded offline, and loads it afterwards", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/customers", { session: asOwner })
      yield* steps(async () => {
        await page.getByRole("button", { name: "New customer" }).waitFor()
        await page.context().setOffline(true)
        await page.getByRole("link", { name: "Health" }).click()
        await page.getByText("You are offline. Try again when the connection is back.").waitFor()
        await page.context().setOffline(false)
        await page.getByRole("heading", { name: "Readiness" }).waitFor()
      })
    })
  )

  it.effect("says so where a page has a fault, and shows the other pages", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      yield* gateway.admin("/operators", { json: { name: "With a time", role: "viewer" } })
      const fault = "a fault of the page"
      const page = yield* browser.open("/price-lists", { session: asOwner, fault })
      yield* steps(async () => {
        await page.getByRole("heading", { name: "Price lists", level: 1 }).waitFor()
        await page.evaluate((message) => {
          Date.prototype.toLocaleString = () => {
            throw new Error(message)
          }
        }, fault)
        await page.getByRole("link", { name: "Operators" }).click()
        await page.getByRole("alert").filter({ hasText: fault }).waitFor()
        await page.getByRole("link", { name: "Price lists" }).click()
        await page.getByRole("heading", { name: "Price lists", level: 1 }).waitFor()
      })
    })
  )

  it.effect("says that the gateway does not answer, and asks it again", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/operators", { session: asOwner })
      yield* steps(async () => {
        await page.getByText("Each operator has a token").waitFor()
        await page.route("**/admin/v1/organizations?*", (route) => route.abort("connectionrefused"))
        await page.getByRole("link", { name: "Customers" }).click()
        const failure = page.getByRole("alert").filter({ hasText: "The gateway does not answer" })
        await failure.waitFor()
        await page.unroute("**/admin/v1/organizations?*")
        await failure.getByRole("button", { name: "Try again" }).click()
        await failure.waitFor({ state: "detached" })
        await page.getByRole("table", { name: "Customers" }).waitFor()
      })
    })
  )
})
