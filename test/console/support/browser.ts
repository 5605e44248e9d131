/** The console in a real browser, over a gateway of its own. What it must never do is watched in every test. */
import { assert, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { type Browser as Chromium, chromium, type Page } from "playwright-core"
import { inject } from "vitest"
import type { Session } from "../../../src/console/gateway/session.ts"
import { ADMIN_TOKEN } from "../../support/cluster.ts"
import { Gateway, type layerTestGateway } from "../../support/gateway.ts"

export type { Page } from "playwright-core"

/** Without them the browser looks for its maker's hosts. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-zygote",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Far above what anything takes, so that only what never comes fails. */
const PATIENCE_MILLIS = 30_000

export interface OpenOptions {
  readonly session?: Partial<Session>
  readonly language?: "en" | "zh"
  readonly scheme?: "light" | "dark"
  readonly width?: number
  readonly height?: number
  /** What the messages of a fault contain that the test brings about. */
  readonly fault?: string
}

/** The operator that every gateway has from its configuration. */
export const asOwner: Partial<Session> = {
  operator: { token: ADMIN_TOKEN, name: "GATEWAY_ADMIN_TOKEN", role: "owner" }
}

export class Browser extends Context.Service<
  Browser,
  {
    /** Opens a path of the console in a tab of its own. Its end dies of what a page must not do. */
    open(path: string, options?: OpenOptions): Effect.Effect<Page, never, Scope.Scope>
  }
>()("test/Browser") {}

/** A refusal of the gateway or a lost network is told by the browser too, and by the page as it should. */
const LOAD_FAILURE = /^(?:Failed to load resource|TypeError: Failed to fetch dynamically)/

/** What the page did that it must not: errors, refusals of its policy, and requests elsewhere. */
const watch = (page: Page, url: string, fault: string | undefined): ReadonlyArray<string> => {
  const seen: Array<string> = []
  const see = (text: string) => {
    if (fault === undefined || !text.includes(fault)) seen.push(text)
  }
  page.on("pageerror", (error) => see(`error: ${error.message}`))
  page.on("console", (message) => {
    const text = message.text()
    if (message.type() === "error" && !LOAD_FAILURE.test(text)) see(text)
  })
  page.on("request", (request) => {
    const address = request.url()
    if (!address.startsWith(url) && !/^(?:blob|data):/.test(address)) seen.push(`asked ${address}`)
  })
  return seen
}

const openIn = (browser: Chromium, url: string) =>
  Effect.fnUntraced(function* (path: string, options: OpenOptions = {}) {
    const { session, language = "en", scheme = "light", width = 1280, height = 900 } = options
    const { page, seen } = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const context = await browser.newContext({
          viewport: { width, height },
          locale: language === "zh" ? "zh-CN" : "en-GB",
          timezoneId: "Asia/Shanghai",
          colorScheme: scheme,
          reducedMotion: "reduce",
          permissions: ["clipboard-read", "clipboard-write"]
        })
        context.setDefaultTimeout(PATIENCE_MILLIS)
        await context.addInitScript(() => {
          document.addEventListener("securitypolicyviolation", (event) => {
            console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
          })
        })
        if (session !== undefined) {
          const kept = JSON.stringify({ apiKey: null, operator: null, ...session })
          await context.addInitScript((text) => {
            // Of the tab as it is opened: what it signs out of afterwards stays out.
            if (sessionStorage.getItem("media-gateway") === null)
              sessionStorage.setItem("media-gateway", text)
          }, kept)
        }
        const page = await context.newPage()
        return { page, seen: watch(page, url, options.fault) }
      }),
      ({ page }) => Effect.promise(() => page.context().close())
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => assert.deepStrictEqual(seen, [])))
    yield* Effect.promise(() => page.goto(`${url}/console${path}`))
    return page
  })

const startBrowser = Effect.acquireRelease(
  Effect.promise(() => {
    const unpacked = inject("chromium")
    if ("reason" in unpacked) throw new Error(unpacked.reason)
    return chromium.launch({
      executablePath: unpacked.executable,
      args: FLAGS,
      env: {
        ...process.env,
        LD_LIBRARY_PATH: unpacked.libraries,
        FONTCONFIG_FILE: unpacked.fonts
      }
    })
  }),
  (browser) => Effect.promise(() => browser.close())
)

const layerBrowser = Layer.effect(
  Browser,
  Effect.gen(function* () {
    const { url } = yield* Gateway
    return Browser.of({ open: openIn(yield* startBrowser, url) })
  })
)

type TestGateway = ReturnType<typeof layerTestGateway>

/** A gateway, and what else its tests need. */
type GatewayWith<R> = Layer.Layer<Layer.Success<TestGateway> | R, Layer.Error<TestGateway>>

const layerOf = <R = never>(gateway: GatewayWith<R>) =>
  layer(layerBrowser.pipe(Layer.provideMerge(gateway)), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })

/** Tests of the console over a gateway. Where the package has no browser, a skipped one says why. */
export const inBrowser = <R = never>(
  name: string,
  gateway: GatewayWith<R>,
  tests: Parameters<ReturnType<typeof layerOf<R>>>[1]
): void => {
  const unpacked = inject("chromium")
  if ("reason" in unpacked) it.skip(`${name}: ${unpacked.reason}`, () => undefined)
  else layerOf(gateway)(name, tests)
}

/** Steps of a person in front of the page. */
export const steps = <A>(take: () => Promise<A>): Effect.Effect<A> => Effect.promise(take)
