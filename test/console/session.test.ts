import { assert } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SignInConfig } from "../../src/features/signIn/SignInConfig.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { Provider, signInWith } from "../support/identityProvider.ts"
import { freePort } from "../support/postgresServer.ts"
import { makeVisitor } from "../support/visitor.ts"
import { asOwner, Browser, inBrowser, steps } from "./support/browser.ts"

/** A gateway that browsers reach at the address of its configuration, as sign-in needs it. */
const layerGateway = Layer.unwrap(
  Effect.map(Effect.promise(freePort), (port) =>
    layerTestGateway("embedded", undefined, {
      port,
      signIn: Layer.effect(
        SignInConfig,
        Effect.map(Provider, (provider) => {
          provider.overrides.set("end_session_endpoint", undefined)
          const rules = {
            roles: [{ subject: "admins", right: "owner" as const }],
            organizations: []
          }
          return signInWith(provider, rules, `http://127.0.0.1:${port}`)
        })
      ).pipe(Layer.provide(Provider.layer))
    })
  )
).pipe(Layer.provideMerge(Provider.layer))

inBrowser("a session of the console", layerGateway, (it) => {
  it.effect("is that of a person who signed in, works without a key, and ends with it", () =>
    Effect.gen(function* () {
      const { url } = yield* Gateway
      const browser = yield* Browser
      const provider = yield* Provider
      const visitor = makeVisitor(url)
      const query = provider.grant(yield* visitor.begin, {
        sub: "ada",
        email: "ada@example.test",
        email_verified: true,
        groups: ["admins"]
      })
      yield* visitor.open(`/auth/callback?${query}`)
      const page = yield* browser.open("/operators")
      const button = page.getByRole("link", { name: "Sign in with SSO" })
      yield* steps(async () => {
        assert.strictEqual(
          await button.getAttribute("href"),
          "/auth/login?return_to=%2Fconsole%2Foperators"
        )
        await page
          .context()
          .addCookies(
            [...visitor.cookies].map(([name, value]) => ({ name, value, url, httpOnly: true }))
          )
        await page.reload()
        await page.getByRole("button", { name: "New operator" }).click()
        await page.getByRole("dialog").getByLabel("Name").fill("By a person")
        await page.keyboard.press("Enter")
        await page
          .getByRole("cell", { name: "By a person", exact: true, includeHidden: true })
          .waitFor()
      })
      const all = yield* visitor.open("/admin/v1/audit?action=createOperator&limit=1")
      assert.deepNestedInclude(all.body, { "data[0].operator_name": "ada@example.test" })
      const other = yield* Effect.promise(() => page.context().newPage())
      yield* steps(async () => {
        await other.goto(`${url}/console/operators`)
        await other.getByRole("cell", { name: "By a person", exact: true }).waitFor()
        await page.reload()
        await page.getByRole("button", { name: "Signed in" }).click()
        await page.getByText("ada@example.test", { exact: true }).waitFor()
        await page.getByRole("menuitem", { name: "Sign out" }).click()
        await button.waitFor()
        await other.getByRole("link", { name: "Sign in with SSO" }).waitFor()
        await page.reload()
        await button.waitFor()
      })
      assert.strictEqual((yield* visitor.open("/admin/v1/me")).status, 401)
    })
  )

  it.effect("that has ended leads to the sign-in, and back to its page", () =>
    Effect.gen(function* () {
      const { url, admin } = yield* Gateway
      const browser = yield* Browser
      const provider = yield* Provider
      const visitor = makeVisitor(url)
      const query = provider.grant(yield* visitor.begin, { sub: "eve", groups: ["admins"] })
      yield* visitor.open(`/auth/callback?${query}`)
      const page = yield* browser.open("/")
      yield* steps(async () => {
        await page
          .context()
          .addCookies(
            [...visitor.cookies].map(([name, value]) => ({ name, value, url, httpOnly: true }))
          )
        await page.goto(`${url}/console/all-orders?state=failed`)
        await page.getByRole("button", { name: "Signed in" }).waitFor()
        // A request that finds the end would tell of it before the page is opened again.
        await page.goto("about:blank")
      })
      const own = yield* visitor.open("/auth/session")
      const { id } = yield* bodyAs(Schema.Struct({ id: Schema.String }), own)
      assert.strictEqual((yield* admin(`/sessions/${id}`, { method: "DELETE" })).status, 200)
      yield* steps(async () => {
        await page.goto(`${url}/console/all-orders?state=failed`)
        await page.getByText("of this tab is no longer valid").waitFor()
        assert.strictEqual(
          await page.getByRole("link", { name: "Sign in with SSO" }).getAttribute("href"),
          "/auth/login?return_to=%2Fconsole%2Fall-orders%3Fstate%3Dfailed"
        )
      })
    })
  )

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
