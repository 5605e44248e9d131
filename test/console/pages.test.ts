/**
 * Every page, as people with other eyes have it: light and dark, wide and narrow, in both languages.
 * With CONSOLE_SHOTS, a folder, each of them is also drawn into a file there.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect, Layer } from "effect"
import { MAX_FIRST_SCRIPT } from "../../scripts/console/build.ts"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import {
  Browser,
  layerBrowser,
  noBrowser,
  type OpenOptions,
  type Page,
  steps
} from "./support/browser.ts"
import { type Seeded, seed } from "./support/seeds.ts"

declare global {
  interface Window {
    /** In the page, by its source. */
    readonly axe: typeof axe
  }
}

const folder = process.env.CONSOLE_SHOTS

interface View {
  readonly name: string
  readonly path: (seeded: Seeded) => string
  readonly isSignedOut?: boolean
}

const views: ReadonlyArray<View> = [
  { name: "sign-in", path: () => "/", isSignedOut: true },
  { name: "playground", path: () => "/playground" }
]

type Look = Required<Pick<OpenOptions, "language" | "scheme" | "width">>

/** Asked of the drawn pages alone, which are looked at on a quiet machine. */
const MAX_PAINT_MILLIS = 3_000
const WIDE = 1280
const NARROW = 390
const looks: ReadonlyArray<Look> =
  folder === undefined
    ? [
        { language: "en", scheme: "light", width: WIDE },
        { language: "zh", scheme: "dark", width: NARROW }
      ]
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
        '[aria-busy="true"], [role="status"][aria-label], .mantine-Loader-root'
      ) === null
  )
}

/** Rules and the places that break them; those that keep people out. */
const faultsOf = async (page: Page): Promise<ReadonlyArray<string>> => {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] })
  )
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ""}`)
    )
}

const sideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)

const lookAt = Effect.fnUntraced(function* (
  browser: Browser["Service"],
  seeded: Seeded,
  view: View,
  look: Look
) {
  const name = `${view.name}-${look.language}-${look.scheme}-${look.width}`
  const page = yield* browser.open(view.path(seeded), {
    ...look,
    ...(view.isSignedOut === true ? {} : { session: seeded.session })
  })
  yield* steps(async () => {
    await settled(page)
    if (folder !== undefined) {
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
    }
    assert.deepStrictEqual(await faultsOf(page), [], name)
    assert.isFalse(await sideways(page), `${name} scrolls sideways`)
  })
})

if (folder !== undefined) mkdirSync(folder, { recursive: true })

const reason = noBrowser()
if (reason !== null) console.warn(`skipped: ${reason}`)
else
  layer(
    layerBrowser.pipe(
      Layer.provideMerge(layerTestGateway("embedded", quickSettings, { catalogFor: demoCatalog }))
    ),
    { excludeTestServices: true, timeout: "60 seconds" }
  )("the pages of the console", (it) => {
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
          if (folder !== undefined) {
            console.log(
              `the first page: ${Math.round(script / 1000)} kB of script, painted after ${Math.round(paint)} ms`
            )
            assert.isBelow(paint, MAX_PAINT_MILLIS)
          }
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
          for (const view of views) {
            for (const look of looks) yield* Effect.scoped(lookAt(browser, seeded, view, look))
          }
        }),
      240_000
    )
  })
