import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { Browser, inBrowser, steps } from "./support/browser.ts"

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
})
