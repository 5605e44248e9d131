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
        await page.getByLabel("API key or operator's token").fill(who.key)
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

  it.effect("is refused to a key that nobody has", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/")
      yield* steps(async () => {
        await page.getByLabel("API key or operator's token").fill("mg_nobody")
        await page.getByRole("button", { name: "Sign in" }).click()
        await page.getByText("does not know this key").waitFor()
      })
    })
  )
})
