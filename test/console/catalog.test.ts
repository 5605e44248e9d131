import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CatalogDocument } from "../../src/domain/catalog/CatalogDocument.ts"
import { ChannelCheckView } from "../../src/features/catalog/ChannelsApi.ts"
import { list } from "../../src/http/api/shared.ts"
import type { Role } from "../../src/services/operators/Operators.ts"
import { bodyAs, Gateway, layerTestGateway } from "../support/gateway.ts"
import { Browser, inBrowser, type Page, steps } from "./support/browser.ts"

const Made = Schema.Struct({ token: Schema.String })

/** An operator of the role, and the session of one who is signed in as that. */
const operator = Effect.fnUntraced(function* (name: string, role: Role) {
  const gateway = yield* Gateway
  const { token } = yield* bodyAs(
    Made,
    yield* gateway.admin("/operators", { json: { name, role } })
  )
  return { operator: { token, name, role } }
})

const catalogNow = Effect.gen(function* () {
  const gateway = yield* Gateway
  return Schema.encodeSync(CatalogDocument)(
    yield* bodyAs(CatalogDocument, yield* gateway.admin("/catalog"))
  )
})

/** The price of a model in the catalog that is in force, by its resolution. */
const perSecond = Effect.fnUntraced(function* (id: string, resolution: "720p" | "1080p") {
  const prices = (yield* catalogNow).models.find((model) => model.id === id)?.prices
  return prices?.kind === "second_video" ? prices.per_second[resolution] : undefined
})

/** Another editor, who does not use the console. */
const elsewhere = Effect.fnUntraced(function* (token: string, change: (text: string) => string) {
  const gateway = yield* Gateway
  const body = change(JSON.stringify(yield* catalogNow))
  const put = yield* gateway.call("/admin/v1/catalog", { method: "PUT", key: token, body })
  assert.strictEqual(put.status, 200, put.text)
})

const pick = async (page: Page, label: string, option: string): Promise<void> => {
  await page.getByRole("combobox", { name: label, exact: true }).click()
  await page.getByRole("option", { name: option }).click()
}

const write = (page: Page, label: string, text: string): Promise<void> =>
  page.getByRole("textbox", { name: label, exact: true }).fill(text)

const setPrice = async (page: Page, model: string, label: string, price: string): Promise<void> => {
  await page.getByRole("button", { name: `Edit ${model}`, exact: true }).click()
  await page.getByLabel(label).fill(price)
  await page.getByRole("button", { name: "Save to draft" }).click()
}

const review = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "Review and apply" }).click()
const apply = (page: Page): Promise<void> =>
  page.getByRole("button", { name: "Apply", exact: true }).click()

inBrowser("the catalog and its channels in the console", layerTestGateway("embedded"), (it) => {
  it.effect("get a channel, a model and a mount, which are usable at once", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const who = yield* gateway.customer("100")
      const page = yield* browser.open("/catalog", {
        session: yield* operator("Eve", "operator")
      })
      yield* steps(async () => {
        await page.getByRole("button", { name: "Add channel" }).click()
        await write(page, "ID", "ch-new")
        await write(page, "Name", "New vendor")
        await write(page, "Base URL", `${gateway.simulator.url}/vp_d`)
        await page.getByLabel("Vendor API key").fill("very-secret-key")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("1 change not applied").waitFor()

        await page.getByRole("tab", { name: "Models" }).click()
        await page.getByRole("button", { name: "Add model" }).click()
        await write(page, "ID", "clip-new")
        await page.getByRole("combobox", { name: "Protocol", exact: true }).fill("vp_d")
        await pick(page, "Billed by", "Video seconds")
        const price = page.getByLabel("720p, per second")
        await price.fill("0.12345678901")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.locator("[aria-invalid=true]").waitFor()
        const said = await page
          .locator(`#${await price.getAttribute("aria-describedby")}`)
          .innerText()
        assert.include(said, "with at most 9 decimals")
        await price.fill("0.5")
        const aliases = page.getByRole("combobox", { name: "Aliases", exact: true })
        await aliases.fill("film-1")
        await aliases.press("Enter")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText('"film-1" is the id of a model').first().waitFor()
        await aliases.press("Backspace")
        await aliases.fill("clip-latest")
        await aliases.press("Enter")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("2 changes not applied").waitFor()
        await page.getByRole("row", { name: /^clip-new .*clip-latest/ }).waitFor()

        await page.getByRole("tab", { name: "Mounts" }).click()
        await page.getByRole("button", { name: "Add mount" }).click()
        await pick(page, "Model", "clip-new")
        await pick(page, "Channel", "ch-new")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("3 changes not applied").waitFor()

        await review(page)
        const changes = page.getByRole("dialog")
        const added = changes.getByRole("table", { name: "Model clip-new" })
        await added.getByRole("row", { name: "prices.per_second.720p 0.5" }).waitFor()
        await changes.getByText("new value (hidden)").waitFor()
        assert.notInclude(await page.content(), "very-secret-key")
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      const order = () =>
        gateway.call("/v1/videos/generations", {
          key: who.key,
          json: { model: "clip-latest", prompt: "a lighthouse", resolution: "720p" }
        })
      const made = yield* order()
      assert.strictEqual(made.status, 200, made.text)

      yield* steps(async () => {
        await page.getByRole("link", { name: "Channels", exact: true }).click()
        await page.getByRole("button", { name: "Test ch-new" }).click()
        await page.getByText("The key is accepted.").waitFor()
        await page.keyboard.press("Escape")
        await page.getByRole("button", { name: "Drain ch-new" }).click()
        await page.getByRole("dialog").getByRole("button", { name: "Drain" }).click()
        await page.getByText("ch-new is draining.").waitFor()
      })
      const refused = yield* order()
      assert.strictEqual(refused.status, 503, refused.text)
      yield* steps(async () => {
        await page.getByRole("button", { name: "Enable ch-new" }).click()
        await page.getByText("ch-new is serving").waitFor()
        await page.getByRole("link", { name: "New vendor" }).click()
        await page.getByRole("heading", { name: "New vendor", level: 1 }).waitFor()
        // The order that was refused reached no channel.
        const orders = page.getByRole("table", { name: "Recent orders" })
        await orders.getByText("clip-new").waitFor()
        assert.strictEqual(await orders.getByText("clip-new").count(), 1)
      })
      assert.strictEqual((yield* order()).status, 200)
    })
  )

  it.effect("limit what can be ordered of a model, by fields", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog", {
        session: yield* operator("Lea", "operator")
      })
      yield* steps(async () => {
        await page.getByRole("tab", { name: "Models" }).click()
        await page.getByRole("button", { name: "Edit clip-1", exact: true }).click()
        await pick(page, "Duration", "Range")
        await write(page, "Max seconds", "2")
        await page.getByRole("button", { name: "Save to draft" }).click()
        const fault = "the least seconds, 3, are more than the most, 2"
        await page.getByText(fault, { exact: true }).waitFor()
        await write(page, "Max seconds", "30")
        await pick(page, "Resolutions", "720p")
        await pick(page, "Without audio", "No")
        await page.getByLabel("Limit inputs").check()
        await write(page, "First frame", "1")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await review(page)
        const changed = page.getByRole("table", { name: "Model clip-1" })
        await changed.getByRole("row", { name: /limits\.seconds .*3, 30/ }).waitFor()
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      const model = (yield* catalogNow).models.find(({ id }) => id === "clip-1")
      assert.deepStrictEqual(model?.limits, {
        seconds: [3, 30],
        resolutions: ["720p"],
        silent: false,
        inputs: { first_frame: 1 }
      })
      yield* steps(async () => {
        await page.getByRole("button", { name: "Edit clip-1", exact: true }).click()
        await pick(page, "Duration", "Protocol default")
        await pick(page, "Without audio", "Default")
        await page.getByLabel("Limit inputs").uncheck()
        await page.getByRole("button", { name: "Save to draft" }).click()
        await review(page)
        const changed = page.getByRole("table", { name: "Model clip-1" })
        for (const field of [/limits\.seconds 3, 30/, /limits\.silent false/]) {
          await changed.getByRole("row", { name: field }).waitFor()
        }
        assert.strictEqual(await changed.getByText("limits.resolutions").count(), 0)
      })
    })
  )

  it.effect("tell a second editor's change, and keep both", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const ada = yield* operator("Ada", "operator")
      const page = yield* browser.open("/catalog?list=models", {
        session: yield* operator("Bob", "operator")
      })
      yield* steps(async () => {
        await setPrice(page, "clip-1", "720p, per second", "0.8")
        await review(page)
        const changed = page.getByRole("table", { name: "Model clip-1" })
        await changed.getByRole("row", { name: "prices.per_second.720p 0.6 0.8" }).waitFor()
      })
      assert.strictEqual(yield* perSecond("clip-1", "720p"), "0.6")
      yield* elsewhere(ada.operator.token, (text) =>
        text.replace('"per_image":"0.2"', '"per_image":"0.3"')
      )
      yield* steps(async () => {
        await apply(page)
        await page.getByText("Ada created version").waitFor()
        const theirs = page.getByRole("table", { name: "Model paint-1" })
        await theirs.getByRole("row", { name: "prices.per_image 0.2 0.3" }).waitFor()
        await page.getByRole("button", { name: "Merge into version" }).click()
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      assert.strictEqual(yield* perSecond("clip-1", "720p"), "0.8")
      assert.include(JSON.stringify(yield* catalogNow), '"per_image":"0.3"')

      // Of what both have changed, the reader chooses.
      yield* steps(() => setPrice(page, "clip-1", "1080p, per second", "1.5"))
      yield* elsewhere(ada.operator.token, (text) =>
        text.replace('"720p":"0.8","1080p":"1"', '"720p":"0.9","1080p":"1"')
      )
      yield* steps(async () => {
        await review(page)
        await apply(page)
        const onto = page.getByRole("button", { name: "Merge into version" })
        await onto.waitFor()
        assert.isTrue(await onto.isDisabled())
        await page.getByRole("radio", { name: "Mine" }).check()
        await onto.click()
        await apply(page)
        await page.getByText("change not applied").waitFor({ state: "detached" })
      })
      assert.strictEqual(yield* perSecond("clip-1", "720p"), "0.8")
      assert.strictEqual(yield* perSecond("clip-1", "1080p"), "1.5")
    })
  )

  it.effect("are written as JSON, with fields at the cursor and faults by their path", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog?list=json", {
        session: yield* operator("Joe", "operator")
      })
      yield* steps(async () => {
        const editor = page.getByLabel("Catalog JSON")
        await editor.click()
        await page.keyboard.press("Control+a")
        const end = "}}]}"
        await page.keyboard.insertText(
          `{"channels": [], "mounts": [], "models": [{"id": "x", "modality": "video", "protocol": "vp_d", "prices": {"kind": "second_video", ${end}`
        )
        for (const _ of end) await page.keyboard.press("ArrowLeft")
        await page.keyboard.press("Control+Space")
        const options = page.getByRole("option")
        await options.first().waitFor()
        assert.deepStrictEqual(await options.allInnerTexts(), ["per_second"])
        await options.first().click()
        await page.getByRole("option", { name: "1080p" }).click()
        await page.getByRole("option").first().waitFor({ state: "detached" })
        await page.keyboard.insertText("free")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByRole("button", { name: "Go to models[0].prices.per_second.1080p" }).click()
        assert.isTrue(await editor.evaluate((node) => node.contains(document.activeElement)))
        assert.include(await editor.innerText(), '"per_second": {"1080p": "free"}')
      })
      const { channels, models, mounts } = yield* catalogNow
      const without = models.filter(({ id }) => id !== "rank-1")
      assert.strictEqual(without.length, models.length - 1)
      yield* steps(async () => {
        await page.keyboard.press("Control+a")
        await page.keyboard.insertText(JSON.stringify({ channels, models: without, mounts }))
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("1 change not applied").waitFor()
        await review(page)
        await page.getByRole("dialog").getByText("Model rank-1").waitFor()
      })
    })
  )

  it.effect("price a model by a table of lines, with the cost of a sample beside each", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog", {
        session: yield* operator("Uma", "operator")
      })
      yield* steps(async () => {
        await page.getByRole("tab", { name: "Models" }).click()
        await page.getByRole("button", { name: "Edit clip-1", exact: true }).click()
        await pick(page, "Billed by", "Video price table")
        await pick(page, "1, Resolution", "720p")
        await write(page, "1, Per second", "0.6")
        await page.getByRole("cell", { name: "3", exact: true }).waitFor()
        await page.getByRole("button", { name: "Add line" }).click()
        await write(page, "2, Per second", "0.9")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("Is for the same orders as lines[0]", { exact: true }).waitFor()
        await pick(page, "2, Audio", "With audio")
        await write(page, "Reference image surcharge", "0.1")
        await write(page, "Free reference images", "5")
        await page.getByRole("button", { name: "Save to draft" }).click()
        await page.getByText("1 change not applied").waitFor()
        await review(page)
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      const { models } = yield* catalogNow
      assert.deepStrictEqual(models.find(({ id }) => id === "clip-1")?.prices, {
        kind: "video_table",
        unit: "second",
        reference_surcharge: { beyond: 5, price: "0.1" },
        lines: [
          { resolution: "720p", price: "0.6" },
          { resolution: "720p", sound: true, price: "0.9" }
        ]
      })
    })
  )

  it.effect("price images by lines, or at one price", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog?list=models", {
        session: yield* operator("Ina", "operator")
      })
      const keep = () => page.getByRole("button", { name: "Save to draft" }).click()
      yield* steps(async () => {
        await page.getByRole("button", { name: "Edit paint-1", exact: true }).click()
        await write(page, "Per image", "0.25")
        await page.getByRole("button", { name: "Price by quality, size and input images" }).click()
        const lines = page.getByRole("table", { name: "Per image" })
        await lines.getByRole("cell", { name: "1", exact: true }).waitFor()
        await page.getByRole("button", { name: "Add line" }).click()
        await write(page, "2, Per image", "0.4")
        await lines.getByRole("cell", { name: "1.6", exact: true }).waitFor()
        await keep()
        await page.getByText("Is for the same orders as lines[0]", { exact: true }).waitFor()
        await write(page, "2, Quality", "high")
        await write(page, "2, Size", "1024x1024")
        await pick(page, "2, Input images", "With (edit)")
        await keep()
        await review(page)
        const changed = page.getByRole("table", { name: "Model paint-1" })
        await changed.getByRole("row", { name: /prices\.per_image\.1\.price .*0\.4/ }).waitFor()
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      const prices = Effect.map(
        catalogNow,
        ({ models }) => models.find(({ id }) => id === "paint-1")?.prices
      )
      assert.deepStrictEqual(yield* prices, {
        kind: "image",
        per_image: [
          { price: "0.25" },
          { quality: "high", size: "1024x1024", edit: true, price: "0.4" }
        ]
      })
      yield* steps(async () => {
        await page.getByRole("button", { name: "Edit paint-1", exact: true }).click()
        await page.getByRole("button", { name: "Remove line 1" }).click()
        await write(page, "1, Quality", "")
        await pick(page, "1, Input images", "Any")
        await page.getByRole("button", { name: "One price for all" }).click()
        assert.strictEqual(await page.getByLabel("Per image").inputValue(), "0.4")
        await keep()
        await review(page)
        await apply(page)
        await page.getByText("change not applied").waitFor({ state: "detached" })
      })
      assert.deepStrictEqual(yield* prices, { kind: "image", per_image: "0.4" })
    })
  )

  it.effect("price images by tokens, with bounds for the hold", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog?list=models", {
        session: yield* operator("Tom", "operator")
      })
      const keep = () => page.getByRole("button", { name: "Save to draft" }).click()
      yield* steps(async () => {
        await page.getByRole("button", { name: "Edit paint-1", exact: true }).click()
        await pick(page, "Billed by", "Images by tokens")
        await write(page, "Text input, per million tokens", "5")
        await write(page, "Image input, per million tokens", "10")
        await write(page, "Image output, per million tokens", "40.0001")
        await write(page, "Cached input, per million tokens", "1.25")
        await write(page, "Max tokens per input image", "2000000")
        await keep()
        await page.locator("[aria-invalid=true]").first().waitFor()
        for (const fault of [
          "Expected a price per million tokens with at most 3 decimals",
          "Expected a whole number from 1 to 1000000"
        ]) {
          await page.locator(".mantine-InputWrapper-error", { hasText: fault }).waitFor()
        }
        await write(page, "Image output, per million tokens", "40")
        await write(page, "Max tokens per input image", "4096")
        await write(page, "Max output tokens per image", "1000")
        await page.getByText("Max cost per image: 0.04").waitFor()
        await page.getByRole("button", { name: "Limit by quality and size" }).click()
        await write(page, "1, Quality", "high")
        await page.getByRole("button", { name: "Add line" }).click()
        await write(page, "2, Max output tokens per image", "6000")
        await page.getByRole("cell", { name: "0.24", exact: true }).waitFor()
        await keep()
        const repeated = page.locator(".mantine-InputWrapper-error", { hasText: "Means the same" })
        await repeated.waitFor()
        await write(page, "2, Size", "1536x1024")
        await keep()
        await page.getByText("1 change not applied").waitFor()
        await review(page)
        const changed = page.getByRole("table", { name: "Model paint-1" })
        const field = /prices\.most_output_tokens\.high\.1536x1024 .*6000/
        await changed.getByRole("row", { name: field }).waitFor()
        await apply(page)
        await page.getByText("of the catalog is in force").waitFor()
      })
      const { models } = yield* catalogNow
      assert.deepStrictEqual(models.find(({ id }) => id === "paint-1")?.prices, {
        kind: "image_tokens",
        per_million_text_input: "5",
        per_million_image_input: "10",
        per_million_image_output: "40",
        per_million_cached_input: "1.25",
        most_output_tokens: { high: { "*": 1000, "1536x1024": 6000 } },
        most_image_input_tokens: 4096
      })
    })
  )

  it.effect("rotate one of several keys, though another editor is quicker", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const browser = yield* Browser
      const session = yield* operator("Kay", "operator")
      const { token } = session.operator
      const keys = ["one", "two"].map((name) => ({ name, api_key: `key-${name}` }))
      yield* elsewhere(token, (text) =>
        text.replace('"id":"ch-i"', `"id":"ch-i","api_keys":${JSON.stringify(keys)}`)
      )
      const data = JSON.stringify(yield* catalogNow).replace('"name":"I"', '"name":"I 2"')
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const page = yield* browser.open("/channels/ch-i", { session })
      yield* steps(async () => {
        await page.getByRole("button", { name: "Rotate key two" }).click()
        await page.getByLabel("Vendor API key").fill("bad-key")
        let isQuicker = true
        await page.route("**/admin/v1/catalog", async (route) => {
          if (isQuicker && route.request().method() === "PUT") {
            isQuicker = false
            await page.request.put(route.request().url(), { headers, data })
          }
          await route.continue()
        })
        await page.keyboard.press("Enter")
        await page.getByText("Key two was rotated.").waitFor()
        await page.getByRole("heading", { name: "I 2" }).waitFor()
      })
      const test = yield* gateway.admin("/channels/ch-i/test", { method: "POST" })
      const checks = (yield* bodyAs(list(ChannelCheckView), test)).data
      assert.deepStrictEqual(
        checks.map(({ key, credential_accepted }) => [key, credential_accepted]),
        [
          ["one", true],
          ["two", false]
        ]
      )
    })
  )

  it.effect("are only looked at by a viewer", () =>
    Effect.gen(function* () {
      const browser = yield* Browser
      const page = yield* browser.open("/catalog", { session: yield* operator("Vic", "viewer") })
      yield* steps(async () => {
        await page
          .getByRole("table", { name: "Channels" })
          .getByText("ch-d", { exact: true })
          .waitFor()
        await page.getByText("has read access only").waitFor()
        const offered = page.getByRole("button", { name: /^(?:Add|Edit|Remove|Review)/ })
        assert.strictEqual(await offered.count(), 0)
        await page.getByRole("tab", { name: "JSON" }).click()
        const editor = page.getByLabel("Catalog JSON")
        await editor.waitFor()
        assert.strictEqual(await editor.getAttribute("contenteditable"), "false")
        assert.strictEqual(await page.getByRole("button", { name: /draft/ }).count(), 0)
        await page.getByRole("link", { name: "Channels", exact: true }).click()
        await page.getByRole("link", { name: "D", exact: true }).waitFor()
        const acts = page.getByRole("button", { name: /^(?:Test|Drain|Enable|Rotate)/ })
        assert.strictEqual(await acts.count(), 0)
        await page.getByRole("link", { name: "D", exact: true }).click()
        await page.getByRole("table", { name: "Keys" }).getByText("default").waitFor()
        assert.strictEqual(await acts.count(), 0)
      })
    })
  )
})
