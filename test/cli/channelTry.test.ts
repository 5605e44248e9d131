/** A channel tried through the gateway, as an operator with an account at its vendor does it. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { atGateway, documentOf } from "../support/commandLine.ts"
import { temporaryDataDir } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { call } from "../support/http.ts"

const Report = Schema.Struct({
  organization: Schema.String,
  models: Schema.Array(
    Schema.Struct({
      model: Schema.String,
      protocol: Schema.String,
      upstreamModel: Schema.String,
      trials: Schema.Array(
        Schema.Struct({
          form: Schema.String,
          state: Schema.String,
          says: Schema.String,
          calls: Schema.Array(
            Schema.Struct({
              purpose: Schema.String,
              status: Schema.NullOr(Schema.Int),
              request: Schema.Unknown,
              answer: Schema.Unknown
            })
          )
        })
      )
    })
  )
})

layer(layerTestGateway("postgres", quickSettings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("channel try", (it) => {
  it.effect("orders each form, says what was sent and what came, and takes back the rest", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const cli = atGateway(gateway.url)
      const words = ["channel", "try", "demo-vp_d", "--spend", "60", "-o", output]
      const done = yield* cli(...words, "--video", "https://media.example/film.mp4", "--json")
      const report = yield* documentOf(Report)(done)
      const text = yield* Effect.promise(() => readFile(output, "utf8"))
      assert.deepStrictEqual(JSON.parse(text), JSON.parse(done.stdout))
      assert.notInclude(text, "demo-secret")
      assert.notInclude(text, "mg_")
      const [tried] = report.models
      assert.isDefined(tried)
      for (const { form, state, says, calls } of tried.trials) {
        assert.include(["succeeded", "not ordered"], state, `${form}: ${says}`)
        if (state !== "succeeded") continue
        assert.deepStrictEqual(
          calls.map(({ status }) => status),
          calls.map(() => 200),
          form
        )
        assert.include(JSON.stringify(calls[0]?.request), "settings", form)
      }
      assert.isTrue(tried.trials.some(({ state }) => state === "succeeded"))
      const shown = yield* gateway.admin(`/organizations/${report.organization}`)
      assert.deepInclude(shown.body, { available: "0", held: "0" }, shown.text)
    })
  )

  it.effect("says what was sent and what came also where the vendor refuses", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const account = `${gateway.simulator.url}/_sim/accounts/demo-secret-vp_f`
      const switched = yield* call(account, { method: "PUT", json: { switches: "sim:refuse=400" } })
      assert.strictEqual(switched.status, 204, switched.text)
      const words = ["channel", "try", "demo-vp_f", "--model", "scene-1", "--spend", "9"]
      const done = yield* atGateway(gateway.url)(...words, "-o", output, "--json")
      assert.strictEqual(done.code, 1)
      const [tried] = (yield* documentOf(Report)(done)).models
      assert.isNotEmpty(tried?.trials ?? [])
      for (const { form, state, calls } of tried?.trials ?? []) {
        assert.strictEqual(state, "rejected", form)
        assert.deepStrictEqual(
          calls.map(({ purpose, status }) => [purpose, status]),
          [["submit", 400]],
          form
        )
        assert.include(JSON.stringify(calls), "InvalidParameter")
      }
    })
  )

  it.effect("orders each form at a length that all forms have", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const words = ["channel", "try", "demo-vp_e", "--model", "motion-1-turbo", "--spend", "30"]
      const done = yield* atGateway(gateway.url)(...words, "-o", output)
      assert.strictEqual(done.code, 0, done.stdout)
    })
  )

  it.effect("orders images as well", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const words = ["channel", "try", "demo-ip_b", "--spend", "9", "-o", output, "--json"]
      const done = yield* atGateway(gateway.url)(...words)
      const [tried] = (yield* documentOf(Report)(done)).models
      assert.deepStrictEqual(
        tried?.trials.map(({ form, state }) => [form, state]),
        [
          ["text alone", "succeeded"],
          ["two images", "succeeded"],
          ["from a picture", "succeeded"]
        ]
      )
      assert.strictEqual(done.code, 0, done.stderr)
    })
  )

  it.effect("orders rankings, speech in each format, and transcriptions", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const tried = yield* Effect.forEach(["demo-jina", "demo-openai"], (channel) =>
        Effect.gen(function* () {
          const words = ["channel", "try", channel, "--spend", "9", "--voice", "alloy"]
          const done = yield* atGateway(gateway.url)(...words, "-o", output, "--json")
          assert.strictEqual(done.code, 0, done.stderr)
          return (yield* documentOf(Report)(done)).models
        })
      )
      const models = tried.flat()
      for (const { form, state, says, calls } of models.flatMap(({ trials }) => trials)) {
        assert.deepStrictEqual([state, says], ["succeeded", ""], form)
        assert.deepStrictEqual(
          calls.map(({ status }) => status),
          [200],
          form
        )
      }
      assert.deepStrictEqual(
        models.map(({ model, trials }) => [model, ...trials.map(({ form }) => form)]),
        [
          ["rank-1", "all results", "the best result"],
          [
            "voice-1",
            ...["mp3", "opus", "aac", "flac", "wav", "pcm"],
            ...["with instructions", "at its lowest speed"]
          ],
          ["listen-1", "json", "verbose_json"]
        ]
      )
      const spoken = (yield* gateway.simulator.requests).filter(({ body }) =>
        JSON.stringify(body).includes('"instructions":"Speak slowly."')
      )
      assert.deepNestedInclude(spoken[0], { "body.voice": "alloy" })
    })
  )

  it.effect("spends no more than it may, and says what is not there", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const output = join(yield* temporaryDataDir(), "report.json")
      const cli = atGateway(gateway.url)
      const poor = yield* cli("channel", "try", "demo-vp_e", "--spend", "0.001", "-o", output)
      assert.strictEqual(poor.code, 1)
      assert.include(poor.stdout, "insufficient_balance")
      const talk = ["channel", "try", "demo-openai", "--model", "talk-1", "--spend", "1"]
      const none = yield* cli(...talk, "-o", output)
      assert.deepStrictEqual([none.code, none.stdout], [1, ""])
      assert.include(
        none.stderr,
        "orders go to the channel demo-openai first, or not those of talk-1"
      )
      const free = yield* cli("channel", "try", "demo-vp_d", "-o", output)
      assert.strictEqual(free.code, 2)
      assert.include(free.stderr, "--spend")
    })
  )
})
