/** Orders and answers of the relay's family a. */
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
import { lost } from "./failures.ts"
import { textBlock } from "./support.ts"
import { strangeWords, UPSTREAM_ID, type VideoSubject } from "./VideoAdapter.suite.ts"

const path = "/doubao/v1/videos/generations/submit"

const fixed = { model: "m-1", duration: 5, resolution: "720p", watermark: false }
const body = (...media: ReadonlyArray<object>) => ({
  ...fixed,
  prompt: PROMPT,
  content: [wireText, ...media]
})

const task = (status: string, more: object = {}) => ({ id: UPSTREAM_ID, status, ...more })
const succeeded = (more: object) => task("succeeded", { content: { video_url: OUTPUT }, ...more })
const done = (completionTokens: bigint | null, outputSeconds: number | null = null) =>
  ({ _tag: "Succeeded", videoUrl: OUTPUT, usage: { completionTokens, outputSeconds } }) as const

export const formsOfFamilyA = {
  model: "m-1",
  wires: [
    { says: "a text alone stands in content and prompt", order: {}, path, body: body() },
    {
      says: "several texts are one prompt of as many lines",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path,
      body: { ...body(textBlock("and at dawn")), prompt: `${PROMPT}\nand at dawn` }
    },
    {
      says: "a length left to the model is -1",
      order: { seconds: "smart" },
      path,
      body: { ...body(), duration: -1 }
    },
    {
      says: "4K is spelt 4k, and length, ratio and sound go out as ordered",
      order: { resolution: "4K", seconds: 15, ratio: "9:16", generateAudio: true },
      path,
      body: { ...body(), resolution: "4k", duration: 15, ratio: "9:16", generate_audio: true }
    },
    {
      says: "seed, fixed camera and watermark go out where they were said",
      order: { parameters: { seed: 7, camera_fixed: true, watermark: true } },
      path,
      body: { ...body(), seed: 7, camera_fixed: true, watermark: true }
    },
    {
      says: "media are blocks in their order",
      order: { blocks: [prompt, image(), audio, video] },
      path,
      body: body(wireImage(), wireAudio, wireVideo)
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
      says: "several images without a role have none on the first generation",
      order: {
        upstreamModel: "doubao-seedance-1-5-pro-251215-cn",
        blocks: [prompt, image(IMAGE, null), image(SECOND_IMAGE, null)]
      },
      path,
      body: {
        ...body(wireImage(IMAGE, null), wireImage(SECOND_IMAGE, null)),
        model: "doubao-seedance-1-5-pro-251215-cn"
      },
      refusedWith: 400
    },
    {
      says: "frames keep their roles",
      order: { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
      path,
      body: body(wireImage(IMAGE, "first_frame"), wireImage(SECOND_IMAGE, "last_frame"))
    },
    {
      says: "an image without a text has no prompt",
      order: { blocks: [image(IMAGE, "first_frame")] },
      path,
      body: { ...fixed, content: [wireImage(IMAGE, "first_frame")] }
    }
  ],
  submitted: { id: UPSTREAM_ID },
  submits: ["", null, 17].map((id) => ({
    says: `the id ${JSON.stringify(id)} is none, so the job may be lost`,
    reply: { body: { id, error: null } },
    failure: lost("broken_answer", 200)
  })),
  polls: [
    ...["queued", "running", "pending", "processing", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: task(word, { error: null, content: null }),
      status: processing
    })),
    {
      says: "tokens and length of a finished task are read",
      body: succeeded({ usage: { completion_tokens: 108900 }, duration: 5 }),
      status: done(108900n, 5)
    },
    {
      says: "tokens are read from a text as well",
      body: succeeded({ usage: { completion_tokens: "108900" } }),
      status: done(108900n)
    },
    { says: "no usage is none", body: succeeded({ usage: null }), status: done(null) },
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
    { says: "HTTP 404 is an unknown task", httpStatus: 404, body: {}, status: unknown }
  ],
  brokenPolls: [
    { says: "no status", body: { id: UPSTREAM_ID } },
    { says: "a success without content", body: task("succeeded") },
    { says: "a success with an empty address", body: succeeded({ content: { video_url: "" } }) }
  ],
  failedWith: (message) => task("failed", { error: { code: "x", message } })
} satisfies Partial<VideoSubject>
