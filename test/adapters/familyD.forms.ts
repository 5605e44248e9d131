/** Orders and answers of the relay's family d. */
import {
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
import { textBlock } from "./support.ts"
import { strangeWords, UPSTREAM_ID, type VideoSubject } from "./VideoAdapter.suite.ts"

const textPath = "/kling/v1/videos/text2video"
const imagePath = "/kling/v1/videos/image2video"

const fixed = { model_name: "m-1", duration: "5", mode: "std" }
const body = (more: object = {}) => ({ ...fixed, prompt: PROMPT, ...more })

const envelope = (data: unknown) => ({ code: 0, message: "SUCCEED", request_id: "r-1", data })
const task = (task_status: string, more: object = {}) =>
  envelope({ task_id: UPSTREAM_ID, task_status, task_status_msg: "", ...more })
const video1 = { id: "v1", url: OUTPUT, duration: "5.041" }

const errorOf = (code: number) => ({ code, message: `fault ${code}`, request_id: "r-1" })
const notSupported = (what: string) => ({ code: 1201, message: `${what} is not supported` })

export const formsOfFamilyD = {
  model: "m-1",
  taskId: `text2video/${UPSTREAM_ID}`,
  wires: [
    { says: "a text alone, its length a text", order: {}, path: textPath, body: body() },
    {
      says: "1080p is pro, and ratio and sound go out as ordered",
      order: { resolution: "1080p", seconds: 10, ratio: "9:16", generateAudio: true },
      path: textPath,
      body: body({ mode: "pro", duration: "10", aspect_ratio: "9:16", sound: "on" })
    },
    {
      says: "4K is 4k, and sound off is off",
      order: { resolution: "4K", generateAudio: false },
      path: textPath,
      body: body({ mode: "4k", sound: "off" })
    },
    {
      says: "several texts are one prompt of as many lines",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path: textPath,
      body: body({ prompt: `${PROMPT}\nand at dawn` })
    },
    {
      says: "a lone image without a role goes to its own path and decides the ratio",
      order: { blocks: [prompt, image(IMAGE, null)], ratio: "16:9" },
      path: imagePath,
      body: body({ image: IMAGE })
    },
    {
      says: "a first frame needs no prompt",
      order: { blocks: [image(IMAGE, "first_frame")] },
      path: imagePath,
      body: { ...fixed, image: IMAGE }
    }
  ],
  unsent: [
    { says: "audio", order: { blocks: [prompt, audio] }, body: notSupported("Audio input") },
    { says: "a video", order: { blocks: [prompt, video] }, body: notSupported("Video input") },
    {
      says: "a second image",
      order: { blocks: [prompt, image(), image(SECOND_IMAGE)] },
      body: { code: 1201, message: "Only one image is supported" }
    },
    {
      says: "a reference image, which would become a first frame",
      order: { blocks: [prompt, image()] },
      body: { code: 1201, message: "A reference image is not supported, only a first frame" }
    },
    {
      says: "a last frame",
      order: { blocks: [prompt, image(IMAGE, "last_frame")] },
      body: notSupported("A last frame")
    },
    { says: "480p", order: { resolution: "480p" }, body: notSupported("Resolution 480p") },
    { says: "540p", order: { resolution: "540p" }, body: notSupported("Resolution 540p") }
  ],
  submitted: task("submitted"),
  submits: [
    ...(
      [
        [1002, 401],
        [1102, 402],
        [1201, 400],
        [1203, 403],
        [1303, 429],
        [5000, 500],
        [7, 502]
      ] as const
    ).map(([code, effectiveStatus]) => ({
      says: `code ${code} in an HTTP 200 is refused as ${effectiveStatus}`,
      reply: { body: errorOf(code) },
      failure: refused(200, errorOf(code), { effectiveStatus, message: `fault ${code}` })
    })),
    ...[envelope({ task_id: "" }), envelope({ id: UPSTREAM_ID }), envelope(null)].map((body) => ({
      says: `${JSON.stringify(body)} names no task, so the job may be lost`,
      reply: { body },
      failure: lost("broken_answer", 200)
    }))
  ],
  polls: [
    ...["submitted", "processing", "succeeded", "success", ...strangeWords].map((word) => ({
      says: `the status ${JSON.stringify(word)} is in the works`,
      body: task(word),
      status: processing
    })),
    {
      says: "succeed shows the video",
      body: task("succeed", { task_result: { videos: [video1] } }),
      status: done
    },
    {
      says: "succeed shows the units that the vendor bills",
      body: task("succeed", { task_result: { videos: [video1] }, final_unit_deduction: "1.5" }),
      status: {
        ...done,
        usage: { ...done.usage, bill: { amountNano: 1_500_000_000n, unit: "unit" as const } }
      }
    },
    {
      says: "units of no plausible form are no bill",
      body: task("succeed", { task_result: { videos: [video1] }, final_unit_deduction: "-1" }),
      status: done
    },
    {
      says: "the first usable video counts",
      body: task("succeed", { task_result: { videos: [null, "x", { url: "" }, video1] } }),
      status: done
    },
    {
      says: "a failed task tells its reason",
      body: task("failed", { task_status_msg: "risk control" }),
      status: failed("failed", "risk control")
    },
    {
      says: "a failed task without a reason has failed",
      body: task("failed", { task_status_msg: null, task_result: 7 }),
      status: failed("failed", "The vendor failed to make the video")
    },
    {
      says: "HTTP 404 is an unknown task",
      httpStatus: 404,
      body: errorOf(1203),
      status: unknown
    }
  ],
  brokenPolls: [
    { says: "no data", body: envelope(null) },
    { says: "no status", body: envelope({ task_id: UPSTREAM_ID }) },
    { says: "a success without a result", body: task("succeed") },
    { says: "a success without videos", body: task("succeed", { task_result: { videos: [] } }) },
    { says: "no code", body: { data: { task_status: "failed" } } }
  ],
  failedWith: (message) => task("failed", { task_status_msg: message })
} satisfies Partial<VideoSubject>
