import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { Frame } from "playwright-core"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { bodyAs } from "../support/operator.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"

const Failed = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, doc_url: Schema.String })
})

/** When the entry's heading is in the viewport, below what may cover its upper edge. */
const entryShown = (place: Page | Frame, code: string) =>
  place.waitForFunction((text) => {
    const heading = [...document.querySelectorAll("h2")].find((one) => one.textContent === text)
    if (heading === undefined) return false
    const { left, top, bottom } = heading.getBoundingClientRect()
    return bottom <= innerHeight && heading.contains(document.elementFromPoint(left + 1, top + 1))
  }, code)

const referenceIn = async (page: Page): Promise<Frame> => {
  const element = await page.getByTitle("API reference").elementHandle()
  const frame = await element?.contentFrame()
  if (frame === null || frame === undefined) throw new Error("the page has no frame")
  return frame
}

const bodyClass = (frame: Frame, name: string) =>
  frame.waitForFunction((text) => document.body.classList.contains(text), name)

inBrowser("the API reference", layerTestGateway("embedded"), (it) => {
  it.effect("shows the entry of an error at its doc_url, without a sign-in", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const { error } = yield* bodyAs(Failed, yield* gateway.call("/v1/models"))
      const page = yield* browser.open("/")
      yield* steps(async () => {
        await page.goto(new URL(error.doc_url, page.url()).href)
        assert.strictEqual(error.code, "invalid_api_key")
        await entryShown(page, error.code)
        await page.getByText("For operators").first().waitFor()
      })
    })
  )

  it.effect("is a page of the console for developers, with the console's appearance", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const { key } = yield* (yield* Gateway).customer("1")
      const page = yield* browser.open("/key", { session: { apiKey: key } })
      yield* steps(async () => {
        await page.getByRole("link", { name: "API reference" }).click()
        const frame = await referenceIn(page)
        await frame.getByRole("heading", { name: "Media gateway" }).waitFor()
        await bodyClass(frame, "light-mode")
        await page.getByRole("button", { name: "Appearance" }).click()
        await page.getByRole("menuitem", { name: "Dark" }).click()
        await bodyClass(frame, "dark-mode")
      })
    })
  )

  it.effect("opens the entry that the address of the console's page names", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/docs#description/overloaded", { session: asOwner })
      yield* steps(async () => {
        await entryShown(await referenceIn(page), "overloaded")
        await page.evaluate(() => location.assign("#description/rate_limited"))
        await entryShown(await referenceIn(page), "rate_limited")
      })
    })
  )
})
