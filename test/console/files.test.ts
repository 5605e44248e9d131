/** Files of vendors in a browser: shown under the gateway's origin, and never a page of it. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { archiving, imageWith } from "../support/archives.ts"
import { type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, finishVideo, moveTo } from "../support/orders.ts"
import { Browser, inBrowser, steps } from "./support/browser.ts"

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

const SCRIPT = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title="ran"</script></svg>`

const urlIn = (text: string): string => /"((?:http)[^"]+\?token=[^"]+)"/.exec(text)?.[1] ?? ""

/** The link that the task tells, which opens without a key. */
const linkOf = Effect.fnUntraced(function* (who: Customer, path: string) {
  const gateway = yield* Gateway
  const url = urlIn((yield* gateway.call(path, { key: who.key })).text)
  assert.notStrictEqual(url, "")
  return url
})

inBrowser("a link to a file", layerTestGateway("embedded", archiving), (it) => {
  it.effect("plays a film and shows a picture", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "film-1", prompt: "x" })
      yield* finishVideo(who, id)
      const film = yield* linkOf(who, `/v1/videos/${id}`)
      const { id: image } = yield* imageWith(who, "", () => ({
        headers: { "content-type": "image/png" },
        body: PNG
      }))
      const picture = yield* linkOf(who, `/v1/images/${image}`)
      const page = yield* browser.open("/sign-in")
      yield* steps(async () => {
        await page.goto(film)
        await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 2)
        await page.goto(picture)
        await page.waitForFunction(() => document.querySelector("img")?.naturalWidth === 1)
      })
      yield* moveTo(null)
    })
  )

  it.effect("saves what could run, and runs nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const { id } = yield* imageWith(who, "", () => ({
        headers: { "content-type": "image/SVG+xml" },
        body: SCRIPT
      }))
      const url = yield* linkOf(who, `/v1/images/${id}`)
      const page = yield* browser.open("/sign-in")
      const title = yield* steps(async () => {
        const saved = page.waitForEvent("download")
        await page.goto(url).catch(() => null)
        await (await saved).cancel()
        return page.title()
      })
      assert.notStrictEqual(title, "ran")
      yield* moveTo(null)
    })
  )
})
