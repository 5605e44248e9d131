import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import { audio, failed, image, PROMPT, processing, prompt, unknown, video } from "./blocks.ts"
import { lost, refused } from "./failures.ts"
import { textBlock } from "./support.ts"
import { UPSTREAM_ID, type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"

const MODEL = "veo-3.1-generate-preview"
const path = (model = MODEL) => `/v1beta/models/${model}:predictLongRunning`

const bytesOf = (index: number) => Buffer.from(`picture ${index}`).toString("base64")
const inline = (index: number, role: Extract<VideoBlock, { type: "image" }>["role"]) =>
  image(`data:image/png;base64,${bytesOf(index)}`, role)
const wireImage = (index: number) => ({
  bytesBase64Encoded: bytesOf(index),
  mimeType: "image/png"
})
const asset = (index: number) => ({ image: wireImage(index), referenceType: "asset" })

const body = (instance: object = {}, parameters: object = {}) => ({
  instances: [{ prompt: PROMPT, ...instance }],
  parameters: { durationSeconds: 8, resolution: "720p", ...parameters }
})

const unsent = (says: string, order: object, message: string, param?: string) => ({
  says,
  order,
  body: {
    error: {
      code: 400,
      message,
      status: "INVALID_ARGUMENT",
      ...(param === undefined ? {} : { param })
    }
  },
  message
})

const DOWNLOAD = "https://generativelanguage.googleapis.com/v1beta/files/a1:download?alt=media"
const extended = { type: "video", role: "extend_video", url: DOWNLOAD } as const
const operation = (more: object = {}) => ({ name: UPSTREAM_ID, ...more })
const response = (generateVideoResponse: object) =>
  operation({ done: true, response: { generateVideoResponse } })
const done = {
  _tag: "Succeeded",
  videoUrl: DOWNLOAD,
  usage: { completionTokens: null, outputSeconds: null }
} as const
const sample = { video: { uri: DOWNLOAD } }

const googleError = (code: number, status: string, message: string, details: object = {}) => ({
  error: { code, message, status, ...details }
})
const badKey = googleError(400, "INVALID_ARGUMENT", "API key not valid.", {
  details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
})
const country = googleError(400, "FAILED_PRECONDITION", "User location is not supported.")

const subject: VideoSubject = {
  protocol: "veo",
  dialect: { scheme: "", keyHeader: "x-goog-api-key", headers: {} },
  model: MODEL,
  usual: { seconds: 8 },
  inline: (url) => url.replace(/^[^,]*,/, ""),
  wires: [
    { says: "a text alone", order: {}, path: path(), body: body() },
    {
      says: "length, resolution and ratio go out as ordered, and a model of a list by its id",
      order: {
        upstreamModel: "models/veo-3.1-fast-generate-preview",
        resolution: "4K",
        ratio: "9:16",
        generateAudio: true
      },
      path: path("veo-3.1-fast-generate-preview"),
      body: body({}, { resolution: "4k", aspectRatio: "9:16" })
    },
    {
      says: "the vendor's own fields go out by its names",
      order: {
        seconds: 4,
        parameters: { negative_prompt: "rain", person_generation: "allow_adult", seed: 7 }
      },
      path: path(),
      body: body(
        {},
        {
          durationSeconds: 4,
          negativePrompt: "rain",
          personGeneration: "allow_adult",
          seed: 7
        }
      )
    },
    {
      says: "several texts are one prompt of as many lines",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path: path(),
      body: body({ prompt: `${PROMPT}\nand at dawn` })
    },
    {
      says: "a lone image without a role is the first frame",
      order: { blocks: [prompt, inline(1, null)], seconds: 6 },
      path: path(),
      body: body({ image: wireImage(1) }, { durationSeconds: 6 })
    },
    {
      says: "an image without a text needs no prompt",
      order: { blocks: [inline(1, "first_frame")] },
      path: path(),
      body: {
        instances: [{ image: wireImage(1) }],
        parameters: { durationSeconds: 8, resolution: "720p" }
      }
    },
    {
      says: "first and last frame have a field each",
      order: { blocks: [inline(2, "last_frame"), prompt, inline(1, null)] },
      path: path(),
      body: body({ image: wireImage(1), lastFrame: wireImage(2) })
    },
    {
      says: "reference images go out as assets",
      order: { blocks: [prompt, inline(1, "reference_image"), inline(2, null)] },
      path: path(),
      body: body({ referenceImages: [asset(1), asset(2)] })
    },
    {
      says: "a parameter of a data URL is left out",
      order: {
        blocks: [prompt, image(`data:image/png;name=a;base64,${bytesOf(3)}`, "first_frame")]
      },
      path: path(),
      body: body({ image: wireImage(3) })
    },
    {
      says: "a video to extend goes out by the vendor's own address",
      order: {
        blocks: [prompt, extended],
        ratio: "9:16"
      },
      path: path(),
      body: body({ video: { uri: DOWNLOAD } }, { aspectRatio: "9:16" }),
      refusedWith: 400
    },
    {
      says: "an unknown model may have every input",
      order: { upstreamModel: "m-1", blocks: [prompt, inline(1, "reference_image")] },
      path: path("m-1"),
      body: body({ referenceImages: [asset(1)] })
    }
  ],
  unsent: [
    ...(["first_frame", "reference_image", null] as const).map((role) =>
      unsent(
        `an image from an address as ${role}`,
        { blocks: [prompt, image("https://x.test/1.png", role)] },
        "image: Expected an image as a data URL in base64, or an uploaded file: Google loads no image from an address",
        "image"
      )
    ),
    unsent(
      "a data URL that is not in base64",
      { blocks: [prompt, image("data:image/png,abc", "first_frame")] },
      "image: Expected an image as a data URL in base64, or an uploaded file: Google loads no image from an address",
      "image"
    ),
    ...(
      [
        ["references", { blocks: [prompt, inline(1, "reference_image")], seconds: 6 }, 6],
        ["1080p", { resolution: "1080p", seconds: 4 }, 4],
        ["4K", { resolution: "4K", seconds: 6 }, 6],
        ["an extension", { blocks: [prompt, extended], seconds: 4 }, 4]
      ] as const
    ).map(([says, order, seconds]) =>
      unsent(
        `${says} in less than the full length`,
        order,
        `duration: Expected 8 seconds with reference images, a video to extend or a resolution above 720p, not ${seconds}`,
        "duration"
      )
    ),
    unsent(
      "an extension with another resolution",
      { blocks: [prompt, extended], resolution: "1080p" },
      "resolution: Expected 720p with a video to extend",
      "resolution"
    ),
    unsent(
      "a silent video",
      { generateAudio: false },
      "generate_audio: The model always makes sound: it has no field by which it can be false",
      "generate_audio"
    ),
    ...(
      [
        ["a reference video", [prompt, video]],
        ["a sound", [prompt, audio]],
        ["a last frame alone", [prompt, inline(1, "last_frame")]],
        ["two first frames", [inline(1, "first_frame"), inline(2, "first_frame")]],
        ["a frame beside a reference", [inline(1, "first_frame"), inline(2, "reference_image")]],
        ["a frame beside a video to extend", [inline(1, "first_frame"), extended]]
      ] as const
    ).map(([says, blocks]) =>
      unsent(
        says,
        { blocks },
        "Not all of this input has a place: the model takes a text alone; or a first frame, a last frame; or up to 3 reference images; or a video to extend"
      )
    ),
    unsent(
      "a reference image for the lite model",
      {
        upstreamModel: "veo-3.1-lite-generate-preview",
        blocks: [prompt, inline(1, "reference_image")]
      },
      "Not all of this input has a place: the model takes a text alone; or a first frame, a last frame"
    )
  ],
  bases: ["", "/", "//", "/relay", "/v1beta", "/v1beta/", "/v1beta//", "/relay/v1beta"].map(
    (base) => {
      const root = base.replace(/\/+$/, "").replace("/v1beta", "")
      return { base, submit: root + path(), poll: `${root}/v1beta/901/a%20b` }
    }
  ),
  submitted: { name: UPSTREAM_ID },
  submits: [
    {
      says: "a wrong key is the gateway's, though it is an HTTP 400",
      reply: { status: 400, body: badKey },
      failure: refused(400, badKey, { effectiveStatus: 401, message: "API key not valid." })
    },
    {
      says: "a country without the service is the account's",
      reply: { status: 400, body: country },
      failure: refused(400, country, {
        effectiveStatus: 403,
        message: "User location is not supported."
      })
    },
    ...[{ name: "" }, { name: 7 }, { name: "a/../b" }, { name: "a//b" }, { id: "a" }].map(
      (body) => ({
        says: `${JSON.stringify(body)} names no operation, so the job may be lost`,
        reply: { body },
        failure: lost("broken_answer", 200)
      })
    )
  ],
  polls: [
    ...[{}, { done: false }, { done: "true" }, { metadata: { state: "RUNNING" } }].map((more) => ({
      says: `${JSON.stringify(more)} is in the works`,
      body: operation(more),
      status: processing
    })),
    {
      says: "an error beside no end is in the works",
      body: operation({ error: { code: 13, message: "later" } }),
      status: processing
    },
    {
      says: "a finished operation shows its video",
      body: response({ generatedSamples: [sample] }),
      status: done
    },
    {
      says: "the first usable sample counts",
      body: response({ generatedSamples: [null, { video: {} }, sample] }),
      status: done
    },
    {
      says: "a video beside withheld ones is one",
      body: response({ generatedSamples: [sample], raiMediaFilteredCount: 1 }),
      status: done
    },
    {
      says: "a withheld video is a failure with the vendor's reasons",
      body: response({ raiMediaFilteredCount: 2, raiMediaFilteredReasons: ["No.", "Not so."] }),
      status: failed("raiMediaFiltered", "No. Not so.")
    },
    {
      says: "a withheld video without reasons is a failure",
      body: response({ raiMediaFilteredCount: 1 }),
      status: failed("raiMediaFiltered", "The vendor withheld the video because of its content")
    },
    {
      says: "an error is a failure with its number",
      body: operation({ done: true, error: { code: 3, message: "bad image" } }),
      status: failed("3", "bad image")
    },
    {
      says: "an error without words is a failure",
      body: operation({ done: true, error: {} }),
      status: failed("error", "The vendor failed to make the video")
    },
    {
      says: "HTTP 404 is an unknown task",
      httpStatus: 404,
      body: googleError(404, "NOT_FOUND", "not found"),
      status: unknown
    }
  ],
  brokenPolls: [
    { says: "no name", body: { done: true } },
    { says: "an end without a response", body: operation({ done: true }) },
    { says: "an end without samples", body: response({}) },
    { says: "an end with bytes alone", body: response({ generatedSamples: [{ video: {} }] }) }
  ],
  failedPolls: [
    {
      says: "a wrong key",
      reply: { status: 400, body: badKey },
      failure: refused(400, badKey, { effectiveStatus: 401, message: "API key not valid." })
    }
  ],
  failedWith: (message) => operation({ done: true, error: { code: 13, message } })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "13", "Video generation failed"],
    ["sim:moderate-output", "raiMediaFiltered", "Sorry, we can't create videos"],
    ["sim:cancel", "1", "The operation was cancelled."]
  ],
  hasStatusNames: false,
  videoPath: (id) => `/veo/v1beta/files/${id.split("/").at(-1)}:download?alt=media`,
  usage: { completionTokens: null, outputSeconds: null }
})
