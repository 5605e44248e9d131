/** The predictions of Replicate, which its document describes. */
import {
  done,
  failed,
  IMAGE,
  image,
  OUTPUT,
  PROMPT,
  processing,
  prompt,
  SECOND_IMAGE,
  unknown,
  video
} from "./blocks.ts"
import { lost, refused } from "./failures.ts"
import { type ImageSubject, imageAdapterSuite } from "./ImageAdapter.suite.ts"
import { imageSimulatorSuite } from "./ImageSimulator.suite.ts"
import {
  strangeWords,
  UPSTREAM_ID,
  type VideoSubject,
  videoAdapterSuite
} from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const model = "bytedance/seedance-1-pro"
const kling = "kwaivgi/kling-v2.1"
const pathOf = (model: string) => `/v1/models/${model}/predictions`
const path = pathOf(model)

const body = (more: object = {}) => ({
  input: { duration: 5, resolution: "720p", prompt: PROMPT, ...more }
})

const unsent = (path: string, message: string) => ({
  message: `${path}: ${message}`,
  param: path
})

const prediction = (status: string, more: object = {}) => ({
  id: UPSTREAM_ID,
  model,
  version: "hidden",
  input: {},
  logs: "",
  output: null,
  error: null,
  status,
  urls: { get: "https://elsewhere.test/steal", cancel: "https://elsewhere.test/steal" },
  ...more
})

const invalid = {
  detail: "- input: prompt is required\n",
  status: 422,
  title: "Input validation failed",
  invalid_fields: [{ type: "required", field: "input", description: "prompt is required" }]
}
const broke = { detail: "You have no credit", status: 402, title: "Insufficient credit" }

const subject: VideoSubject = {
  protocol: "replicate",
  dialect: plainBearer,
  model,
  wires: [
    { says: "a text alone", order: {}, path, body: body() },
    {
      says: "length, resolution and ratio go out as ordered",
      order: { seconds: 12, resolution: "1080p", ratio: "9:16" },
      path,
      body: body({ duration: 12, resolution: "1080p", aspect_ratio: "9:16" })
    },
    {
      says: "the vendor's own fields stand among the input",
      order: { parameters: { seed: 7, camera_fixed: true } },
      path,
      body: body({ seed: 7, camera_fixed: true })
    },
    {
      says: "first and last frame have a field each",
      order: { blocks: [prompt, image(IMAGE, null), image(SECOND_IMAGE, "last_frame")] },
      path,
      body: body({ image: IMAGE, last_frame_image: SECOND_IMAGE })
    },
    {
      says: "a resolution is the mode that the vendor has for it",
      order: {
        upstreamModel: kling,
        seconds: 10,
        resolution: "1080p",
        ratio: "16:9",
        blocks: [prompt, image(IMAGE, null)],
        parameters: { negative_prompt: "rain" }
      },
      path: pathOf(kling),
      body: {
        input: {
          prompt: PROMPT,
          start_image: IMAGE,
          duration: 10,
          mode: "pro",
          negative_prompt: "rain"
        }
      }
    }
  ],
  unsent: [
    {
      says: "a last frame alone",
      order: { blocks: [prompt, image(IMAGE, "last_frame")] },
      body: unsent(
        "content",
        "Other media are expected: the model takes a text alone; or a first frame, a last frame"
      )
    },
    {
      says: "a reference video",
      order: { blocks: [prompt, video] },
      body: unsent(
        "content",
        "Other media are expected: the model takes a text alone; or a first frame, a last frame"
      )
    },
    {
      says: "a length between the lengths",
      order: { upstreamModel: kling, seconds: 7, blocks: [image(IMAGE, "first_frame")] },
      body: unsent("duration", "Expected 5, 10: the model has no other length")
    }
  ],
  bases: ["", "/", "//", "/v1", "/v1/", "/relay", "/relay/v1//"].map((base) => {
    const root = base.replace(/\/+$/, "").replace(/\/v1$/, "")
    return {
      base,
      submit: `${root}${path}`,
      poll: `${root}/v1/predictions/901%2Fa%20b`
    }
  }),
  submitted: prediction("starting"),
  submits: [
    {
      says: "a field that the vendor refuses",
      reply: { status: 422, body: invalid },
      failure: refused(422, invalid, { message: invalid.detail })
    },
    {
      says: "an empty account",
      reply: { status: 402, body: broke },
      failure: refused(402, broke, { message: broke.detail })
    },
    {
      says: "a prediction that failed at once is a refusal",
      reply: { body: prediction("failed", { error: "no GPU" }) },
      failure: refused(200, {}, { effectiveStatus: 502, message: "no GPU" })
    },
    ...[{ status: "starting" }, { id: "", status: "starting" }, { id: 0 }].map((body) => ({
      says: `${JSON.stringify(body)} names no prediction, so it may be lost`,
      reply: { body },
      failure: lost("broken_answer", 200)
    }))
  ],
  polls: [
    {
      says: "a prediction that starts is queued",
      body: prediction("starting"),
      status: { _tag: "Processing" }
    },
    ...["processing", "SUCCEEDED", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: prediction(word, { output: OUTPUT }),
      status: processing
    })),
    ...[
      OUTPUT,
      [OUTPUT],
      [null, "", OUTPUT],
      { video: OUTPUT },
      { video: { url: OUTPUT } },
      [{ url: OUTPUT }]
    ].map((output) => ({
      says: `the output ${JSON.stringify(output)} is the video`,
      body: prediction("succeeded", { output }),
      status: done
    })),
    {
      says: "a failed prediction tells why",
      body: prediction("failed", { error: "NSFW content detected" }),
      status: failed("failed", "NSFW content detected")
    },
    {
      says: "a cancelled prediction has ended",
      body: prediction("canceled"),
      status: failed("cancelled", "The vendor cancelled the task")
    },
    {
      says: "a prediction that never started has ended",
      body: prediction("aborted"),
      status: failed("aborted", "The task expired at the vendor")
    },
    {
      says: "HTTP 404 is an unknown prediction",
      httpStatus: 404,
      body: { detail: "The requested resource could not be found.", status: 404 },
      status: unknown
    }
  ],
  brokenPolls: [
    { says: "no status", body: { id: UPSTREAM_ID } },
    { says: "a status that is no name", body: { id: UPSTREAM_ID, status: [3] } },
    { says: "a success without an output", body: prediction("succeeded") },
    { says: "an output that is no address", body: prediction("succeeded", { output: "done" }) }
  ],
  failedWith: (message) => prediction("failed", { error: message })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "failed", "Prediction interrupted"],
    ["sim:moderate-output", "failed", "The output was flagged"],
    ["sim:cancel", "cancelled", "The vendor cancelled the task"],
    ["sim:expire", "aborted", "The task expired at the vendor"]
  ],
  usage: { completionTokens: null, outputSeconds: null }
})

const FIRST = "https://files.test/1.png?Expires=1"
const SECOND = "https://files.test/2.png?Expires=1"
const good = prediction("succeeded", { output: [FIRST] })
const made = (...urls: ReadonlyArray<string>) => ({
  created: 0,
  data: urls.map((url) => ({ url }))
})
const schnell = "black-forest-labs/flux-schnell"

const images = {
  protocol: "replicate",
  name: "replicate's images",
  dialect: { scheme: "Bearer", headers: { prefer: "wait=10" } },
  upstreamModel: schnell,
  channelPath: "/relay/v1",
  wires: [
    {
      says: "a prompt alone asks for one image",
      body: { prompt: "x" },
      path: `/relay${pathOf(schnell)}`,
      wire: { input: { prompt: "x", num_outputs: 1 } }
    },
    ...(
      [
        ["1344x768", "16:9"],
        ["1:1", "1:1"]
      ] as const
    ).map(([size, ratio]) => ({
      says: `the size ${size} is the ratio ${ratio}`,
      body: { prompt: "x", n: 4, size },
      path: `/relay${pathOf(schnell)}`,
      wire: { input: { prompt: "x", num_outputs: 4, aspect_ratio: ratio } }
    })),
    {
      says: "the vendor's own fields go out, and what it has no field for does not",
      body: { prompt: "x", go_fast: true, num_outputs: 9, webhook: "https://elsewhere.test" },
      path: `/relay${pathOf(schnell)}`,
      wire: { input: { prompt: "x", num_outputs: 1, go_fast: true } }
    }
  ],
  bases: ["", "/", "/v1", "/v1//"].map((base) => ({ base, target: pathOf(schnell) })),
  good,
  results: [
    { says: "an image is its address", reply: good, result: made(FIRST) },
    {
      says: "images beyond those ordered are left out",
      reply: prediction("succeeded", { output: [FIRST, SECOND, FIRST] }),
      result: made(FIRST, SECOND)
    },
    {
      says: "an output may be an address alone",
      reply: prediction("succeeded", { output: FIRST }),
      result: made(FIRST)
    }
  ],
  failures: [
    {
      says: "a prediction that failed",
      reply: { body: prediction("failed", { error: "NSFW content detected" }) },
      failure: refused(200, {}, { effectiveStatus: 502, message: "NSFW content detected" })
    },
    {
      says: "an answer without a prediction",
      reply: { body: { status: "starting" } },
      failure: lost("broken_answer", 200)
    }
  ]
} satisfies ImageSubject

imageAdapterSuite(images)

imageSimulatorSuite({
  ...images,
  wires: images.wires.map((wire) => ({
    ...wire,
    path: wire.path.replace("/relay", ""),
    images: wire.wire.input.num_outputs
  })),
  version: "/v1",
  moderatedOutput: 502
})
