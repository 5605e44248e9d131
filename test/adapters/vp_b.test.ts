import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
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
import { lost, refused } from "./failures.ts"
import { APP_ID, accountAt, layerOverSockets, orderOf, textBlock, videoAdapter } from "./support.ts"
import {
  strangeWords,
  UPSTREAM_ID,
  type VideoSubject,
  videoAdapterSuite
} from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"

const path = "/v2/video/tasks"

const body = (...media: ReadonlyArray<object>) => ({
  model: "m-1",
  content: [wireText, ...media],
  duration: 5
})

const task = (status: string, more: object = {}) => ({
  task_id: UPSTREAM_ID,
  model: "m-1",
  status,
  error: null,
  ...more
})
const succeeded = (more: object) => task("succeeded", { content: { video_url: OUTPUT }, ...more })
const done = (completionTokens: bigint | null, outputSeconds: number | null) =>
  ({ _tag: "Succeeded", videoUrl: OUTPUT, usage: { completionTokens, outputSeconds } }) as const

const refusedInOk = { error: { code: "ApplicationMismatch", message: "not your application" } }

const subject: VideoSubject = {
  protocol: "vp_b",
  dialect: { scheme: "Bearer", headers: { "x-application-id": APP_ID } },
  model: "m-1",
  wires: [
    {
      says: "a text alone is one block, and no resolution goes out",
      order: { resolution: null },
      path,
      body: body()
    },
    {
      says: "a resolution never goes out",
      order: { resolution: "1080p" },
      path,
      body: body()
    },
    {
      says: "a length left to the model is -1",
      order: { seconds: "smart" },
      path,
      body: { ...body(), duration: -1 }
    },
    {
      says: "length, ratio and sound go out as ordered",
      order: { seconds: 15, ratio: "9:16", generateAudio: false },
      path,
      body: { ...body(), duration: 15, ratio: "9:16", generate_audio: false }
    },
    {
      says: "sound on goes out",
      order: { generateAudio: true },
      path,
      body: { ...body(), generate_audio: true }
    },
    {
      says: "texts stay blocks of their own",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path,
      body: body(textBlock("and at dawn"))
    },
    {
      says: "an image is a reference by its role",
      order: { blocks: [prompt, image()] },
      path,
      body: body(wireImage())
    },
    {
      says: "a lone image without a role has none",
      order: { blocks: [prompt, image(IMAGE, null)] },
      path,
      body: body(wireImage(IMAGE, null))
    },
    {
      says: "several images without a role are references",
      order: { blocks: [prompt, image(IMAGE, null), image(SECOND_IMAGE, null)] },
      path,
      body: body(wireImage(), wireImage(SECOND_IMAGE))
    },
    {
      says: "an image without a role is a reference beside others",
      order: { blocks: [prompt, image(IMAGE, null), audio, video] },
      path,
      body: body(wireImage(), wireAudio, wireVideo)
    },
    {
      says: "frames keep their roles",
      order: { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
      path,
      body: body(wireImage(IMAGE, "first_frame"), wireImage(SECOND_IMAGE, "last_frame"))
    },
    {
      says: "audio and video are references beside the image",
      order: { blocks: [prompt, image(), audio, video] },
      path,
      body: body(wireImage(), wireAudio, wireVideo)
    }
  ],
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const tasks = `${base.replace(/\/+$/, "")}${path}`
    return { base, submit: tasks, poll: `${tasks}/901%2Fa%20b` }
  }),
  submitted: { task_id: UPSTREAM_ID, status: "queued", request_id: "r-1" },
  submits: [
    {
      says: "an error in an HTTP 200 is a refusal",
      reply: { body: refusedInOk },
      failure: refused(200, refusedInOk, { effectiveStatus: 502, message: "not your application" })
    },
    ...["", null, 17].map((id) => ({
      says: `the task id ${JSON.stringify(id)} is none, so the job may be lost`,
      reply: { body: { task_id: id } },
      failure: lost("broken_answer", 200)
    })),
    {
      says: "an id under vp_a's name is none",
      reply: { body: { id: UPSTREAM_ID } },
      failure: lost("broken_answer", 200)
    }
  ],
  polls: [
    ...["queued", "running", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: task(word, { content: null }),
      status: processing
    })),
    {
      says: "tokens and rendered length of a finished task are read",
      body: succeeded({ duration: 7, usage: { completion_tokens: 152100, total_tokens: 152100 } }),
      status: done(152100n, 7)
    },
    {
      says: "tokens are read from a text as well",
      body: succeeded({ usage: { completion_tokens: "152100" } }),
      status: done(152100n, null)
    },
    {
      says: "a finished task may report no tokens, and then its length counts",
      body: succeeded({ duration: 7 }),
      status: done(null, 7)
    },
    ...[0, -1, 7.5, "7", 3601, null].map((duration) => ({
      says: `a duration of ${JSON.stringify(duration)} is none`,
      body: succeeded({ duration }),
      status: done(null, null)
    })),
    {
      says: "a failed task tells its code and message",
      body: task("failed", { error: { code: "OutputVideoSensitive", message: "not this" } }),
      status: failed("OutputVideoSensitive", "not this")
    },
    ...["cancelled", "canceled"].map((status) => ({
      says: `a task that is ${status} has failed`,
      body: task(status),
      status: failed("cancelled", "The vendor cancelled the task")
    })),
    {
      says: "an expired task has failed",
      body: task("expired"),
      status: failed("expired", "The task expired at the vendor")
    },
    {
      says: "HTTP 404 is an unknown task",
      httpStatus: 404,
      body: { error: { code: "ResourceNotFound", message: "no such task" } },
      status: unknown
    }
  ],
  brokenPolls: [
    { says: "no status", body: { task_id: UPSTREAM_ID } },
    { says: "a success without content", body: task("succeeded") },
    { says: "a success with an empty address", body: succeeded({ content: { video_url: "" } }) }
  ],
  failedWith: (message) => task("failed", { error: { code: "x", message } })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "InternalServiceError", ""],
    ["sim:moderate-output", "OutputVideoSensitiveContentDetected", ""],
    ["sim:cancel", "cancelled", "The vendor cancelled the task"],
    ["sim:expire", "expired", "The task expired at the vendor"]
  ],
  usage: { completionTokens: 108900n, outputSeconds: 5 }
})

it.effect("without an application id no header goes out, and the vendor says what is missing", () =>
  Effect.gen(function* () {
    const body = { error: { code: "MissingParameter", message: "X-Application-Id is missing" } }
    const vendor = yield* brokenVendor({ status: 400, body })
    const adapter = yield* videoAdapter("vp_b")
    const account = { ...accountAt(vendor.url), appId: null }
    const order = orderOf({ blocks: [textBlock(PROMPT)] })
    assert.propertyVal(yield* Effect.flip(adapter.submit(account, order)), "effectiveStatus", 400)
    assert.notProperty((yield* vendor.requests)[0]?.headers, "x-application-id")
  }).pipe(Effect.provide(layerOverSockets))
)
