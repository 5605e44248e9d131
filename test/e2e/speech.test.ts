/** Texts that are spoken: exact prices by characters, tokens, streams that break, and repeats. */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { ReceiptView } from "../../src/http/api/receipts.ts"
import { toDecimal, toNano } from "../support/amounts.ts"
import { databasesInTurn } from "../support/databases.ts"
import { focusOf } from "../support/focusFile.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { latestUsage, usageOf } from "../support/usage.ts"

const PER_CHARACTER = 100_000n

interface Heard {
  readonly status: number
  readonly type: string
  readonly headers: Headers
  /** The bytes of the sound; null where the connection was closed before their end. */
  readonly bytes: Buffer | null
}

const speak = (who: Customer, json: object, headers: Record<string, string> = {}) =>
  Effect.flatMap(Gateway, ({ url }) =>
    Effect.promise(async (): Promise<Heard> => {
      const answer = await fetch(`${url}/v1/audio/speech`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${who.key}`,
          "content-type": "application/json",
          ...headers
        },
        body: JSON.stringify({ model: "voice-1", voice: "alloy", ...json })
      })
      const bytes = await answer.arrayBuffer().then(
        (whole) => Buffer.from(whole),
        () => null
      )
      const type = answer.headers.get("content-type") ?? ""
      return { status: answer.status, type, headers: answer.headers, bytes }
    })
  )

const spoken = (model: string) =>
  Effect.map(
    Effect.flatMap(Gateway, ({ simulator }) => simulator.book),
    (entries) => entries.filter((entry) => "model" in entry && entry.model === model)
  )

const eventsIn = (bytes: Buffer | null) =>
  (bytes?.toString() ?? "").match(/^data: .*$/gm)?.map((line) => line.slice("data: ".length)) ?? []

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: speechCatalog }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`speech (${kind})`, (it) => {
    it.effect("three texts of 4,000 characters move a budget by exactly their price", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const input = "a".repeat(4000)
        const quote = yield* gateway.call("/v1/quotes", {
          key: who.key,
          json: { model: "voice-1", input, voice: "alloy" }
        })
        assert.deepNestedInclude(quote.body, {
          kind: "characters",
          unit: "character",
          modality: "tts",
          hold: "0.4",
          expected_charge: "0.4",
          "inputs.characters": 4000
        })
        for (const _ of [1, 2, 3]) {
          const heard = yield* speak(who, { input })
          assert.deepInclude(heard, { status: 200, type: "audio/mpeg" })
          assert.isAbove(heard.bytes?.byteLength ?? 0, 1000)
          assert.deepInclude(yield* latestUsage(who), {
            charge: "0.4",
            unit: "character",
            output: 4000,
            basis: "requested_characters"
          })
        }
        assert.deepInclude(yield* gateway.balance(who), { balance: "18.8", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["mp3", "audio/mpeg"],
      ["opus", "audio/ogg"],
      ["aac", "audio/aac"],
      ["flac", "audio/flac"],
      ["wav", "audio/wav"],
      ["pcm", "audio/pcm"]
    ] as const)("%s comes as %s", ([response_format, type]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { input: "The harbour is calm.", response_format })
        assert.deepInclude(heard, { status: 200, type })
        assert.isAbove(heard.bytes?.byteLength ?? 0, 100)
        assert.deepInclude(yield* latestUsage(who), { output: 20 })
      })
    )

    it.effect.each([
      ["letters", "voice-1", "a harbour", 9],
      ["letters beyond the basic plane", "voice-1", "𝒜𝒷😀", 3],
      ["Han characters as one", "voice-1", "海港 calm", 7],
      ["Han characters as two", "voice-han", "海港 calm", 9],
      ["Han characters beyond the basic plane", "voice-han", "𠀀a", 3]
    ] as const)("%s count as the price says", ([, model, input, characters]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        yield* speak(who, { model, input })
        const used = yield* latestUsage(who)
        assert.deepInclude(used, {
          output: characters,
          charge: toDecimal(BigInt(characters) * PER_CHARACTER)
        })
        const receipt = yield* bodyAs(
          ReceiptView,
          yield* gateway.call(`/v1/usage/${used.id}`, { key: who.key })
        )
        assert.strictEqual(receipt.hold, receipt.charge)
        assert.include(receipt.explanation, "characters of the text count")
        yield* gateway.verify
      })
    )

    it.effect("a repeat under its key gets the same sound and is paid once", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const headers = { "idempotency-key": "the-harbour" }
        const input = "The harbour is calm at dawn."
        const first = yield* speak(who, { input }, headers)
        const second = yield* speak(who, { input }, headers)
        assert.strictEqual(second.status, 200)
        assert.strictEqual(second.type, "audio/mpeg")
        assert.strictEqual(second.headers.get("idempotency-replayed"), "true")
        assert.isTrue(first.bytes !== null && second.bytes?.equals(first.bytes))
        assert.lengthOf(yield* usageOf(who), 1)
        const other = yield* speak(who, { input: "another" }, headers)
        assert.strictEqual(other.status, 422)
        yield* gateway.verify
      })
    )

    it.effect("events come as the vendor writes them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { input: "The harbour is calm.", stream_format: "sse" }
        const heard = yield* speak(who, json)
        assert.strictEqual(heard.type, "text/event-stream")
        const events = eventsIn(heard.bytes).map((data) => JSON.parse(data))
        assert.deepInclude(events.at(0), { type: "speech.audio.delta" })
        assert.deepInclude(events.at(-1), { type: "speech.audio.done" })
        assert.deepInclude(yield* latestUsage(who), { charge: "0.002", unit: "character" })
        yield* gateway.verify
      })
    )

    it.effect("tokens are charged as the vendor counts them, and as held where it does not", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const json = { model: "voice-tokens", input: "The harbour is calm." }
        const quote = yield* gateway.call("/v1/quotes", { key: who.key, json })
        const { hold } = quote.body as { readonly hold: string }
        yield* speak(who, { ...json, stream_format: "sse" })
        // 5 tokens of text, and 26 of 1.3 seconds of sound.
        assert.deepInclude(yield* latestUsage(who), {
          basis: "upstream_usage",
          input: 5,
          output: 26,
          charge: toDecimal(5n * 4000n + 26n * 80_000n)
        })
        yield* speak(who, json)
        assert.deepInclude(yield* latestUsage(who), { basis: "formula", charge: hold })
        assert.isTrue(toNano(hold) > 5n * 4000n + 26n * 80_000n)
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["bytes that break off", { input: `${"a".repeat(600)} sim:breaks=2` }, null],
      ["events that break off", { input: "a sim:breaks=1", stream_format: "sse" }, undefined],
      ["an error among events", { input: "a sim:errors=1", stream_format: "sse" }, undefined]
    ] as const)("%s are charged, and the client learns that they are not whole", ([, json, end]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, json)
        assert.strictEqual(heard.status, 200)
        if (end === null) assert.isNull(heard.bytes)
        else assert.include(eventsIn(heard.bytes).at(-1), '"upstream_error"')
        assert.deepInclude(yield* latestUsage(who), { output: json.input.length })
        assert.deepInclude(yield* gateway.balance(who), { held: "0" })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["a refusal", "sim:refuse=400", 400],
      ["a failure", "sim:http500", 502],
      ["a busy vendor", "sim:rate", 503],
      ["a vendor that hangs up", "sim:lost", 502],
      ["moderation", "sim:moderate-input", 400]
    ] as const)("%s costs nothing", ([, input, status]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { input })
        assert.strictEqual(heard.status, status, heard.bytes?.toString())
        assert.lengthOf(yield* usageOf(who), 0)
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
        yield* gateway.verify
      })
    )

    it.effect("a web page in place of a sound is no sound, and charged as unreadable", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const heard = yield* speak(who, { input: "sim:html" })
        assert.strictEqual(heard.status, 502)
        assert.notInclude(heard.bytes?.toString(), "Back soon")
        assert.deepInclude(yield* latestUsage(who), { basis: "unread_answer", output: 8 })
        yield* gateway.verify
      })
    )

    it.effect.each([
      ["without a mount", "voice-closed"],
      ["with a mount of another protocol", "voice-elsewhere"]
    ] as const)("a model %s is not ready, whatever its body is", ([, model]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        for (const json of [{ input: "a" }, { input: null }, {}]) {
          const answer = yield* gateway.call("/v1/audio/speech", {
            key: who.key,
            json: { model, ...json }
          })
          assert.strictEqual(answer.status, 400)
          assert.deepNestedInclude(answer.body, { "error.code": "modality_not_ready" })
        }
        const models = yield* gateway.call("/v1/models?modality=tts", { key: who.key })
        const { data } = models.body as {
          readonly data: ReadonlyArray<{ id: string; status: string }>
        }
        assert.deepStrictEqual(
          data.filter(({ status }) => status === "open").map(({ id }) => id),
          ["voice-1", "voice-han", "voice-tokens", "voice-eleven", "voice-listed", "voice-cloud"]
        )
        assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
      })
    )

    it.effect.each([
      ["a missing text", {}, "input"],
      ["an unknown format", { input: "a", response_format: "midi" }, "response_format"],
      ["a speed out of bounds", { input: "a", speed: 9 }, "speed"],
      ["another model beside", { input: "a", fallbacks: ["x"] }, "fallbacks"]
    ] as const)("%s is refused with its field", ([, json, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        const before = (yield* spoken("sim-voice-1")).length
        const answer = yield* gateway.call("/v1/audio/speech", {
          key: who.key,
          json: { model: "voice-1", ...json }
        })
        assert.strictEqual(answer.status, 400)
        assert.deepNestedInclude(answer.body, { "error.param": param })
        assert.lengthOf(yield* spoken("sim-voice-1"), before)
      })
    )

    it.effect("the books of a month come to the charges", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("20")
        yield* speak(who, { input: "The harbour is calm." })
        yield* speak(who, { model: "voice-tokens", input: "a", stream_format: "sse" })
        const charged = (yield* usageOf(who)).reduce((sum, { charge }) => sum + toNano(charge), 0n)
        const month = DateTime.formatIsoDateUtc(yield* DateTime.now).slice(0, 7)
        const path = `/organizations/${who.organizationId}/statements/${month}`
        const statement = yield* gateway.admin(path)
        assert.deepNestedInclude(statement.body, { "charges.gross": toDecimal(charged) })
        const { "1.2": focus } = yield* focusOf(path)
        assert.strictEqual(
          focus.reduce((sum, { BilledCost = "" }) => sum + toNano(BilledCost), 0n),
          charged
        )
        const characters = focus.find(({ SkuMeter }) => SkuMeter === "characters")
        assert.deepInclude(characters, {
          PricingQuantity: "20",
          PricingUnit: "Characters",
          ServiceName: "Speech synthesis"
        })
        const series = yield* gateway.admin(
          `/usage/series?interval=month&by=model&organization_id=${who.organizationId}`
        )
        const { data } = series.body as { readonly data: ReadonlyArray<object> }
        assert.deepInclude(
          data.find((line) => "model" in line && line.model === "voice-1"),
          { unit: "character", units: 20, charge: "0.002", cost: "0.002" }
        )
        yield* gateway.verify
      })
    )
  })
}
