/**
 * Every page, as people with other eyes have it: light and dark, wide and narrow, in both languages.
 * With CONSOLE_SHOTS, a folder, each of them is also drawn into a file there.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { MAX_FIRST_SCRIPT } from "../../scripts/console/build.ts"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { shareOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { accessFaults } from "./support/accessFaults.ts"
import { Browser, inBrowser, type OpenOptions, type Page, steps } from "./support/browser.ts"
import { type Seeded, seed } from "./support/seeds.ts"
import { views } from "./support/views.ts"

const folder = process.env.CONSOLE_SHOTS || undefined

type Look = Required<Pick<OpenOptions, "language" | "scheme" | "width">>

/** Asked of the drawn pages alone, which are looked at on a quiet machine. */
const MAX_PAINT_MILLIS = 3_000
const WIDE = 1280
const NARROW = 390
const looks: ReadonlyArray<Look> =
  folder === undefined
    ? shareOfDay(
        [
          { language: "zh", scheme: "light", width: WIDE },
          // English words are the longer ones, so they are shown where there is least room.
          { language: "en", scheme: "dark", width: NARROW }
        ],
        2
      )
    : (["en", "zh"] as const).flatMap((language) =>
        (["light", "dark"] as const).flatMap((scheme) =>
          [WIDE, NARROW].map((width) => ({ language, scheme, width }))
        )
      )

/** When nothing is awaited any more. */
const settled = async (page: Page): Promise<void> => {
  await page.locator("h1").first().waitFor()
  await page.waitForFunction(
    () =>
      document.querySelector(
        '[aria-busy="true"], [role="status"][aria-label], .mantine-Loader-root, .chart:not(:has(svg))'
      ) === null
  )
}

/** As a link within the console leads there, without loading its scripts again. */
const follow = async (page: Page, path: string): Promise<void> => {
  await page.evaluate(async (address) => {
    history.pushState(null, "", address)
    window.dispatchEvent(new PopStateEvent("popstate"))
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  }, `/console${path}`)
}

/** What is wrong with the page as it stands; it is drawn where that was asked for. */
const lookAt = async (page: Page, name: string): Promise<ReadonlyArray<string>> => {
  await settled(page)
  if (folder !== undefined) {
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  }
  return (await accessFaults(page)).map((fault) => `${name}: ${fault}`)
}

const lookAround = Effect.fnUntraced(function* (
  browser: Browser["Service"],
  seeded: Seeded,
  look: Look
) {
  const nameOf = (view: string) => `${view}-${look.language}-${look.scheme}-${look.width}`
  const faults: Array<string> = []
  const outside = yield* browser.open("/", look)
  yield* steps(async () => void faults.push(...(await lookAt(outside, nameOf("sign-in")))))
  const page = yield* browser.open("/", { ...look, session: seeded.session })
  yield* steps(async () => {
    await settled(page)
    for (const view of views) {
      await follow(page, view.path(seeded))
      faults.push(...(await lookAt(page, nameOf(view.name))))
    }
  })
  return faults
}, Effect.scoped)

if (folder !== undefined) mkdirSync(folder, { recursive: true })

inBrowser(
  "the pages of the console",
  layerTestGateway(
    "embedded",
    { ...quickSettings, webhookAllowPrivate: true },
    { catalogFor: demoCatalog }
  ),
  (it) => {
    it.effect("begin with little to load", () =>
      Effect.gen(function* () {
        const browser = yield* Browser
        const { key } = yield* (yield* Gateway).customer("1")
        const page = yield* browser.open("/", { session: { apiKey: key } })
        yield* steps(async () => {
          await settled(page)
          const { script, paint } = await page.evaluate(() => ({
            script: performance
              .getEntriesByType("resource")
              .filter((entry) => entry instanceof PerformanceResourceTiming)
              .filter(({ name }) => name.endsWith(".js"))
              .reduce((bytes, { encodedBodySize }) => bytes + encodedBodySize, 0),
            paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0
          }))
          console.log(
            `the first page: ${Math.round(script / 1000)} kB of script, painted after ${Math.round(paint)} ms`
          )
          if (folder !== undefined) assert.isBelow(paint, MAX_PAINT_MILLIS)
          assert.isAbove(script, 50_000)
          assert.isBelow(script, MAX_FIRST_SCRIPT)
        })
      })
    )

    it.effect(
      "keep nobody out, and fit",
      () =>
        Effect.gen(function* () {
          const browser = yield* Browser
          const seeded = yield* seed
          const faults = yield* Effect.forEach(looks, (look) => lookAround(browser, seeded, look))
          assert.deepStrictEqual(faults.flat(), [])
        }),
      480_000
    )
  }
)
