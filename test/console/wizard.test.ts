import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { CatalogDocument } from "../../src/domain/catalog/CatalogDocument.ts"
import { bodyAs, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { accessFaults } from "./support/accessFaults.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"

const Charges = Schema.Struct({
  data: Schema.Array(Schema.Struct({ charge: Schema.String, model: Schema.String }))
})

const field = (page: Page, label: string) => page.getByRole("textbox", { name: label, exact: true })
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()

const atStep = (page: Page, name: string) =>
  page.getByRole("heading", { name: new RegExp(`^${name}`), level: 2 }).waitFor()

inBrowser(
  "the wizard for a new channel",
  layerTestGateway(
    "embedded",
    { ...quickSettings, webhookAllowPrivate: true },
    { catalogFor: demoCatalog }
  ),
  (it) => {
    it.effect("leads from a new vendor to its first paid order", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("100")
        const page = yield* browser.open("/channels", {
          session: { ...asOwner, apiKey: who.key },
          width: 390
        })
        const faults: Array<string> = []
        const look = async () => void faults.push(...(await accessFaults(page)))
        yield* steps(async () => {
          await page.getByRole("link", { name: "Add channel" }).click()
          await page.getByRole("button", { name: /^OpenAI Images/ }).click()

          // The address of nobody: the account is not confirmed.
          await atStep(page, "Connection")
          await field(page, "Base URL").fill("http://127.0.0.1:9")
          await page.getByLabel("Vendor API key").fill("a-new-secret")
          await page.keyboard.press("Enter")
          await page.getByText("The vendor did not respond.").waitFor()
          await page.getByRole("button", { name: "Continue anyway" }).waitFor()
          await look()
          await field(page, "Base URL").fill(`${gateway.simulator.url}/ip_a/v1`)
          await page.getByText("The vendor did not respond.").waitFor({ state: "detached" })
          await press(page, "Test and continue")

          await atStep(page, "Models")
          await page.getByText("Models found: 1").waitFor()
          await page.getByRole("checkbox", { name: "sim-paint-1" }).check()
          await field(page, "Model ID for clients (sim-paint-1)").fill("paint-new")
          await look()
          await press(page, "Next")

          // Another channel has the same model of a vendor, so its price is known.
          await atStep(page, "Prices")
          const price = field(page, "Per image")
          assert.strictEqual(await price.inputValue(), "0.2")
          await price.fill("")
          await look()
          await page.keyboard.press("Enter")
          await atStep(page, "Review")
          await page.getByText("Prices of paint-new: cannot be ordered.").waitFor()
          await page.getByText("Model paint-new", { exact: true }).waitFor()
          await look()
          await page.getByRole("button", { name: "Back" }).press("Enter")
          await page.getByRole("combobox", { name: "Billed by" }).waitFor()
          await field(page, "Per image").fill("0.3")
          await press(page, "Next")
          await page.getByText("The draft is valid.").waitFor()
          assert.isFalse(await page.getByText("cannot be ordered").isVisible())
        })
        // Another operator is quicker, so the vendor is added to the newer catalog.
        const catalog = yield* bodyAs(CatalogDocument, yield* gateway.admin("/catalog"))
        const { channels, models, mounts } = Schema.encodeSync(CatalogDocument)(catalog)
        const renamed = channels.map((channel) => ({ ...channel, name: `${channel.name} 2` }))
        const json = { channels: renamed, models, mounts }
        const put = yield* gateway.admin("/catalog", { method: "PUT", json })
        assert.strictEqual(put.status, 200, put.text)
        yield* steps(async () => {
          await page.getByRole("button", { name: "Apply", exact: true }).press("Enter")
          await page.getByText("The catalog has changed in the meantime.").waitFor()
          await page.getByText("The draft is valid.").waitFor()
          await press(page, "Apply")
          await page.getByText(/^Applied as version/).waitFor()
          await page.getByRole("link", { name: "Open channel" }).waitFor()
          await look()
          await page.getByRole("link", { name: "Try it" }).click()
          await page.getByLabel("Prompt").fill("a lighthouse")
          await press(page, "Generate images")
          await page.getByRole("img", { name: "Image 1" }).first().waitFor()
        })
        assert.deepStrictEqual(faults, [])
        const charges = yield* bodyAs(Charges, yield* gateway.call("/v1/usage", { key: who.key }))
        assert.deepStrictEqual(charges.data, [{ charge: "0.3", model: "paint-new" }])
        const now = yield* bodyAs(CatalogDocument, yield* gateway.admin("/catalog"))
        assert.deepInclude(now.channels.at(-1), { id: "openai-images", name: "OpenAI Images" })
        assert.isTrue(now.channels.slice(0, -1).every(({ name }) => name.endsWith(" 2")))
        assert.strictEqual(now.mounts.at(-1)?.upstream_model, "sim-paint-1")
      })
    )
  }
)
