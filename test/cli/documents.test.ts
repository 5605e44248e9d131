/** Vendors' documents on the command line, without a gateway. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { builtInDocuments } from "../../src/domain/queue/builtInDocuments.ts"
import { toyDocument } from "../domain/queue/documents.ts"
import { atGateway, documentOf } from "../support/commandLine.ts"
import { temporaryDataDir } from "../support/databases.ts"

const cli = atGateway("http://127.0.0.1:9")

/** Writes values as JSON files, and returns their paths. */
const filesOf = Effect.fnUntraced(function* (values: Readonly<Record<string, unknown>>) {
  const folder = yield* temporaryDataDir()
  return yield* Effect.forEach(Object.entries(values), ([name, value]) => {
    const path = join(folder, `${name}.json`)
    return Effect.as(
      Effect.promise(() => writeFile(path, JSON.stringify(value))),
      path
    )
  })
})

const Report = Schema.Struct({
  ok: Schema.Boolean,
  faults: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.String, message: Schema.String }))
  ),
  request: Schema.optionalKey(
    Schema.Struct({
      method: Schema.String,
      url: Schema.String,
      headers: Schema.Record(Schema.String, Schema.String),
      body: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
      times: Schema.Int
    })
  )
})

describe("a document on the command line", () => {
  it.effect("is described, with the fields of an order", () =>
    Effect.gen(function* () {
      const [file = ""] = yield* filesOf({ toy: toyDocument })
      const { code, stdout } = yield* cli("document", "check", file)
      assert.strictEqual(code, 0)
      for (const line of [
        /^The document of toy_queue has no fault\.$/m,
        /^submit +POST \/v2\/\{model\}\/jobs$/m,
        /^cancel +DELETE \/v2\/jobs\/\{id\} \(unfinished\)$/m,
        /^ {2}duration +4, 8$/m,
        /^ {2}mood +calm, wild; default calm$/m,
        /^ {2}image +0 to 2$/m
      ]) {
        assert.match(stdout, line)
      }
    })
  )

  it.effect("has each fault told by its path", () =>
    Effect.gen(function* () {
      const [file = ""] = yield* filesOf({
        toy: { ...toyDocument, key: {}, models: [{ id: "x" }] }
      })
      const told = yield* cli("document", "check", file)
      assert.strictEqual(told.code, 1)
      assert.match(told.stdout, /^ {2}key\.header: This field is required$/m)
      const report = yield* documentOf(Report)(yield* cli("document", "check", file, "--json"))
      assert.isFalse(report.ok)
      assert.isTrue(report.faults?.some(({ path }) => path === "models[0]"))
      const none = yield* cli("document", "check", "/nowhere/toy.json")
      assert.strictEqual(none.code, 1)
      assert.include(none.stderr, "/nowhere/toy.json")
    })
  )

  it.effect("shows the request of an order, or why it would be refused", () =>
    Effect.gen(function* () {
      const orders = {
        film: {
          model: "film/one",
          prompt: "a boat --duration 8",
          mood: "wild",
          image: "https://a.test/1"
        },
        images: { model: "draw", prompt: "a boat", n: 2, size: "640x480" },
        wrong: { model: "film/one", prompt: "a boat", mood: "sad" },
        other: { prompt: "a boat" }
      }
      const [toy = "", ...files] = yield* filesOf({ toy: toyDocument, ...orders })
      const [film, images, wrong, other] = yield* Effect.forEach(files, (order) =>
        Effect.flatMap(
          cli(
            "document",
            "check",
            toy,
            "--order",
            order,
            "--base-url",
            "https://toys.test/v2",
            "--json"
          ),
          documentOf(Report)
        )
      )
      assert.deepStrictEqual(film?.request, {
        method: "POST",
        url: "https://toys.test/v2/film/one/jobs",
        headers: { "x-toy": "1", "content-type": "application/json", "x-toy-key": "<key>" },
        body: {
          safe: true,
          options: { tier: "normal", mood: "wild" },
          model: "film/one",
          token: "vt_00000000-0000-7000-8000-000000000000",
          say: "a boat",
          length: "long",
          lines: 720,
          start: "https://a.test/1"
        },
        times: 1
      })
      assert.deepStrictEqual(images?.request?.body, { say: "a boat", count: 2, w: 640, h: 480 })
      assert.deepStrictEqual(wrong?.faults, [
        { path: "mood", message: "Expected one of calm, wild" }
      ])
      assert.deepStrictEqual(other?.faults, [
        { path: "model", message: "Expected a model of the document: film/one, film/two, draw" }
      ])
    })
  )

  it.effect("of a vendor that comes with the gateway is printed, and is sound", () =>
    Effect.forEach(builtInDocuments, ({ id }) =>
      Effect.gen(function* () {
        const shown = yield* cli("document", "show", id)
        const [file = ""] = yield* filesOf({ [id]: JSON.parse(shown.stdout) })
        const { code, stdout } = yield* cli("document", "check", file)
        assert.strictEqual(code, 0, stdout)
      })
    )
  )
})
