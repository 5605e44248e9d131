/** vp_d asked for many tasks in one question. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { accountAt, layerOverSockets, videoAdapter } from "./support.ts"

const refOf = (upstreamId: string) => ({
  upstreamId,
  upstreamModel: "k-3",
  listedProtocol: "vp_d"
})

const together = Effect.flatMap(videoAdapter("vp_d"), ({ batchPoll: together }) =>
  Effect.orDie(Effect.fromNullishOr(together))
)

const envelope = (data: unknown) => ({ code: 0, message: "SUCCEED", request_id: "r-1", data })
const video = { type: "video", url: "https://files.test/o.mp4" }
const succeeded = (id: string) => ({ id, status: "succeeded", outputs: [video] })
const done = {
  _tag: "Succeeded",
  videoUrl: video.url,
  usage: { completionTokens: null, outputSeconds: null }
} as const

/** What is read for each id from an answer with these rows. */
const readFrom = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, rows: unknown) {
  const vendor = yield* brokenVendor({ body: envelope(rows) })
  const answers = yield* (yield* together).poll(accountAt(vendor.url), ids.map(refOf))
  const read = [...answers].map(
    ([id, answer]) =>
      [id, Result.isSuccess(answer) ? answer.success : failureOf(answer.failure)] as const
  )
  return { read: new Map<string, unknown>(read), requests: yield* vendor.requests }
})

layer(layerOverSockets)("vp_d, many tasks in one question", (it) => {
  it.effect("all ids go out in one list, and each row is its own task's", () =>
    Effect.gen(function* () {
      const { read, requests } = yield* readFrom(
        ["901", "902", "903"],
        [
          succeeded("903"),
          { id: "901", status: "processing" },
          { id: "902", status: "failed", message: "risk control" }
        ]
      )
      assert.deepStrictEqual(
        requests.map(({ method, target }) => `${method} ${target}`),
        ["GET /tasks?task_ids=901%2C902%2C903"]
      )
      assert.deepStrictEqual(
        read,
        new Map<string, unknown>([
          ["901", { _tag: "Processing" }],
          ["902", { _tag: "Failed", code: "failed", message: "risk control" }],
          ["903", done]
        ])
      )
    })
  )

  it.effect("each task that was ordered with a mark is shown its marked file", () =>
    Effect.gen(function* () {
      const marked = "https://files.test/marked.mp4"
      const rows = ["901", "902"].map((id) => ({
        id,
        status: "succeeded",
        outputs: [{ ...video, watermark_url: marked }]
      }))
      const vendor = yield* brokenVendor({ body: envelope(rows) })
      const tasks = [refOf("901"), { ...refOf("902"), isMarked: true }]
      const answers = yield* (yield* together).poll(accountAt(vendor.url), tasks)
      assert.deepStrictEqual(
        [...answers].map(([id, answer]) => [id, Result.getOrNull(answer)]),
        [
          ["901", done],
          ["902", { ...done, videoUrl: marked }]
        ]
      )
    })
  )

  it.effect("ids without a row are left out: the vendor does not know them", () =>
    Effect.gen(function* () {
      const { read } = yield* readFrom(["901", "902"], [succeeded("901")])
      assert.deepStrictEqual(read, new Map([["901", done]]))
      assert.strictEqual((yield* readFrom(["901", "902"], [])).read.size, 0)
    })
  )

  it.effect("a broken row is a failure of its own task alone", () =>
    Effect.gen(function* () {
      const rows = [succeeded("901"), { id: "902", status: "succeeded" }]
      const { read } = yield* readFrom(["901", "902", "903"], rows)
      const broken = lost("broken_answer", 200)
      assert.deepStrictEqual(
        read,
        new Map<string, unknown>([
          ["901", done],
          ["902", broken]
        ])
      )
    })
  )

  it.effect.each([
    ["a text", "oops"],
    ["without a status", { id: "902" }],
    ["for an id nobody asked for", succeeded("stranger")]
  ] as const)("beside a row that is %s, no id without a row is unknown", ([, row]) =>
    Effect.gen(function* () {
      const rows = [succeeded("901"), row]
      const { read } = yield* readFrom(["901", "902"], rows)
      const broken = lost("broken_answer", 200)
      assert.deepStrictEqual(
        read,
        new Map<string, unknown>([
          ["901", done],
          ["902", broken]
        ])
      )
    })
  )

  it.effect("a refusal is one of the whole question", () =>
    Effect.gen(function* () {
      const body = { code: 1302, message: "slow down" }
      const vendor = yield* brokenVendor({ status: 429, headers: { "retry-after": "7" }, body })
      const { poll } = yield* together
      const failure = yield* Effect.flip(poll(accountAt(vendor.url), ["901", "902"].map(refOf)))
      assert.deepStrictEqual(
        failureOf(failure),
        refused(429, body, { message: "slow down", retryAfterSeconds: 7 })
      )
    })
  )

  it.effect.each([
    ["901930004609634393", true],
    ["a_b-c.d", true],
    ["1,2", false],
    ["a b", false],
    ["x".repeat(65), false]
  ] as const)("whether the id %s may stand in a list: %s", ([id, may]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* together).canShare(refOf(id)), may)
    })
  )
})
