import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { CatalogDocument } from "../../src/domain/catalog/CatalogDocument.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { listedVoices, speechCatalog } from "../support/speechCatalog.ts"
import { accessFaults } from "./support/accessFaults.ts"
import { asOwner, Browser, inBrowser, type Page, steps } from "./support/browser.ts"
import { codeFolder, codeOf, runCode, tabs } from "./support/shownCode.ts"

const TEXT = "The harbour is calm at dawn."
/** The characters of the text at 100 a million. */
const CHARGE = "0.0028"

const Charges = Schema.Struct({
  data: Schema.Array(Schema.Struct({ charge: Schema.String, model: Schema.String }))
})

const charges = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) =>
    Effect.flatMap(gateway.call("/v1/usage", { key: who.key }), (answer) =>
      Effect.map(bodyAs(Charges, answer), ({ data }) => data)
    )
  )

const RECORDING = "harbour; dawn.wav"
/** A recording of this length, as a file that is uploaded. */
const recordingOf = (milliseconds: number) => ({
  name: RECORDING,
  mimeType: "audio/wav",
  buffer: Buffer.from(makeSound("wav", milliseconds))
})

const upload = async (page: Page, milliseconds: number): Promise<void> => {
  await page.locator('input[type="file"]').setInputFiles(recordingOf(milliseconds))
  await page.getByText(RECORDING).waitFor()
}

const opened = Effect.fnUntraced(function* (who: Customer, model: string) {
  const browser = yield* Browser
  return yield* browser.open(`/playground?model=${model}`, { session: { apiKey: who.key } })
})

const choose = async (page: Page, label: string, option: string): Promise<void> => {
  await page.getByRole("combobox", { name: label, exact: true }).click()
  await page.getByRole("option", { name: option, exact: true }).click()
}
const field = (page: Page, label: string) => page.getByRole("textbox", { name: label, exact: true })
const press = (page: Page, name: string) => page.getByRole("button", { name }).click()
const receiptOf = (page: Page) => page.getByLabel("Receipt", { exact: true })
const priceOf = (page: Page) => page.getByRole("group", { name: "Price", exact: true })

/** Runs the code of every tab, and returns what each has written to the console. */
const runTabs = (page: Page, folder: string, who: Customer) =>
  Effect.forEach(
    tabs,
    Effect.fnUntraced(function* (tab) {
      const code = yield* codeOf(page, tab)
      assert.notInclude(code, who.key)
      return yield* runCode(tab, code, folder, who)
    })
  )

inBrowser(
  "the playground of speech, transcriptions and rankings",
  layerTestGateway("embedded", quickSettings, { catalogFor: speechCatalog }),
  (it) => {
    it.effect("speaks a text, priced before and heard with its receipt", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "voice-1")
        yield* steps(async () => {
          await field(page, "Text").fill(TEXT)
          await press(page, "Advanced")
          await field(page, "Voice").fill("alloy")
          await choose(page, "Format", "wav")
          await field(page, "Speed").fill("2")
          await field(page, "Instructions").fill("Speak slowly.")
          await page.getByRole("button", { name: "Advanced alloy · wav · 2×" }).waitFor()
          await priceOf(page).getByText(`Hold ${CHARGE} CNY`).waitFor()
          await press(page, "Generate speech")
          await page.locator('audio[src^="blob:"]').waitFor()
          await page.waitForFunction(() => (document.querySelector("audio")?.duration ?? 0) > 0)
          await receiptOf(page).getByText(`${CHARGE} CNY`).first().waitFor()
          await receiptOf(page).getByText("28 characters").first().waitFor()
          const saved = page.waitForEvent("download")
          await press(page, "Download: voice-1.wav")
          assert.strictEqual((await saved).suggestedFilename(), "voice-1.wav")
        })
        assert.deepStrictEqual(yield* charges(who), [{ charge: CHARGE, model: "voice-1" }])
        const ordered = (yield* gateway.simulator.requests).at(-1)
        assert.deepNestedInclude(ordered, { "body.instructions": "Speak slowly." })
      })
    )

    it.effect("offers the voices that the catalog lists, and forgets others with their model", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "voice-1")
        yield* steps(async () => {
          await field(page, "Text").fill(TEXT)
          await press(page, "Advanced")
          await field(page, "Voice").fill("nova")
          await choose(page, "Model", "voice-listed")
          await page.getByRole("button", { name: "Advanced", exact: true }).waitFor()
          await page.getByRole("combobox", { name: "Voice" }).click()
          const voices = page.getByRole("listbox", { name: "Voice" }).getByRole("option")
          assert.deepStrictEqual(await voices.allTextContents(), [...listedVoices])
          await voices.getByText("echo").click()
          await page.getByRole("button", { name: "Advanced echo" }).waitFor()
          await press(page, "Generate speech")
          await receiptOf(page).getByText(`${CHARGE} CNY`).first().waitFor()
        })
        const ordered = (yield* gateway.simulator.requests).at(-1)
        assert.deepNestedInclude(ordered, { "body.voice": "echo" })
      })
    )

    it.effect("explains a speed that no model takes at its field", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "voice-1")
        yield* steps(async () => {
          await field(page, "Text").fill(TEXT)
          await press(page, "Advanced")
          await field(page, "Speed").fill("9")
          await page.getByRole("alert").getByText("a value between 0.25 and 4").waitFor()
          await press(page, "Go to speed")
          await page.waitForFunction(
            () => document.activeElement?.getAttribute("data-field") === "speed"
          )
        })
        assert.lengthOf(yield* charges(who), 0)
      })
    )

    it.effect("ranks documents by a query, the best with its score and its receipt", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "rank-searches")
        yield* steps(async () => {
          // Two in a thousand searches, and no document is written yet.
          await priceOf(page).getByText("Hold 0.002 CNY").waitFor()
          await field(page, "Query").fill("When is the harbour calm?")
          await press(page, "Rerank")
          await page.waitForFunction(
            () => document.activeElement?.getAttribute("data-field") === "documents"
          )
          await field(page, "Documents").fill(`Trains leave every hour.\n\n${TEXT}\nRain.`)
          await press(page, "Advanced")
          await field(page, "Top N").fill("2")
          await press(page, "Rerank")
          const rows = page.getByRole("table", { name: "Ranking" }).locator("tbody tr")
          await rows.nth(1).waitFor()
          assert.strictEqual(await rows.count(), 2)
          const [rank, text, score] = await rows.first().locator("td").allTextContents()
          assert.deepStrictEqual([rank, text], ["1", TEXT])
          assert.isAbove(Number(score), 0.5)
          await receiptOf(page).getByText("1 search").first().waitFor()
        })
        const [charge] = yield* charges(who)
        assert.deepStrictEqual(charge, { charge: "0.002", model: "rank-searches" })
      })
    )

    it.effect("reads a recording, priced before, with its text and its receipt", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "listen-1")
        yield* steps(async () => {
          await press(page, "Transcribe")
          await page.waitForFunction(
            () => document.activeElement?.getAttribute("data-field") === "file"
          )
          await upload(page, 12_000)
          await priceOf(page).getByText("Hold 0.0012 CNY").waitFor()
          await press(page, "Advanced")
          await field(page, "Language").fill("en")
          await field(page, "Prompt").fill("harbour")
          await field(page, "Temperature").fill("0.5")
          await choose(page, "Format", "srt")
          await page.getByRole("button", { name: "Advanced en · srt · +1" }).waitFor()
          await press(page, "Transcribe")
          const transcript = page.getByRole("group", { name: "Transcript", exact: true })
          await transcript.getByText("00:00:00,000 --> 00:00:12,000").waitFor()
          await transcript.getByText(TEXT).waitFor()
          await receiptOf(page).getByText("0.0012 CNY").first().waitFor()
          await receiptOf(page).getByText("12 seconds").first().waitFor()
          const saved = page.waitForEvent("download")
          await press(page, "Download: listen-1.srt")
          assert.strictEqual((await saved).suggestedFilename(), "listen-1.srt")

          await choose(page, "Format", "json")
          await press(page, "Transcribe")
          await page.getByRole("button", { name: "Download: listen-1.json" }).waitFor()
          assert.strictEqual(await transcript.textContent(), TEXT)
          // What the tab keeps is a text, which a recording is too large for.
          await page.reload()
          await page.getByRole("button", { name: "Advanced en · json · +1" }).waitFor()
          assert.strictEqual(await page.getByText(RECORDING).count(), 0)
        })
        assert.deepStrictEqual(
          yield* charges(who),
          Array.from({ length: 2 }, () => ({ charge: "0.0012", model: "listen-1" }))
        )
      })
    )

    it.effect("prices a recording that is too large for a quote by its length", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const page = yield* opened(who, "listen-1")
        yield* steps(async () => {
          await priceOf(page).getByText("Hold 0.0001 CNY").waitFor()
          await upload(page, 180_000)
          await priceOf(page).getByText("Hold 0.018 CNY").waitFor()
          await priceOf(page).getByText("Calculated without your files").waitFor()
          await press(page, "Remove recording")
          await priceOf(page).getByText("Hold 0.0001 CNY").waitFor()
        })
      })
    )

    it.effect("tells a transcription as code that reads the file, as JSON and as subtitles", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const folder = yield* codeFolder
        writeFileSync(join(folder, RECORDING), makeSound("wav", 12_000))
        const page = yield* opened(who, "listen-1")
        yield* steps(async () => {
          await upload(page, 12_000)
          await press(page, "Advanced")
          await field(page, "Prompt").fill('@the harbour\'s "dawn"')
        })
        for (const output of yield* runTabs(page, folder, who)) assert.include(output, TEXT)
        yield* steps(() => choose(page, "Format", "srt"))
        for (const output of yield* runTabs(page, folder, who)) {
          assert.include(output, "00:00:00,000 --> 00:00:12,000")
        }
        assert.lengthOf(yield* charges(who), 2 * tabs.length)
      })
    )

    it.effect.each([
      ["rank-searches", ["查询", "文档", "Top N"]],
      ["voice-listed", ["文本", "音色", "格式", "语速", "朗读要求"]],
      ["listen-1", ["录音", "语言", "格式", "提示词", "温度", "时间戳"]]
    ] as const)("fits a phone in Chinese with all options of %s", ([model, labels]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const who = yield* gateway.customer("1")
        const page = yield* browser.open(`/playground?model=${model}`, {
          session: { apiKey: who.key },
          language: "zh",
          width: 390
        })
        const faults = yield* steps(async () => {
          await page.getByRole("button", { name: /^高级/ }).click()
          for (const label of labels) {
            await page.getByText(label, { exact: true }).first().waitFor()
          }
          if (model === "listen-1") await upload(page, 12_000)
          else await page.locator('[data-field="prompt"]').fill("清晨的港口很平静。")
          if (model === "rank-searches") {
            await page.locator('[data-field="documents"]').fill("清晨的港口很平静。\n下雨。")
          }
          await page.getByRole("button", { name: /^(重排序|生成语音|转写)/ }).click()
          await page.getByRole("region", { name: "收据" }).getByText("CNY").first().waitFor()
          return accessFaults(page)
        })
        assert.deepStrictEqual(faults, [])
      })
    )

    it.effect("tells both as code that runs, without the key", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const folder = yield* codeFolder
        const page = yield* opened(who, "rank-searches")
        yield* steps(async () => {
          await field(page, "Query").fill("When is the harbour calm?")
          await field(page, "Documents").fill(`Trains leave every hour.\n${TEXT}`)
        })
        for (const output of yield* runTabs(page, folder, who)) {
          assert.match(output, /relevance_score/)
        }
        yield* steps(async () => {
          await choose(page, "Model", "voice-1")
          await field(page, "Text").fill(TEXT)
        })
        yield* runTabs(page, folder, who)
        assert.isAbove(readFileSync(join(folder, "speech.mp3")).byteLength, 0)
        assert.lengthOf(yield* charges(who), 2 * tabs.length)
      })
    )

    it.effect("edits the seconds of a price and the voices of a model in the catalog", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const page = yield* browser.open("/catalog?list=models", { session: asOwner })
        const save = () => press(page, "Save to draft")
        yield* steps(async () => {
          await press(page, "Edit listen-steps")
          await field(page, "Per second").fill("0.0002")
          await field(page, "Billing step, seconds").fill("20")
          await field(page, "Minimum seconds").fill("")
          await save()
          await press(page, "Edit voice-han")
          const voices = page.getByRole("combobox", { name: "Voices", exact: true })
          for (const voice of listedVoices) {
            await voices.fill(voice)
            await voices.press("Enter")
          }
          await save()
          await page.getByText("2 changes not applied").waitFor()
          await press(page, "Review and apply")
          await page.getByRole("button", { name: "Apply", exact: true }).click()
          await page.getByText("2 changes not applied").waitFor({ state: "detached" })
        })
        const catalog = yield* bodyAs(CatalogDocument, yield* gateway.admin("/catalog"))
        const { models } = Schema.encodeSync(CatalogDocument)(catalog)
        const modelOf = (id: string) => models.find((model) => model.id === id)
        assert.deepStrictEqual(modelOf("listen-steps")?.prices, {
          kind: "audio_seconds",
          per_second: "0.0002",
          step_seconds: 20
        })
        assert.deepStrictEqual(modelOf("voice-han")?.limits, { voices: [...listedVoices] })
      })
    )

    it.effect("prices characters, seconds and searches of new vendors in the wizard", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const browser = yield* Browser
        const page = yield* browser.open("/channels/new/vendor", { session: asOwner })
        const addModel = async (vendor: string, protocol: string, model: string) => {
          await page.getByRole("button", { name: new RegExp(`^${vendor}`) }).click()
          await field(page, "Base URL").fill(`${gateway.simulator.url}/${protocol}/v1`)
          await page.getByLabel("Vendor API key").fill("a-new-secret")
          await press(page, "Test and continue")
          await page.getByRole("checkbox", { name: model }).check()
          await field(page, `Model ID for clients (${model})`).fill(`new-${model}`)
          await press(page, "Next")
        }
        const apply = async () => {
          await press(page, "Next")
          await page.getByRole("button", { name: "Apply", exact: true }).click()
          await page.getByText(/^Applied as version/).waitFor()
        }
        yield* steps(async () => {
          await addModel("Jina AI", "jina", "sim-rank-1")
          await field(page, "Input, per million tokens").waitFor()
          await choose(page, "Billed by", "Searches")
          await field(page, "Per thousand searches").fill("2")
          await field(page, "Documents per search").fill("50")
          await apply()

          await page.goto(`${gateway.url}/console/channels/new/vendor`)
          await addModel("OpenAI Chat", "openai", "sim-voice-1")
          await field(page, "Per million characters").fill("100")
          await choose(page, "Count characters as", "Code points, Chinese twice")
          await apply()

          await page.goto(`${gateway.url}/console/channels/new/vendor`)
          await addModel("OpenAI Chat", "openai", "sim-listen-1")
          await field(page, "Per second").fill("0.0001")
          await field(page, "Billing step, seconds").fill("15")
          await field(page, "Minimum seconds").fill("30")
          await apply()

          await page.goto(`${gateway.url}/console/channels/new/vendor`)
          await addModel("ElevenLabs", "elevenlabs", "eleven_v3")
          await field(page, "Per million characters").fill("200")
          await apply()
        })
        const catalog = yield* bodyAs(CatalogDocument, yield* gateway.admin("/catalog"))
        const { models } = Schema.encodeSync(CatalogDocument)(catalog)
        const [ranking, speech, transcription, eleven] = models.slice(-4)
        assert.deepInclude(ranking, {
          modality: "rerank",
          protocol: "jina",
          prices: { kind: "searches", per_thousand_searches: "2", documents_per_search: 50 }
        })
        assert.deepInclude(speech, {
          modality: "tts",
          protocol: "openai",
          prices: { kind: "characters", per_million_characters: "100", counts: "han_double" }
        })
        assert.deepInclude(transcription, {
          modality: "asr",
          protocol: "openai",
          prices: {
            kind: "audio_seconds",
            per_second: "0.0001",
            step_seconds: 15,
            minimum_seconds: 30
          }
        })
        assert.deepInclude(eleven, {
          modality: "tts",
          protocol: "elevenlabs",
          prices: { kind: "characters", per_million_characters: "200" }
        })
      })
    )
  }
)
