/** The queue of fal, which its document describes: a job's result has an address of its own. */
import {
  AUDIO,
  audio,
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
import { textBlock } from "./support.ts"
import {
  strangeWords,
  UPSTREAM_ID,
  type VideoSubject,
  videoAdapterSuite
} from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"

const family = "fal-ai/bytedance/seedance/v1/pro"
const model = `${family}/text-to-video`
const framesModel = `${family}/image-to-video`
const dialect = { scheme: "Key", headers: {} } as const

const defaults = { duration: "5", resolution: "720p" }
const body = (more: object = {}) => ({ ...defaults, prompt: PROMPT, ...more })
const path = `/${model}`
const framesPath = `/${framesModel}`

const unsent = (path: string, message: string) => ({
  message: `${path}: ${message}`,
  param: path
})

const acceptance = {
  request_id: UPSTREAM_ID,
  status: "IN_QUEUE",
  queue_position: 0,
  response_url: "https://elsewhere.test/steal",
  status_url: "https://elsewhere.test/steal",
  cancel_url: "https://elsewhere.test/steal"
}
const job = (status: string, more: object = {}) => ({
  request_id: UPSTREAM_ID,
  status,
  response_url: "https://elsewhere.test/steal",
  ...more
})
/** A status and a result in one, as the broken vendor answers every request alike. */
const completion = (more: object = {}) => job("COMPLETED", { video: { url: OUTPUT }, ...more })

const fields = {
  detail: [{ loc: ["body", "prompt"], msg: "Field required", type: "missing", input: {} }]
}
const empty = { detail: "User is locked. Reason: Exhausted balance." }
const absent = { detail: "no result", error_type: "not_found" }
const strange = { detail: "The runner went away", error_type: "runner_server_error" }

const subject: VideoSubject = {
  protocol: "fal",
  dialect,
  model,
  framesModel,
  wires: [
    { says: "a text alone", order: {}, path, body: body() },
    {
      says: "length, resolution and ratio go out as ordered",
      order: { seconds: 12, resolution: "1080p", ratio: "9:16", generateAudio: false },
      path,
      body: body({ duration: "12", resolution: "1080p", aspect_ratio: "9:16" })
    },
    {
      says: "the vendor's own fields go out where they were said",
      order: { parameters: { seed: 7, camera_fixed: true } },
      path,
      body: body({ seed: 7, camera_fixed: true })
    },
    {
      says: "several texts are one prompt of as many lines",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path,
      body: body({ prompt: `${PROMPT}\nand at dawn` })
    },
    {
      says: "a lone image without a role is the first frame",
      order: { upstreamModel: framesModel, blocks: [prompt, image(IMAGE, null)], ratio: "1:1" },
      path: framesPath,
      body: body({ image_url: IMAGE, aspect_ratio: "1:1" })
    },
    {
      says: "first and last frame have a field each",
      order: {
        upstreamModel: framesModel,
        blocks: [image(SECOND_IMAGE, "last_frame"), image(IMAGE, "first_frame"), prompt]
      },
      path: framesPath,
      body: body({ image_url: IMAGE, end_image_url: SECOND_IMAGE })
    }
  ],
  unsent: [
    {
      says: "an image for the model of texts",
      order: { blocks: [prompt, image(IMAGE, "first_frame")] },
      body: unsent("content", "Other media are expected: the model takes a text alone")
    },
    {
      says: "a text alone for the model of images",
      order: { upstreamModel: framesModel },
      body: unsent("content", "Media are missing: the model takes a first frame, a last frame")
    },
    {
      says: "two first frames, of which the body holds one",
      order: {
        upstreamModel: framesModel,
        blocks: [image(IMAGE, "first_frame"), image(SECOND_IMAGE, "first_frame")]
      },
      body: unsent(
        "image",
        "The order has 2 of first_frame: the model takes a first frame, a last frame"
      )
    },
    {
      says: "reference media",
      order: { blocks: [prompt, video, audio] },
      body: unsent("content", "Other media are expected: the model takes a text alone")
    },
    {
      says: "a length that the model does not make",
      order: { seconds: 13 },
      body: unsent("duration", "Expected whole seconds from 2 to 12: the model has no other length")
    },
    {
      says: "a length of the model's choice",
      order: { seconds: "smart" },
      body: unsent("duration", "Expected whole seconds from 2 to 12: the model has no other length")
    },
    {
      says: "a resolution that the model does not make",
      order: { resolution: "4K" },
      body: unsent("resolution", "Expected one of 480p, 720p, 1080p")
    },
    {
      says: "a ratio that the model does not make",
      order: { ratio: "7:5" },
      body: unsent("ratio", "Expected one of 16:9, 9:16, 1:1, 4:3, 3:4, 21:9")
    },
    {
      says: "sound, which the model never makes",
      order: { generateAudio: true },
      body: unsent("generate_audio", "Expected nothing: this model has no such field")
    }
  ],
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const root = base.replace(/\/+$/, "")
    return {
      base,
      submit: `${root}${path}`,
      poll: `${root}/fal-ai/bytedance/requests/901%2Fa%20b/status`
    }
  }),
  submitted: acceptance,
  submits: [
    {
      says: "a field that the vendor refuses",
      reply: { status: 422, body: fields },
      failure: refused(422, fields, { message: "Field required" })
    },
    {
      says: "an empty account is the operator's",
      reply: { status: 403, body: empty },
      failure: refused(403, empty, { message: empty.detail })
    },
    {
      says: "an error in an HTTP 200 is a refusal",
      reply: { body: empty },
      failure: refused(200, null, { effectiveStatus: 502, message: empty.detail })
    },
    ...[{ status: "IN_QUEUE" }, { request_id: "" }, { request_id: 80.5 }, { id: "8093" }].map(
      (body) => ({
        says: `${JSON.stringify(body)} names no job, so it may be lost`,
        reply: { body },
        failure: lost("broken_answer", 200)
      })
    )
  ],
  polls: [
    {
      says: "a job that waits is queued",
      body: job("IN_QUEUE", { queue_position: 3 }),
      status: { _tag: "Processing" }
    },
    ...["IN_PROGRESS", "completed", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: job(word, { video: { url: OUTPUT } }),
      status: processing
    })),
    { says: "a finished job shows its video", body: completion(), status: done },
    {
      says: "a finished job whose status has an error has failed",
      body: job("COMPLETED", { error: "cancelled", error_type: "client_cancelled" }),
      status: failed("cancelled", "cancelled")
    },
    {
      says: "HTTP 404 is an unknown job",
      httpStatus: 404,
      body: { detail: "Request not found" },
      status: unknown
    }
  ],
  brokenPolls: [
    { says: "no status", body: { request_id: UPSTREAM_ID } },
    { says: "a status that is no name", body: job("x", { status: [3] }) },
    { says: "a result without a file", body: job("COMPLETED") },
    { says: "a file that is no address", body: completion({ video: { url: "" } }) }
  ],
  failedPolls: [
    {
      says: "an error of the queue",
      reply: { status: 500, body: strange },
      failure: refused(500, strange, { message: strange.detail })
    },
    {
      says: "a wrong key",
      reply: { status: 401, body: { detail: "who?" } },
      failure: refused(401, { detail: "who?" }, { message: "who?" })
    },
    ...[
      { status: 401, body: { detail: "who?", error_type: "unauthorized" } },
      { status: 429, body: { detail: "slowly", error_type: "rate" } },
      { status: 502, body: { detail: "a proxy" } }
    ].map(({ status, body }) => ({
      says: `a result with ${status} that is not about the job`,
      reply: ({ target }: { readonly target: string }) =>
        target.endsWith("/status") ? { body: job("COMPLETED") } : { status, body },
      failure: refused(status, body, { message: body.detail })
    })),
    {
      says: "a result that is not found, which tells nothing of the job",
      reply: ({ target }) =>
        target.endsWith("/status") ? { body: job("COMPLETED") } : { status: 404, body: absent },
      failure: refused(404, absent, { effectiveStatus: 403, message: absent.detail })
    }
  ],
  resultPolls: [
    {
      says: "a result that is an error of the model is a verdict",
      reply: ({ target }) =>
        target.endsWith("/status")
          ? { body: job("COMPLETED") }
          : { status: 422, body: { detail: [{ msg: "no nudity", type: "content_policy" }] } },
      status: failed("content_policy", "no nudity")
    },
    {
      says: "a result that is an error of the runner is a verdict",
      reply: ({ target }) =>
        target.endsWith("/status") ? { body: job("COMPLETED") } : { status: 500, body: strange },
      status: failed("runner_server_error", "The runner went away")
    },
    {
      says: "the result is asked for below the same address, whatever the answer says",
      reply: ({ target }) =>
        target === "/fal-ai/bytedance/requests/901%2Fa%20b"
          ? { body: { video: { url: OUTPUT } } }
          : { body: job("COMPLETED") },
      status: done
    }
  ],
  failedWith: (message) => job("COMPLETED", { error: message, error_type: "x" })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "runner_server_error", "The runner failed"],
    ["sim:moderate-output", "content_policy_violation", "The content was flagged"],
    ["sim:cancel", "cancelled", "The request was cancelled"]
  ],
  usage: { completionTokens: null, outputSeconds: null }
})

const FIRST = "https://files.test/1.png?Expires=1"
const SECOND = "https://files.test/2.png?Expires=1"
const good = job("COMPLETED", { images: [{ url: FIRST, width: 1, height: 1 }] })
const made = (...urls: ReadonlyArray<string>) => ({
  created: 0,
  data: urls.map((url) => ({ url }))
})

const images = {
  protocol: "fal",
  name: "fal's images",
  dialect,
  upstreamModel: "fal-ai/flux/dev",
  channelPath: "/relay",
  wires: [
    {
      says: "a prompt alone asks for one image",
      body: { prompt: "x" },
      path: "/relay/fal-ai/flux/dev",
      wire: { prompt: "x", num_images: 1 }
    },
    {
      says: "a size is its two sides",
      body: { prompt: "x", n: 4, size: "1280x720" },
      path: "/relay/fal-ai/flux/dev",
      wire: { prompt: "x", num_images: 4, image_size: { width: 1280, height: 720 } }
    },
    {
      says: "the vendor's own fields go out, and what it has no field for does not",
      body: { prompt: "x", seed: 7, guidance_scale: 3.5, num_images: 9, sync_mode: true },
      path: "/relay/fal-ai/flux/dev",
      wire: { prompt: "x", num_images: 1, seed: 7, guidance_scale: 3.5 }
    }
  ],
  bases: ["", "/", "//"].map((base) => ({ base, target: "/fal-ai/flux/dev" })),
  good,
  results: [
    { says: "an image is its address", reply: good, result: made(FIRST) },
    {
      says: "images beyond those ordered are left out",
      reply: job("COMPLETED", { images: [{ url: FIRST }, { url: SECOND }, { url: FIRST }] }),
      result: made(FIRST, SECOND)
    },
    {
      says: "what is no address is skipped",
      reply: job("COMPLETED", {
        images: [null, { url: 7 }, { url: AUDIO.slice(8) }, { url: FIRST }]
      }),
      result: made(FIRST)
    },
    {
      says: "a single image stands in a field of its own",
      reply: job("COMPLETED", { image: { url: FIRST } }),
      result: made(FIRST)
    }
  ],
  failures: [
    {
      says: "a field that the vendor refuses",
      reply: { status: 422, body: fields },
      failure: refused(422, fields, { message: "Field required" })
    },
    {
      says: "an answer without a job",
      reply: { body: { status: "IN_QUEUE" } },
      failure: lost("broken_answer", 200)
    }
  ]
} satisfies ImageSubject

imageAdapterSuite(images)

imageSimulatorSuite({
  ...images,
  wires: images.wires.map((wire) => ({
    ...wire,
    body: { ...wire.body, prompt: "x sim:slow=0" },
    path: wire.path.replace("/relay", ""),
    wire: { ...wire.wire, prompt: "x sim:slow=0" },
    images: wire.wire.num_images
  })),
  version: "",
  moderatedOutput: 422,
  isPolled: true
})
