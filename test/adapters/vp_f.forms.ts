/** Orders and answers of vp_f's envelope, which a family of the relay shares. */
import type { VideoOrder } from "../../src/services/ProtocolAdapter.ts"
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
  VIDEO,
  video
} from "./blocks.ts"
import { lost, refused } from "./failures.ts"
import { textBlock } from "./support.ts"
import { strangeWords, UPSTREAM_ID, type VideoSubject } from "./VideoAdapter.suite.ts"

const T26 = "x2.6-t2v"
const T27 = "x2.7-t2v"
const I26 = "x2.6-i2v"
const I27 = "x2.7-i2v"
const R26 = "x2.6-r2v"
const R27 = "x2.7-r2v"

const tier = { resolution: "720P", duration: 5, watermark: false }
const sized = { size: "1280*720", duration: 5, watermark: false }

const envelope = (model: string, input: object, parameters: object) => ({
  model,
  input: { prompt: PROMPT, ...input },
  parameters
})

const task = (task_status: string, more: object = {}) => ({
  request_id: "r-1",
  output: { task_id: UPSTREAM_ID, task_status, submit_time: "2026-01-01 12:00:00.100", ...more }
})
const submitted = { request_id: "r-1", output: { task_id: UPSTREAM_ID, task_status: "PENDING" } }

const flat = (code: string) => ({ code, message: `fault ${code}`, request_id: "r-1" })
const snake = { error: { code: "invalid_api_key", message: "who?", type: "invalid_request_error" } }

const refusedAs = (message: string) => ({ code: "InvalidParameter", message })

/** Every size of the text model, by resolution and ratio. */
const sizes = [
  ["720p", "16:9", "1280*720"],
  ["720p", "9:16", "720*1280"],
  ["720p", "1:1", "960*960"],
  ["720p", "4:3", "1088*832"],
  ["720p", "3:4", "832*1088"],
  ["1080p", "16:9", "1920*1080"],
  ["1080p", "9:16", "1080*1920"],
  ["1080p", "1:1", "1440*1440"],
  ["1080p", "4:3", "1632*1248"],
  ["1080p", "3:4", "1248*1632"]
] as const

/** Models whose id tells no kind, or no version. */
const vague = [
  ["m-1", {}, {}, {}],
  ["m-1", { blocks: [prompt, audio] }, { audio_url: AUDIO }, {}],
  [
    "m-1",
    { blocks: [prompt, image()], ratio: "16:9" },
    { media: [{ type: "first_frame", url: IMAGE }] },
    {}
  ],
  [
    "m-1",
    { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
    {
      media: [
        { type: "first_frame", url: IMAGE },
        { type: "last_frame", url: SECOND_IMAGE }
      ]
    },
    {}
  ],
  [
    "m-1",
    { blocks: [prompt, image(), image(SECOND_IMAGE)], ratio: "16:9" },
    {
      media: [
        { type: "reference_image", url: IMAGE },
        { type: "reference_image", url: SECOND_IMAGE }
      ]
    },
    { ratio: "16:9" }
  ],
  ["m-1", { blocks: [prompt, video] }, { media: [{ type: "reference_video", url: VIDEO }] }, {}],
  ["x-t2v", { ratio: "1:1" }, {}, { ratio: "1:1" }],
  ["x3.0-t2v-cn", { ratio: "1:1" }, {}, { ratio: "1:1" }],
  ["x12.6-t2v", { ratio: "1:1" }, {}, { ratio: "1:1" }]
] as const

export const formsOfVpF = (path: string) => {
  const wire = (
    says: string,
    model: string,
    order: Partial<VideoOrder>,
    input: object,
    parameters: object
  ) => ({
    says: `${model}: ${says}`,
    order: { ...order, upstreamModel: model },
    path,
    body: envelope(model, input, parameters)
  })
  const unsent = (says: string, model: string, order: Partial<VideoOrder>, message: string) => ({
    says: `${model}: ${says}`,
    order: { ...order, upstreamModel: model },
    body: refusedAs(message)
  })

  return {
    model: "m-1",
    wires: [
      wire("a text alone has a size", T26, {}, {}, sized),
      ...sizes.map(([resolution, ratio, size]) =>
        wire(
          `${resolution} at ${ratio} is ${size}`,
          T26,
          { resolution, ratio },
          {},
          { ...sized, size }
        )
      ),
      wire("a suffix changes nothing", `${T26}-cn`, {}, {}, sized),
      wire("audio beside the text", T26, { blocks: [prompt, audio] }, { audio_url: AUDIO }, sized),
      wire("sound is always on and not said", T26, { generateAudio: false }, {}, sized),
      wire("a text alone has a resolution", T27, { seconds: 15 }, {}, { ...tier, duration: 15 }),
      wire(
        "resolution in upper case, ratio as ordered, whatever it is",
        T27,
        { resolution: "1080p", ratio: "21:9", generateAudio: true },
        {},
        { ...tier, resolution: "1080P", ratio: "21:9" }
      ),
      wire(
        "several texts are one prompt of as many lines",
        T27,
        { blocks: [prompt, textBlock("and at dawn"), audio] },
        { prompt: `${PROMPT}\nand at dawn`, audio_url: AUDIO },
        tier
      ),
      wire(
        "the image decides the ratio",
        I26,
        { blocks: [prompt, image()], ratio: "9:16", generateAudio: true },
        { img_url: IMAGE },
        tier
      ),
      wire(
        "a first frame and audio",
        `${I26}-cn`,
        { blocks: [prompt, image(IMAGE, "first_frame"), audio] },
        { img_url: IMAGE, audio_url: AUDIO },
        tier
      ),
      wire(
        "the sound switch goes out",
        `${I26}-flash`,
        { blocks: [prompt, image()], generateAudio: false },
        { img_url: IMAGE },
        { ...tier, audio: false }
      ),
      wire("no image is the vendor's to refuse", I26, {}, {}, tier),
      wire(
        "an image and audio are media",
        I27,
        { blocks: [prompt, image(), audio], ratio: "16:9" },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "driving_audio", url: AUDIO }
          ]
        },
        tier
      ),
      wire(
        "frames keep their roles",
        `${I27}-cn`,
        { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "last_frame", url: SECOND_IMAGE }
          ]
        },
        tier
      ),
      wire(
        "images and videos are references, with a size and a sound switch",
        R26,
        { blocks: [prompt, image(), video], ratio: "1:1", generateAudio: true },
        { reference_urls: [IMAGE, VIDEO] },
        { ...sized, size: "960*960", audio: true }
      ),
      wire(
        "images and videos are media of their kinds",
        R27,
        { blocks: [prompt, image(), video], ratio: "1:1", generateAudio: false },
        {
          media: [
            { type: "reference_image", url: IMAGE },
            { type: "reference_video", url: VIDEO }
          ]
        },
        { ...tier, ratio: "1:1", audio: false }
      ),
      wire(
        "a frame beside a reference stays a frame",
        R27,
        { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE)] },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "reference_image", url: SECOND_IMAGE }
          ]
        },
        tier
      ),
      ...vague.map(([model, order, input, parameters], index) =>
        wire(`the newest form of what is ordered (${index})`, model, order, input, {
          ...tier,
          ...parameters
        })
      )
    ],
    unsent: [
      unsent(
        "a ratio without a size",
        T26,
        { ratio: "21:9" },
        "The size is not match the allowed size: 720p at 21:9"
      ),
      unsent(
        "a ratio that is a word of the language",
        T26,
        { ratio: "constructor" },
        "The size is not match the allowed size: 720p at constructor"
      ),
      unsent(
        "a tier without a size",
        R26,
        { blocks: [prompt, image()], resolution: "4K" },
        "The size is not match the allowed size: 4K at 16:9"
      ),
      unsent(
        "an image for a text model",
        T26,
        { blocks: [prompt, image()] },
        "The model does not accept image input"
      ),
      unsent(
        "a video for a text model",
        T27,
        { blocks: [prompt, video] },
        "The model does not accept video input"
      ),
      unsent(
        "a second audio",
        T27,
        { blocks: [prompt, audio, audio] },
        "The model accepts only one audio input"
      ),
      unsent(
        "a second image",
        I26,
        { blocks: [prompt, image(), image(SECOND_IMAGE)] },
        "The model accepts only one image input"
      ),
      unsent(
        "a last frame",
        I26,
        { blocks: [prompt, image(IMAGE, "last_frame")] },
        "The model does not accept a last frame"
      ),
      ...[I26, I27].map((model) =>
        unsent(
          "a reference video",
          model,
          { blocks: [prompt, image(), video] },
          "The model does not accept video input"
        )
      ),
      unsent(
        "audio beside references",
        R26,
        { blocks: [prompt, image(), audio] },
        "The model does not accept audio input"
      )
    ],
    submitted,
    submits: [
      ...(
        [
          ["InvalidParameter", 400],
          ["DataInspectionFailed", 400],
          ["InvalidApiKey", 401],
          ["Arrearage", 402],
          ["AccessDenied.Unpurchased", 403],
          ["ModelNotFound", 404],
          ["RequestTimeOut", 408],
          ["Throttling.RateQuota", 429],
          ["InternalError.Timeout", 500],
          ["Unheard", 502],
          ["constructor", 502]
        ] as const
      ).map(([code, effectiveStatus]) => ({
        says: `${code} in an HTTP 200 is refused as ${effectiveStatus}`,
        reply: { body: flat(code) },
        failure: refused(200, flat(code), { effectiveStatus, message: `fault ${code}` })
      })),
      {
        says: "an empty account is no fault of the client's, though it is an HTTP 400",
        reply: { status: 400, body: flat("Arrearage") },
        failure: refused(400, flat("Arrearage"), {
          effectiveStatus: 402,
          message: "fault Arrearage"
        })
      },
      {
        says: "an HTTP status counts before the code",
        reply: { status: 413, body: flat("BadRequest.TooLarge") },
        failure: refused(413, flat("BadRequest.TooLarge"), { message: "fault BadRequest.TooLarge" })
      },
      {
        says: "the other error form is read too",
        reply: { status: 401, body: snake },
        failure: refused(401, snake, { message: "who?" })
      },
      {
        says: "the other error form in an HTTP 200 is a refusal",
        reply: { body: snake },
        failure: refused(200, snake, { effectiveStatus: 502, message: "who?" })
      },
      ...[
        { output: {} },
        { output: { task_id: "" } },
        { output: { task_id: 7 } },
        { output: null },
        { output: { task_id: null }, code: "", message: "" }
      ].map((body) => ({
        says: `${JSON.stringify(body)} names no task, so the job may be lost`,
        reply: { body },
        failure: lost("broken_answer", 200, body)
      }))
    ],
    polls: [
      ...["PENDING", "RUNNING", "SUSPENDED", "succeeded", ...strangeWords].map((word) => ({
        says: `the status ${JSON.stringify(word)} is in the works`,
        body: task(word),
        status: processing
      })),
      {
        says: "a finished task shows its video, and its seconds do not count",
        body: {
          ...task("SUCCEEDED", { video_url: OUTPUT, orig_prompt: PROMPT }),
          usage: { duration: 7, output_video_duration: 7, SR: 720, video_count: 1 }
        },
        status: done
      },
      {
        says: "a failed task tells its code and message",
        body: task("FAILED", { code: "InvalidParameter", message: "no such size" }),
        status: failed("InvalidParameter", "no such size")
      },
      {
        says: "a failed task fails whatever its other fields hold",
        body: task("FAILED", { code: 7, message: null, video_url: 8 }),
        status: failed("FAILED", "The vendor failed to make the video")
      },
      ...["CANCELED", "CANCELLED"].map((word) => ({
        says: `${word} is a failure`,
        body: task(word),
        status: failed(word, "The vendor cancelled the task")
      })),
      {
        says: "UNKNOWN is an unknown task",
        body: { request_id: "r-1", output: { task_id: UPSTREAM_ID, task_status: "UNKNOWN" } },
        status: unknown
      },
      {
        says: "HTTP 404 is an unknown task",
        httpStatus: 404,
        body: flat("NotFound"),
        status: unknown
      }
    ],
    brokenPolls: [
      { says: "no status", body: { output: { task_id: UPSTREAM_ID } } },
      { says: "no output", body: { request_id: "r-1" } },
      { says: "a success without a video", body: task("SUCCEEDED") },
      { says: "a success with an empty address", body: task("SUCCEEDED", { video_url: "" }) }
    ],
    failedPolls: [
      {
        says: "a code without an output",
        reply: { body: flat("InternalError") },
        failure: refused(200, flat("InternalError"), {
          effectiveStatus: 500,
          message: "fault InternalError"
        })
      }
    ],
    failedWith: (message) => task("FAILED", { code: "x", message })
  } satisfies Partial<VideoSubject>
}
