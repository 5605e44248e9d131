import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Simulator } from "../../src/simulator/Simulator.ts"
import {
  audio,
  failed,
  IMAGE,
  image,
  OUTPUT,
  PROMPT,
  processing,
  prompt,
  SECOND_IMAGE,
  unknown,
  video,
  wireAudio,
  wireImage,
  wireText,
  wireVideo
} from "./blocks.ts"
import { failureOf, lost, refused } from "./failures.ts"
import { accountAt, layerWithSimulator, orderOf, textBlock, videoAdapter } from "./support.ts"
import {
  strangeWords,
  UPSTREAM_ID,
  type VideoSubject,
  videoAdapterSuite
} from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"

const MODEL = "MiniMax-H3"
const path = "/v2/video_generation"
const inputs =
  "a text alone; or a first frame, a last frame; or up to 9 reference images, up to 3 reference videos, up to 3 reference sounds"

const body = (content: ReadonlyArray<object>, more: object = {}) => ({
  model: MODEL,
  content,
  duration: 5,
  resolution: "768P",
  aigc_watermark: false,
  ...more
})

const task = (status: string, more: object = {}) => ({
  task: { id: UPSTREAM_ID, model: MODEL, status, task_type: "generation", ...more }
})
const usage = { total_seconds: 9, input_seconds: 4, output_seconds: 5 }
const content = { url: OUTPUT }
const done = (more: object) =>
  ({
    _tag: "Succeeded",
    videoUrl: OUTPUT,
    usage: { completionTokens: null, outputSeconds: null, ...more }
  }) as const

const vendorError = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "1"
})
const baseError = (status_code: number, status_msg: string) => ({
  base_resp: { status_code, status_msg }
})
const poor = vendorError("insufficient_balance_error", "insufficient balance (1008)")
const lateId = vendorError("bad_request_error", "invalid params, invalid task_id (2013)")

const unsent = (says: string, order: object, reason: string) => {
  const message = `invalid params, ${reason}`
  return {
    says,
    order,
    body: { type: "error", error: { type: "bad_request_error", message } },
    message
  }
}

const subject: VideoSubject = {
  protocol: "minimax",
  dialect: { scheme: "Bearer", headers: {} },
  model: MODEL,
  usual: { resolution: "768p" },
  wires: [
    {
      says: "a text alone has a ratio",
      order: {},
      path,
      body: body([wireText], { ratio: "16:9" })
    },
    {
      says: "length, resolution, ratio and mark go out as ordered",
      order: {
        seconds: 15,
        resolution: "2K",
        ratio: "9:16",
        generateAudio: true,
        parameters: { watermark: true }
      },
      path,
      body: body([wireText], {
        duration: 15,
        resolution: "2K",
        ratio: "9:16",
        aigc_watermark: true
      })
    },
    {
      says: "several texts are one",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path,
      body: body([{ type: "text", text: `${PROMPT}\nand at dawn` }], { ratio: "16:9" })
    },
    {
      says: "a lone image without a role is the first frame, whose ratio decides",
      order: { blocks: [prompt, image(IMAGE, null)], ratio: "1:1" },
      path,
      body: body([wireText, wireImage(IMAGE, "first_frame")])
    },
    {
      says: "first and last frame",
      order: { blocks: [image(SECOND_IMAGE, "last_frame"), prompt, image(IMAGE, null)] },
      path,
      body: body([wireText, wireImage(SECOND_IMAGE, "last_frame"), wireImage(IMAGE, "first_frame")])
    },
    {
      says: "a last frame alone",
      order: { blocks: [prompt, image(IMAGE, "last_frame")] },
      path,
      body: body([wireText, wireImage(IMAGE, "last_frame")])
    },
    {
      says: "references of every kind",
      order: { blocks: [prompt, image(), video, audio] },
      path,
      body: body([wireText, wireImage(), wireVideo, wireAudio])
    },
    {
      says: "references with a ratio",
      order: { blocks: [prompt, image(), image(SECOND_IMAGE, null)], ratio: "21:9" },
      path,
      body: body([wireText, wireImage(), wireImage(SECOND_IMAGE)], { ratio: "21:9" })
    },
    {
      says: "a medium without a text is the vendor's to refuse",
      order: { blocks: [image(IMAGE, "first_frame")] },
      path,
      body: body([wireImage(IMAGE, "first_frame")]),
      refusedWith: 400
    },
    {
      says: "the smaller resolution of the faster model",
      order: { upstreamModel: "MiniMax-H3-Max", resolution: "480p" },
      path,
      body: body([wireText], { model: "MiniMax-H3-Max", resolution: "480P", ratio: "16:9" })
    }
  ],
  unsent: [
    unsent(
      "a silent video",
      { generateAudio: false },
      "generate_audio: the model always makes sound"
    ),
    unsent("a sound alone", { blocks: [prompt, audio] }, `content: the model takes ${inputs}`),
    unsent(
      "a frame beside a reference",
      { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE)] },
      `content: the model takes ${inputs}`
    )
  ],
  bases: ["", "/", "//", "/relay", "/v2", "/v2/", "/v1", "/relay/v2"].map((base) => {
    const root = base.replace(/\/+$/, "").replace(/\/v[12]$/, "")
    return {
      base,
      submit: root + path,
      poll: `${root}/v2/query/video_generation/901%2Fa%20b`
    }
  }),
  submitted: { task_id: UPSTREAM_ID },
  submits: [
    {
      says: "an empty account",
      reply: { status: 400, body: poor },
      failure: refused(400, poor, {
        effectiveStatus: 402,
        message: "insufficient balance (1008)"
      })
    },
    ...(
      [
        [1008, 402, "insufficient balance"],
        [2049, 401, "invalid api key"],
        [1002, 429, "rate limit"],
        [1026, 400, "input new_sensitive"],
        [1033, 502, "mysql failed"],
        [4711, 502, "new"]
      ] as const
    ).map(([code, effectiveStatus, message]) => ({
      says: `the older form's ${code} in an HTTP 200`,
      reply: { body: baseError(code, message) },
      failure: refused(200, null, { effectiveStatus, message })
    })),
    ...[{ task_id: "" }, { task_id: 7 }, { id: "7" }, baseError(0, "success")].map((body) => ({
      says: `${JSON.stringify(body)} names no task, so the job may be lost`,
      reply: { body },
      failure: lost("broken_answer", 200)
    }))
  ],
  polls: [
    {
      says: "a queued task is one",
      body: task("queued"),
      status: processing
    },
    ...["running", "Succeeded", "succeed", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: task(word),
      status: processing
    })),
    {
      says: "a finished task shows its video and what is billed",
      body: task("succeeded", { content, usage, duration: 5, resolution: "768P" }),
      status: done({
        outputSeconds: 5,
        inputSeconds: 4,
        totalSeconds: 9,
        bill: { amountNano: 9_000_000_000n, unit: "second" },
        resolution: "768p"
      })
    },
    {
      says: "a length without usage is that of the video",
      body: task("succeeded", { content, duration: 6.2, resolution: "2K" }),
      status: done({ outputSeconds: 7, resolution: "2K" })
    },
    ...[null, [], { output_seconds: "many" }, { output_seconds: -1 }].map((usage) => ({
      says: `the usage ${JSON.stringify(usage)} counts nothing`,
      body: task("succeeded", { content, usage }),
      status: done({})
    })),
    {
      says: "a failed task tells its error",
      body: task("failed", { error: { code: "1027", message: "output new_sensitive" } }),
      status: failed("1027", "output new_sensitive")
    },
    ...["cancelled", "canceled"].map((word) => ({
      says: `the status ${word} is an end`,
      body: task(word),
      status: failed("cancelled", "The vendor cancelled the task")
    })),
    {
      says: "an expired task has failed",
      body: task("expired"),
      status: failed("expired", "The task expired at the vendor")
    },
    { says: "HTTP 404 is an unknown task", httpStatus: 404, body: lateId, status: unknown },
    { says: "an invalid id is an unknown task", httpStatus: 400, body: lateId, status: unknown }
  ],
  brokenPolls: [
    { says: "no task", body: { status: "succeeded" } },
    { says: "no status", body: { task: { id: UPSTREAM_ID } } },
    { says: "a success without content", body: task("succeeded") },
    { says: "a success without an address", body: task("succeeded", { content: { url: "" } }) }
  ],
  failedPolls: [
    {
      says: "a 400 about anything else",
      reply: { status: 400, body: vendorError("bad_request_error", "later") },
      failure: refused(400, vendorError("bad_request_error", "later"), { message: "later" })
    }
  ],
  failedWith: (message) => task("failed", { error: { code: "1033", message } })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "1033", "internal error"],
    ["sim:moderate-output", "1027", "output new_sensitive"],
    ["sim:cancel", "cancelled", "The vendor cancelled the task"],
    ["sim:expire", "expired", "The task expired at the vendor"]
  ],
  unknownModel: 400,
  usage: {
    completionTokens: null,
    outputSeconds: 5,
    totalSeconds: 5,
    bill: { amountNano: 5_000_000_000n, unit: "second" },
    resolution: "768p"
  }
})

layer(layerWithSimulator)("the cancelling of a job of minimax", (it) => {
  const order = (text: string) =>
    orderOf({ upstreamModel: MODEL, resolution: "768p", blocks: [textBlock(text)] })

  const placementOf = Effect.fnUntraced(function* (text: string) {
    const adapter = yield* videoAdapter("minimax")
    const { url } = yield* Simulator
    const account = accountAt(`${url}/minimax`)
    const upstreamId = yield* adapter.submit(account, order(text))
    const ref = { upstreamId, upstreamModel: MODEL, listedProtocol: "minimax" }
    const cancel = yield* Effect.orDie(Effect.fromNullishOr(adapter.cancel))
    return {
      cancel: cancel.send(account, ref),
      jobs: cancel.jobs,
      poll: adapter.poll(account, ref)
    }
  })

  it.effect("a queued job ends without a video", () =>
    Effect.gen(function* () {
      const { cancel, jobs, poll } = yield* placementOf("x sim:waits")
      assert.strictEqual(jobs, "queued")
      assert.deepStrictEqual(yield* poll, { _tag: "Processing", isQueued: true })
      assert.deepStrictEqual(yield* cancel, { _tag: "Requested" })
      assert.propertyVal(yield* poll, "code", "cancelled")
    })
  )

  it.effect("a running job goes on", () =>
    Effect.gen(function* () {
      const { cancel, poll } = yield* placementOf("x")
      yield* poll
      assert.deepStrictEqual(yield* poll, { _tag: "Processing" })
      const answer = yield* cancel
      assert.strictEqual(answer._tag, "Refused")
      assert.propertyVal(yield* poll, "_tag", "Succeeded")
    })
  )

  it.effect("a wrong key fails, and says nothing about the job", () =>
    Effect.gen(function* () {
      const adapter = yield* videoAdapter("minimax")
      const { url } = yield* Simulator
      const ref = { upstreamId: "1", upstreamModel: MODEL, listedProtocol: "minimax" }
      const send = yield* Effect.orDie(Effect.fromNullishOr(adapter.cancel?.send))
      const failure = yield* Effect.flip(send(accountAt(`${url}/minimax`, "bad-key"), ref))
      assert.propertyVal(failureOf(failure), "effectiveStatus", 401)
    })
  )
})
