import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type RedactOptions, redact } from "../../src/redaction/bodiesFromCallLog.ts"
import { plainAddress } from "../../src/redaction/patterns.ts"

const run = (value: unknown, options: Partial<RedactOptions> = {}) =>
  Effect.sync(() => redact(value, { secrets: [], requestTexts: null, itemId: null, ...options }))

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex")

const digestOf = (text: string) => ({
  characters: text.length,
  sha256: sha256(text).slice(0, 12)
})

describe("what is kept of a call", () => {
  it.effect("ids, words of a vocabulary, numbers and flags stay as they are", () =>
    Effect.gen(function* () {
      const value = {
        id: "cgt-20260131-ab12",
        model: "vendor/film:1",
        status: "running",
        created_at: "2026-01-31 12:00:00.123",
        duration: 5,
        watermark: false,
        seed: null,
        usage: { completion_tokens: 108_900 }
      }
      assert.deepStrictEqual((yield* run(value)).value, value)
    })
  )

  it.effect("any other text shows its length and digest, also under a name that keeps words", () =>
    Effect.gen(function* () {
      const prompt = "a lighthouse"
      const { value, texts } = yield* run({
        prompt,
        style: "single-word",
        id: "two words",
        model: "ü",
        message: prompt
      })
      assert.deepStrictEqual(value, {
        prompt: digestOf(prompt),
        style: digestOf("single-word"),
        id: digestOf("two words"),
        model: digestOf("ü"),
        message: digestOf(prompt)
      })
      assert.deepStrictEqual(texts, [prompt, "single-word", "two words", "ü", prompt])
    })
  )

  it.effect("media show their type, size and digest, addresses no query and no user", () =>
    Effect.gen(function* () {
      const bytes = Buffer.from("picture ".repeat(100))
      const base64 = bytes.toString("base64")
      const { value } = yield* run({
        image: `data:image/png;base64,${base64}`,
        b64_json: base64,
        text: "data:text/plain,hello",
        url: "https://user:pass@files.test/a/b.png?Signature=s#f",
        broken: "https://["
      })
      const size = { bytes: bytes.length, sha256: sha256(bytes) }
      assert.deepStrictEqual(value, {
        image: { media_type: "image/png", ...size },
        b64_json: { media_type: null, ...size },
        text: { media_type: "text/plain", bytes: 5, sha256: sha256("hello") },
        url: "https://files.test/a/b.png",
        broken: "[address]"
      })
      assert.strictEqual(plainAddress("http://v.test/x?key=k"), "http://v.test/x")
    })
  )

  it.effect(
    "a vendor's explanation loses what it repeats of the request, however it is spelled",
    () =>
      Effect.gen(function* () {
        const prompt = 'zebras "crossing" at dusk'
        const requestTexts = [prompt]
        const quoted = JSON.stringify(prompt).slice(1, -1)
        const explain = (message: string) => run({ error: { message } }, { requestTexts })
        for (const [said, kept] of [
          [`Forbidden: ${prompt}.`, "Forbidden: […]."],
          [`Forbidden: ${quoted}!`, "Forbidden: […]!"],
          [`Forbidden: ${encodeURIComponent(prompt)}`, "Forbidden: […]"],
          ['Forbidden: crossing" at dusk, and more', "Forbidden: […], and more"],
          ["The word dusk is forbidden", "The word dusk is forbidden"],
          ["See https://v.test/help?k=1 please", "See […] please"],
          [`Key ${"A1".repeat(40)} is wrong`, "Key […] is wrong"]
        ] as const) {
          assert.deepStrictEqual((yield* explain(said)).value, { error: { message: kept } })
        }
        const long = yield* explain("no ".repeat(1000))
        assert.isAtMost(JSON.stringify(long.value).length, 350)
      })
  )

  it.effect("credentials are masked in texts, numbers and names", () =>
    Effect.gen(function* () {
      const secrets = ["key-123", "4711"]
      const options = { secrets, requestTexts: [] }
      const { value } = yield* run(
        {
          id: "job-key-123",
          code: 4711,
          message: "not key-123",
          "key-123": 1,
          url: "http://v/key-123"
        },
        options
      )
      assert.deepStrictEqual(value, {
        id: "job-[redacted]",
        code: "[redacted]",
        message: "not [redacted]",
        url: "http://v/[redacted]",
        "[omitted]": 1
      })
    })
  )

  it.effect("what is large or deep is cut to 8 KiB, and says so", () =>
    Effect.gen(function* () {
      const wide = Object.fromEntries(
        Array.from({ length: 5000 }, (_, n) => [`field_${n}`, `text number ${n}`])
      )
      const deep = `${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`
      const list = Array.from({ length: 5000 }, (_, n) => ({ id: `id-${n}`, n }))
      for (const value of [wide, JSON.parse(deep), list, { list, wide }, "x".repeat(1e6)]) {
        const text = JSON.stringify((yield* run(value)).value)
        assert.isAtMost(text.length, 8 * 1024 + 200)
      }
      assert.deepStrictEqual((yield* run([1, ...list.slice(0, 30).map(({ n }) => n)])).value, [
        1,
        ...Array.from({ length: 19 }, (_, n) => n),
        "[11 more]"
      ])
      const { value } = yield* run({ ...wide, id: "x" })
      assert.match(JSON.stringify(value), /"\[omitted\]":\d+/)
    })
  )

  it.effect("of an answer about several jobs one entry is kept, and its words alone", () =>
    Effect.gen(function* () {
      const rows = ["a", "b", "c"].map((id) => ({ id, status: `s-${id}`, parts: [1, 2] }))
      const { value, outcome } = yield* run({ code: 0, data: rows }, { itemId: "b" })
      assert.deepStrictEqual(value, { code: 0, data: [rows[1], "[2 more]"] })
      assert.strictEqual(outcome, "0 s-b")
    })
  )

  it.effect("the outcome is made of status words alone, whatever else changes", () =>
    Effect.gen(function* () {
      const poll = (request_id: string, progress: number) =>
        run({ code: 0, request_id, data: [{ id: "a", status: "processing", progress }] })
      const first = yield* poll("r-1", 1)
      assert.strictEqual(first.outcome, "0 processing")
      assert.strictEqual((yield* poll("r-2", 2)).outcome, first.outcome)
    })
  )
})
