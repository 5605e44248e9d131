import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { json, read, send } from "./support.ts"

const videoPath = "/vp_a/api/v3/contents/generations/tasks"
const video = (prompt: string) => ({ model: "m-1", content: [{ type: "text", text: prompt }] })
const Submitted = Schema.Struct({ id: Schema.String })
const Status = Schema.Struct({ status: Schema.String })
const List = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(Schema.Json) })

const Polls = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      protocol: Schema.String,
      upstream_id: Schema.String,
      polled_at: Schema.Array(Schema.Int)
    })
  )
})

const submit = (prompt: string) =>
  Effect.map(send("POST", videoPath, { body: video(prompt) }), (one) => read(Submitted, one).id)
const status = (id: string) =>
  Effect.map(send("GET", `${videoPath}/${id}`), (one) => read(Status, one).status)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "simulator-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

it.effect("a restart with the same book knows the tasks and goes on counting", () =>
  Effect.gen(function* () {
    const bookPath = join(yield* folder, "deep", "book.jsonl")
    const run = Effect.provide(layerSimulator({ port: 0, bookPath }), { local: true })
    const [done, open, before] = yield* run(
      Effect.gen(function* () {
        const done = yield* submit("x sim:slow=0 sim:usage=7")
        const open = yield* submit("x sim:slow=1 sim:cancel")
        assert.strictEqual(yield* status(done), "succeeded")
        assert.strictEqual(yield* status(open), "queued")
        return [done, open, yield* (yield* Simulator).book] as const
      })
    )
    const lines = readFileSync(bookPath, "utf8").trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line): unknown => JSON.parse(line)),
      [...before]
    )
    appendFileSync(bookPath, '{"seq":4,"at":"20')

    yield* run(
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* (yield* Simulator).book, before)
        const answer = yield* send("GET", `${videoPath}/${done}`)
        assert.include(answer.text, '"completion_tokens":7,')
        assert.strictEqual(yield* status(open), "queued")
        assert.strictEqual(yield* status(open), "cancelled")
        const seqs = (yield* (yield* Simulator).book).map(({ seq }) => seq)
        assert.deepStrictEqual(seqs, [1, 2, 3, 4])
      })
    )
    yield* run(Effect.asVoid(Simulator))
  })
)

it.effect("a file that is not a book stops the start", () =>
  Effect.gen(function* () {
    const bookPath = join(yield* folder, "notes.txt")
    appendFileSync(bookPath, "milk\n")
    const error = yield* Effect.flip(
      Effect.provide(Effect.asVoid(Simulator), layerSimulator({ port: 0, bookPath }))
    )
    assert.strictEqual(error._tag, "BookUnreadable")
  })
)

it.effect("results are addressed under the public address when there is one", () =>
  Effect.gen(function* () {
    const id = yield* submit("x sim:slow=0")
    const { text } = yield* send("GET", `${videoPath}/${id}`)
    assert.include(text, '"video_url":"https://media.test/sim/media/videos/5/')
  }).pipe(Effect.provide(layerSimulator({ port: 0, publicUrl: "https://media.test/sim/" })))
)

layer(layerSimulator({ port: 0 }))("the simulator's own paths", (it) => {
  it.effect("a task that waits runs until it is released", () =>
    Effect.gen(function* () {
      const id = yield* submit("x sim:waits sim:slow=0")
      for (let poll = 0; poll < 3; poll++) assert.strictEqual(yield* status(id), "queued")
      assert.strictEqual((yield* send("POST", "/_sim/release")).status, 204)
      assert.strictEqual(yield* status(id), "succeeded")
    }).pipe(Effect.provide(layerSimulator({ port: 0 }), { local: true }))
  )

  it.effect("the book is listed, whole or by event, with hints of keys only", () =>
    Effect.gen(function* () {
      const id = yield* submit("x sim:slow=0")
      const short = { authorization: "Bearer abcd", body: video("y") }
      yield* send("POST", videoPath, short)
      yield* status(id)
      const { book } = yield* Simulator
      const entries = yield* book
      assert.deepStrictEqual(json(yield* send("GET", "/_sim/book")), {
        object: "list",
        data: JSON.parse(JSON.stringify(entries))
      })
      const accepted = read(List, yield* send("GET", "/_sim/book?event=accepted")).data
      assert.lengthOf(accepted, 2)
      const [first, second] = entries
      if (first?.event !== "accepted" || second?.event !== "accepted") {
        return assert.fail("not accepted")
      }
      assert.deepStrictEqual(first, {
        seq: 1,
        at: first.at,
        event: "accepted",
        protocol: "vp_a",
        kind: "video",
        upstream_id: id,
        model: "m-1",
        key_hint: "test",
        order: {
          seconds: 5,
          resolution: "720p",
          ratio: "16:9",
          n: null,
          size: null,
          inputs: { images: 0, videos: 0, audios: 0 },
          generate_audio: true,
          prompt_sha256: first.order.prompt_sha256
        },
        client_token: null,
        switches: { slow: "0" },
        echo: first.echo
      })
      assert.strictEqual(second.key_hint, "")
    })
  )

  it.effect("every task tells when it was asked for, and takes the time it was told to", () =>
    Effect.gen(function* () {
      const id = yield* submit("x sim:takes=10")
      const other = yield* submit("y")
      const start = yield* Clock.currentTimeMillis
      const words: Array<string> = []
      for (const seconds of [0, 4, 4, 1, 1, 5]) {
        yield* TestClock.adjust(Duration.seconds(seconds))
        words.push(yield* status(id))
      }
      assert.deepStrictEqual(words, [
        "queued",
        "queued",
        "running",
        "running",
        "succeeded",
        "succeeded"
      ])
      const tasks = read(Polls, yield* send("GET", "/_sim/polls")).data
      const polledAt = (wanted: string) =>
        tasks.find(({ upstream_id }) => upstream_id === wanted)?.polled_at
      assert.deepStrictEqual(
        polledAt(id),
        [0, 4, 8, 9, 10, 15].map((seconds) => start + seconds * 1000)
      )
      assert.deepStrictEqual(polledAt(other), [])
    })
  )

  it.effect("requests are shown as they came, without keys and inline files", () =>
    Effect.gen(function* () {
      const { clearRequests, requests } = yield* Simulator
      yield* clearRequests
      const url = `data:image/png;base64,${Buffer.from("hello").toString("base64")}`
      const body = { model: "m-1", content: [{ type: "image_url", image_url: { url } }], odd: [1] }
      yield* send("POST", videoPath, { body, headers: { "x-odd": "1" } })
      yield* send("GET", "/vp_d/tasks?task_ids=1,2", { authorization: "the-key-itself" })
      yield* send("POST", "/ip_a/nowhere", { body: "plain words", authorization: null })

      const [first, second, third] = yield* requests
      assert.strictEqual(first?.method, "POST")
      assert.strictEqual(first?.path, videoPath)
      assert.strictEqual(first?.headers["x-odd"], "1")
      assert.strictEqual(first?.headers.authorization, "Bearer")
      const marker = {
        media_type: "image/png",
        bytes: 5,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
      }
      assert.deepStrictEqual(first?.body, {
        ...body,
        content: [{ type: "image_url", image_url: { url: marker } }]
      })
      assert.strictEqual(second?.protocol, "vp_d")
      assert.deepStrictEqual(second?.query, { task_ids: "1,2" })
      assert.strictEqual(second?.headers.authorization, "")
      assert.strictEqual(second?.body, null)
      assert.strictEqual(third?.body, "plain words")
      assert.isUndefined(third?.headers.authorization)

      const listed = yield* send("GET", "/_sim/requests")
      assert.lengthOf(read(List, listed).data, 3)
      assert.notInclude(listed.text, "key-")
      assert.strictEqual((yield* send("DELETE", "/_sim/requests")).status, 204)
      assert.lengthOf(yield* requests, 0)
    })
  )
})
