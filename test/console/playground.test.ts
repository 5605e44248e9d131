import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { sha256 } from "../../src/simulator/digest.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { chunkOf, counted, finished, heldStream } from "../support/heldStream.ts"
import { textCatalog } from "../support/textCatalog.ts"
import { toyVendor, withToys } from "../support/toyVendor.ts"
import { Browser, inBrowser, type Page, steps } from "./support/browser.ts"
import { codeFolder, codeOf, runCode, tabs } from "./support/shownCode.ts"

/** Vendors' files are loaded from this machine here. */
const settings = { ...quickSettings, webhookAllowPrivate: true }

const Charges = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({ id: Schema.String, charge: Schema.String, model: Schema.String })
  )
})

const charges = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    Effect.flatMap(gateway.call("/v1/usage", { key: who.key }), (answer) =>
      Effect.map(bodyAs(Charges, answer), ({ data }) => data)
    )
  )

const opened = Effect.fnUntraced(function* (who: Customer, path: string) {
  const browser = yield* Browser
  return yield* browser.open(`/playground${path}`, { session: { apiKey: who.key } })
})

const prompt = (page: Page, text: string) => page.getByLabel("Prompt").fill(text)
const press = (page: Page, name: string) => page.getByRole("button", { name }).click()

/** Chooses a file of the reader's. */
const give = async (
  page: Page,
  file: { readonly name: string; readonly mimeType: string; readonly buffer: Buffer }
) => {
  const chooser = page.waitForEvent("filechooser")
  await press(page, "Upload (up to")
  await (await chooser).setFiles(file)
}

const receiptOf = (page: Page) => page.getByLabel("Receipt", { exact: true })

/** Puts another vendor behind `talk-held`. */
const withElsewhere = Effect.fnUntraced(function* (url: string) {
  const gateway = yield* Gateway
  const json = textCatalog(url)(gateway.simulator.url)
  const answer = yield* gateway.admin("/catalog", { method: "PUT", json })
  assert.strictEqual(answer.status, 200, answer.text)
})

/** Unfolds the options. */
const advanced = (page: Page) => press(page, "Advanced")

const choose = async (page: Page, label: string, model: string) => {
  await page.getByRole("combobox", { name: label, exact: true }).click()
  await page.getByRole("option", { name: model, exact: true }).click()
}

/** The amount beside a label of a card. */
const amountIn = (page: Page, card: string, label: string) =>
  page
    .getByLabel(card, { exact: true })
    .locator("div", { has: page.getByText(label, { exact: true }) })
    .locator(".amount")
    .first()
    .textContent()

inBrowser(
  "the playground",
  layerTestGateway("embedded", settings, { catalogFor: textCatalog() }),
  (it) => {
    it.effect("makes a video and images that are seen, priced before and explained after", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const page = yield* opened(who, "")
        yield* steps(async () => {
          await page.setViewportSize({ width: 1280, height: 800 })
          await page.getByLabel("Prompt").waitFor()
          await choose(page, "Model", "film-1")
          await page.getByLabel("Prompt").click()
          await prompt(page, "a lighthouse at dusk sim:takes=1")
          const price = page.getByRole("group", { name: "Price", exact: true })
          await price.getByText("Hold 4.968 CNY").waitFor()
          assert.strictEqual(await price.locator(".amount").first().textContent(), "4.968 CNY")
          const button = await page.getByRole("button", { name: "Generate video" }).boundingBox()
          assert.isBelow((button?.y ?? 800) + (button?.height ?? 0), 800)
          const beside = await price.boundingBox()
          assert.isBelow(Math.abs((beside?.y ?? 0) - (button?.y ?? 0)), 30)
          await page.keyboard.press("Control+Enter")
          await page.getByText("Generating").waitFor()
          assert.match(page.url(), /[?&]task=vt_/)
          // Whoever reloads the page has lost neither the order nor the prompt.
          await page.reload()
          await page.getByRole("heading", { name: "Succeeded" }).waitFor()
          const kept = await page.getByLabel("Prompt").inputValue()
          assert.strictEqual(kept, "a lighthouse at dusk sim:takes=1")
          await page.locator("video").waitFor()
          await page.waitForFunction(() => (document.querySelector("video")?.readyState ?? 0) >= 2)
          await receiptOf(page).getByText("held, so").waitFor()
        })
        const [film] = yield* charges(who)
        const shown = yield* steps(() => amountIn(page, "Receipt", "Charge"))
        assert.strictEqual(shown, `${film?.charge} CNY`)

        yield* steps(async () => {
          await choose(page, "Model", "paint-1")
          await prompt(page, "a lighthouse")
          await advanced(page)
          await page.getByRole("textbox", { name: "Number of images" }).fill("2")
          await page.getByRole("combobox", { name: "Size" }).fill("256x256")
          await press(page, "Generate images")
          await page.getByRole("button", { name: "Enlarge Image 2" }).click()
          await page.getByRole("dialog").getByRole("img", { name: "Image 2" }).waitFor()
          await page.waitForFunction(() =>
            [...document.querySelectorAll<HTMLImageElement>('img[alt^="Image"]')].every(
              ({ naturalWidth }) => naturalWidth === 256
            )
          )
          await page.getByRole("button", { name: "Close image" }).click()
          const saved = page.waitForEvent("download")
          await page.getByRole("button", { name: /^Download: im_.*-2$/ }).click()
          assert.match((await saved).suggestedFilename(), /^im_.*-2\.png$/)
        })
        const [paint] = yield* charges(who)
        assert.deepInclude(paint, { model: "paint-1", charge: "0.4" })
        const charged = toDecimal(toNano(paint?.charge ?? "0") + toNano(film?.charge ?? "0"))
        yield* steps(async () => {
          await receiptOf(page).getByText("0.4 CNY").first().waitFor()
          // Both are among the member's orders, with pictures of what they made.
          const orders = page.getByRole("region", { name: "Recent orders" })
          // Pictures are loaded when they are in view.
          await orders.scrollIntoViewIfNeeded()
          await orders.locator("img").nth(1).waitFor()
          assert.strictEqual(await orders.getByRole("button").count(), 2)
          await orders.getByRole("button", { name: /^a lighthouse at dusk.*film-1/ }).click()
          await page.locator("video").waitFor()
          await page.getByRole("button", { name: "Generate video" }).waitFor()
          await page.getByRole("link", { name: "API key", exact: true }).click()
          const spend = page.getByRole("table", { name: "Spend by key this month" })
          const row = spend.getByRole("row").filter({ hasText: "(this key)" })
          await row.getByText(`${charged} CNY`).waitFor()
          const budget = page.getByRole("region", { name: "Monthly cap" })
          await budget.getByText(`${charged} charged`).waitFor()
        })
      })
    )

    it.effect("offers only what the mounts of a model make", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const { mounts, ...catalog } = textCatalog()(gateway.simulator.url)
        const limits = { max_prompt: 12, silent: false }
        const limited = mounts.map((mount) =>
          mount.model === "clip-1" ? { ...mount, limits } : mount
        )
        const put = (json: object) => gateway.admin("/catalog", { method: "PUT", json })
        assert.strictEqual((yield* put({ ...catalog, mounts: limited })).status, 200)
        const page = yield* opened(yield* gateway.customer("1"), "?model=clip-1")
        yield* steps(async () => {
          await advanced(page)
          const sounds = page.getByRole("radiogroup", { name: "Audio" })
          await sounds.getByText("On", { exact: true }).waitFor()
          assert.strictEqual(await sounds.getByText("Off", { exact: true }).count(), 0)
          assert.strictEqual(await page.getByLabel("Prompt").getAttribute("maxlength"), "12")
          await choose(page, "Model", "paint-1")
          await page.getByLabel("Quality", { exact: true }).fill("high")
          await page.getByRole("combobox", { name: "Model", exact: true }).click()
          const offered = await page.getByRole("option").allTextContents()
          assert.includeMembers(offered, ["film-1", "talk-1", "vector-1"])
          assert.notIncludeMembers(offered, ["speak-1"])
          assert.notIncludeMembers(offered, ["talk-unpriced"])
          await page.keyboard.press("Escape")
          await press(page, "Prices")
          await page.getByRole("table", { name: "Prices of paint-1" }).waitFor()
          await page.keyboard.press("Escape")
          // The page of models offers the same ones.
          await page.getByRole("link", { name: "Models", exact: true }).click()
          const cards = page.getByRole("article")
          const prices = page.getByRole("table", { name: "Prices of clip-1" })
          await prices.getByText("CNY").first().waitFor()
          const listed = await cards.evaluateAll((all) =>
            all.map((card) => card.getAttribute("aria-label"))
          )
          assert.sameMembers(listed, offered)
          await page.getByLabel("Search models").fill("CLIP")
          await page.waitForURL(/name=CLIP/)
          assert.strictEqual(await cards.count(), 1)
          await cards.getByRole("link", { name: "Open in playground" }).click()
          await page.waitForURL(/\/playground\?model=clip-1/)
          await page.getByLabel("Prompt").waitFor()
        })
        assert.strictEqual((yield* put({ ...catalog, mounts })).status, 200)
      })
    )

    it.effect(
      "has the fields of a model's published schema, and shows the place of an order that waits",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          let isReady = false
          const vendor = yield* brokenVendor(toyVendor(() => isReady))
          const base = textCatalog()(gateway.simulator.url)
          const put = (json: object) => gateway.admin("/catalog", { method: "PUT", json })
          const stored = yield* put(withToys(base, vendor.url, { max_tasks: 1 }))
          assert.strictEqual(stored.status, 200, stored.text)
          const page = yield* opened(who, "?model=toy-film")
          yield* steps(async () => {
            await prompt(page, "a boat")
            await advanced(page)
            // What is mapped, or changes how much is made, is no field of its own.
            const group = page.getByRole("group", { name: "Advanced" })
            await group.getByLabel("wind").fill("2")
            await group.getByText("Expected a number from 0 to 1, without quotes").waitFor()
            assert.strictEqual(await page.getByLabel("num_videos").count(), 0)
            await page.getByRole("button", { name: "Go to advanced" }).waitFor()
            await group.getByLabel("wind").fill("0.5")
            assert.strictEqual(
              await group.getByRole("combobox", { name: "Mood" }).getAttribute("placeholder"),
              "default calm"
            )
            await choose(page, "Mood", "wild")
            const tags = group.getByRole("combobox", { name: "tags" })
            await tags.fill("sea")
            await tags.press("Enter")
            await tags.fill("night")
            await tags.press("Enter")
            await press(page, "Generate video")
            await page.getByText("Generating").waitFor()
            await page.getByLabel("Max wait").fill("600")
            await press(page, "Generate video")
            await page.getByText("Position 1 in the queue").waitFor()
          })
          isReady = true
          yield* steps(() => page.getByRole("heading", { name: "Succeeded" }).waitFor())
          const [submission] = yield* vendor.requests
          assert.deepNestedInclude(JSON.parse(submission?.body ?? ""), {
            options: { tier: "normal", wind: 0.5, mood: "wild", tags: ["sea", "night"] }
          })
          assert.strictEqual((yield* put(base)).status, 200)
        })
    )

    it.effect("explains a duration that is not offered, and mends it by one click", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const page = yield* opened(who, "?model=film-1")
        yield* steps(async () => {
          await prompt(page, "a lighthouse")
          await advanced(page)
          await page.getByLabel("Duration").fill("99")
          await press(page, "Use 15")
          await page.getByRole("alert").waitFor({ state: "detached" })
          assert.strictEqual(await page.getByLabel("Duration").inputValue(), "15 s")
          await page.getByText("14.904 CNY").first().waitFor()

          await give(page, { name: "film.mp4", mimeType: "video/mp4", buffer: Buffer.alloc(1e6) })
          await page.getByText("Calculated without your files").waitFor()
          // 4 seconds at least are counted of a reference video, at the price with one.
          await page.getByText("11.4912 CNY").first().waitFor()
          await press(page, "Remove input 1")
          await give(page, { name: "film.png", mimeType: "image/png", buffer: Buffer.alloc(2000) })
          await page.getByText("2 kB").waitFor()
          await page.getByText("14.904 CNY").first().waitFor()
          await press(page, "Generate video")
          await page.getByRole("heading", { name: "Succeeded" }).waitFor()

          await press(page, "Remove input 1")
          await prompt(page, "")
          await press(page, "Generate video")
          await page.getByText("Give a prompt").first().waitFor()
          await page.waitForFunction(
            () => document.activeElement?.getAttribute("data-field") === "prompt"
          )
        })
        const orders = yield* gateway.simulator.book
        const accepted = orders.findLast(({ event }) => event === "accepted")
        assert.deepNestedPropertyVal(accepted, "order.seconds", 15)
        assert.deepNestedPropertyVal(accepted, "order.inputs.images", 1)
      })
    )

    it.effect("compares two models by one prompt, which is forgotten at the sign-out", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const page = yield* opened(who, "?model=film-1")
        yield* steps(async () => {
          await prompt(page, "a paper boat")
          await press(page, "Compare")
          await choose(page, "Compare with", "clip-1")
          await page
            .getByRole("group", { name: "Price of film-1" })
            .getByText("4.968")
            .first()
            .waitFor()
          await page
            .getByRole("group", { name: "Price of clip-1" })
            .getByText("3 CNY")
            .first()
            .waitFor()
          await press(page, "Generate video")
          for (const model of ["film-1", "clip-1"]) {
            const result = page.getByRole("region", { name: `Result of ${model}` })
            await result.getByRole("heading", { name: "Succeeded" }).waitFor()
            await result.locator("video").waitFor()
          }
          await page.reload()
          const second = page.getByRole("region", { name: "Result of clip-1" })
          await second.getByRole("heading", { name: "Succeeded" }).waitFor()
          await press(page, "Stop comparing")
          await page.getByRole("region", { name: "Recent orders" }).waitFor()
          await page.getByLabel("Prompt").waitFor()
          const stored = () => page.evaluate(() => Object.values(sessionStorage).join())
          assert.include(await stored(), "a paper boat")
          await press(page, "Signed in")
          await page.getByRole("menuitem", { name: "Sign out" }).click()
          await page.getByLabel("Prompt").waitFor({ state: "detached" })
          assert.notInclude(await stored(), "a paper boat")
        })
        const charged = (yield* charges(who)).map(({ model }) => model)
        assert.sameMembers(charged, ["film-1", "clip-1"])
      })
    )

    it.effect(
      "shows a text as it comes, and what was charged of it, also when nobody reads on",
      () =>
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const who = yield* gateway.customer("100")
          const vendor = yield* heldStream
          yield* withElsewhere(vendor.url)
          const page = yield* opened(who, "?model=talk-held")
          const answer = page.getByRole("log", { name: "Response" })
          const ask = () =>
            steps(async () => {
              await page.getByRole("textbox", { name: "Message 1" }).fill("a lighthouse")
              await press(page, "Send")
            })
          yield* ask()
          yield* vendor.write(chunkOf("The lamp "))
          yield* steps(() => answer.getByText("The lamp").waitFor())
          assert.lengthOf(yield* charges(who), 0)
          yield* vendor.write(`${chunkOf("turns")}${finished}${counted(5, 2)}`)
          yield* vendor.end
          yield* steps(async () => {
            await page.getByRole("heading", { name: "Finished" }).waitFor()
            await answer.getByText("The lamp turns").waitFor()
            await receiptOf(page).getByText("0.000026 CNY").first().waitFor()
          })

          yield* ask()
          yield* vendor.write(chunkOf("Grey "))
          yield* steps(async () => {
            await answer.getByText("Grey").waitFor()
            await press(page, "Stop")
            await page.getByRole("heading", { name: "Stopped" }).waitFor()
          })
          yield* vendor.write(`${chunkOf("water")}${finished}${counted(5, 3)}`)
          yield* vendor.end
          yield* steps(() => receiptOf(page).getByText("0.000034 CNY").first().waitFor())
          const charged = (yield* charges(who)).map(({ charge }) => charge)
          assert.deepStrictEqual(charged, ["0.000034", "0.000026"])
        })
    )

    it.effect("orders a text by the Responses API too, and tells it as code that runs", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const folder = yield* codeFolder
        const page = yield* opened(who, "?model=talk-1")
        const paths: Array<string> = []
        yield* steps(async () => {
          page.on("request", (request) => {
            const { pathname } = new URL(request.url())
            if (request.method() === "POST" && pathname !== "/v1/quotes") paths.push(pathname)
          })
          await page.getByRole("textbox", { name: "Message 1" }).fill("Be brief")
          await page.getByRole("combobox", { name: "Role of message 1" }).click()
          await page.getByRole("option", { name: "System" }).click()
          await press(page, "Add message")
          await page.getByRole("textbox", { name: "Message 2" }).fill("a lighthouse's lamp")
          await advanced(page)
          await page.getByLabel("Max tokens").fill("40")
          await page.getByText("Responses", { exact: true }).click()
          await press(page, "Send")
          await page.getByRole("heading", { name: "Finished" }).waitFor()
          await receiptOf(page).getByText("CNY").first().waitFor()
        })
        const shownText = () =>
          steps(async () => {
            await page.getByRole("heading", { name: "Finished" }).waitFor()
            return (await page.getByRole("log", { name: "Response" }).textContent()) ?? ""
          })
        const text = yield* shownText()
        assert.isNotEmpty(text)
        const runTabs = Effect.fnUntraced(function* (outputOf: (tab: string) => string) {
          for (const tab of tabs) {
            const code = yield* codeOf(page, tab)
            assert.notInclude(code, who.key)
            assert.include(yield* runCode(tab, code, folder, who), outputOf(tab))
          }
        })
        // The other two write what they get as events.
        const writesText = (tab: string) => tab === "openai" || tab === "AI SDK"
        yield* runTabs((tab) => (writesText(tab) ? text : "response.completed"))
        yield* steps(() => page.getByLabel("Stream response").press("Space"))
        yield* runTabs(() => text)
        yield* steps(() => press(page, "Send"))
        assert.strictEqual(yield* shownText(), text)
        assert.lengthOf(yield* charges(who), 2 * tabs.length + 2)
        assert.deepStrictEqual(paths, ["/v1/responses", "/v1/responses"])
      })
    )

    it.effect("shows markup of readers and of vendors as text", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const markup = "<img src=x onerror=alert(1)>"
        const vendor = yield* brokenVendor({ status: 400, body: { error: { message: markup } } })
        yield* withElsewhere(vendor.url)
        const page = yield* opened(who, "?model=talk-held")
        yield* steps(async () => {
          page.on("dialog", () => assert.fail("a script has run"))
          await page.getByRole("textbox", { name: "Message 1" }).fill(markup)
          await press(page, "Send")
          await page.getByRole("alert").getByText(markup).waitFor()
          await page.getByRole("button", { name: "Code", exact: true }).click()
          await page.getByLabel("Code for curl").getByText(markup).waitFor()

          await choose(page, "Model", "film-1")
          await prompt(page, `${markup} sim:fail`)
          await press(page, "Generate video")
          await page.getByText("nothing was charged").waitFor()
          assert.strictEqual(await page.locator("main img").count(), 0)
        })
        assert.lengthOf(yield* charges(who), 0)
      })
    )

    it.effect("tells the order as code that runs, without the key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const folder = yield* codeFolder
        const page = yield* opened(who, "?model=film-1")
        const words = 'a lighthouse\'s lamp $HOME `date` "at" dusk'
        yield* steps(() => prompt(page, words))
        for (const tab of tabs) {
          const code = yield* codeOf(page, tab)
          assert.notInclude(code, who.key)
          assert.include(yield* runCode(tab, code, folder, who), "succeeded")
        }
        const sent = (yield* gateway.simulator.book).flatMap((entry) =>
          entry.event === "accepted" ? [entry.order.prompt_sha256] : []
        )
        assert.deepStrictEqual(sent.slice(-4), Array(4).fill(sha256(words)))
        assert.lengthOf(yield* charges(who), 4)
      })
    )
  }
)
