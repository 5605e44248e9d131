/** Orders and answers of vp_e's interface, which a family of the relay shares. */
import {
  audio,
  failed,
  done as finished,
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

const fixed = {
  model: "m-1",
  duration: 5,
  resolution: "720p",
  watermark: false,
  payload: "vt_1"
}
const body = (more: object = {}) => ({ ...fixed, prompt: PROMPT, ...more })

const third = "https://x.test/3.png"

const submitted = { task_id: UPSTREAM_ID, state: "created", model: "m-1", credits: 20 }
const task = (state: string, more: object = {}) => ({
  id: UPSTREAM_ID,
  state,
  err_code: "",
  credits: 20,
  creations: [],
  ...more
})
const MARKED = "https://files.test/marked.mp4"
/** What the vendor bills in each of these answers. */
const bill = { amountNano: 20_000_000_000n, unit: "credit" } as const
const COVER = "https://files.test/o.jpg"
const unbilledTask = { ...finished, stills: { coverUrl: COVER } }
const done = { ...unbilledTask, usage: { ...unbilledTask.usage, bill } }
const marked = { ...done, videoUrl: MARKED }
const creation = { id: "c1", url: OUTPUT, cover_url: COVER }

const unwanted = (field: string) => ({
  code: 400,
  reason: "FieldUnwanted",
  message: `unwanted field: ${field}`
})
const lacking = (field: string) => ({
  code: 400,
  reason: "FieldLacking",
  message: `missing field: ${field}`
})
const frames = "a first frame; or a first frame, a last frame"
const references = "up to 7 reference images"

const orderedOf = {
  text: [prompt],
  lone: [prompt, image(IMAGE, null)],
  first: [prompt, image(IMAGE, "first_frame")],
  ends: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")],
  reference: [prompt, image()]
}
const imagesOf = {
  text: {},
  lone: { images: [IMAGE] },
  first: { images: [IMAGE] },
  ends: { images: [IMAGE, SECOND_IMAGE] },
  reference: { images: [IMAGE] }
}

/** The path of each kind of order, by the model. */
const paths: ReadonlyArray<readonly [model: string, kind: keyof typeof imagesOf, path: string]> = [
  ["viduq3", "lone", "reference2video"],
  ["viduq3", "reference", "reference2video"],
  ["viduq3-mix", "lone", "reference2video"],
  ["viduq3-mix-glb", "reference", "reference2video"],
  ["viduq3-pro", "text", "text2video"],
  ["viduq3-pro", "lone", "img2video"],
  ["viduq3-pro", "first", "img2video"],
  ["viduq3-pro-cn", "ends", "start-end2video"],
  ["viduq3-pro-fast", "lone", "img2video"],
  ["viduq3-pro-fast-cn", "first", "img2video"],
  ["viduq3-turbo", "text", "text2video"],
  ["viduq3-turbo", "lone", "img2video"],
  ["viduq3-turbo", "ends", "start-end2video"],
  ["viduq3-turbo", "reference", "reference2video"]
]

const takesRatio = ["text2video", "reference2video"]

const ofFamilies = (prefix: string) =>
  paths.map(([model, kind, path]) => ({
    says: `${model} with ${kind} goes to ${path}`,
    order: { upstreamModel: model, blocks: orderedOf[kind], ratio: "9:16" },
    path: `${prefix}/ent/v2/${path}`,
    body: body({
      model,
      ...imagesOf[kind],
      ...(takesRatio.includes(path) ? { aspect_ratio: "9:16" } : {})
    })
  }))

const inOk = { code: 400, reason: "FieldInvalid", message: "invalid field: duration" }
const broke = { code: 400, reason: "CreditInsufficient", message: "no credits left" }

/** `prefix` stands before every path. */
export const formsOfVpE = (prefix: string) =>
  ({
    model: "m-1",
    wires: [
      { says: "a text alone", order: {}, path: `${prefix}/ent/v2/text2video`, body: body() },
      {
        says: "length, resolution, ratio and sound go out as ordered",
        order: { seconds: 16, resolution: "540p", ratio: "9:16", generateAudio: true },
        path: `${prefix}/ent/v2/text2video`,
        body: body({ duration: 16, resolution: "540p", aspect_ratio: "9:16", audio: true })
      },
      {
        says: "sound off goes out, and another task's id is its payload",
        order: { generateAudio: false, taskId: "vt_2" },
        path: `${prefix}/ent/v2/text2video`,
        body: body({ audio: false, payload: "vt_2" })
      },
      {
        says: "seed and watermark go out where they were said",
        order: { parameters: { seed: 7, watermark: true } },
        path: `${prefix}/ent/v2/text2video`,
        body: body({ seed: 7, watermark: true })
      },
      {
        says: "several texts are one prompt of as many lines",
        order: { blocks: [prompt, textBlock("and at dawn")] },
        path: `${prefix}/ent/v2/text2video`,
        body: body({ prompt: `${PROMPT}\nand at dawn` })
      },
      {
        says: "a lone image without a role is animated, and its own ratio decides",
        order: { blocks: [prompt, image(IMAGE, null)], ratio: "16:9" },
        path: `${prefix}/ent/v2/img2video`,
        body: body({ images: [IMAGE] })
      },
      {
        says: "an image without a text needs no prompt",
        order: { blocks: [image(IMAGE, "first_frame")] },
        path: `${prefix}/ent/v2/img2video`,
        body: { ...fixed, images: [IMAGE] }
      },
      {
        says: "first and last frame go out in that order, whichever was given first",
        order: {
          blocks: [image(SECOND_IMAGE, "last_frame"), image(IMAGE, "first_frame"), prompt],
          ratio: "16:9"
        },
        path: `${prefix}/ent/v2/start-end2video`,
        body: body({ images: [IMAGE, SECOND_IMAGE] })
      },
      {
        says: "a last frame without a first one is the vendor's to refuse",
        order: { blocks: [prompt, image(IMAGE, "last_frame")] },
        path: `${prefix}/ent/v2/start-end2video`,
        body: body({ images: [IMAGE] }),
        refusedWith: 400
      },
      {
        says: "a lone reference image is one, and takes a ratio",
        order: { blocks: [prompt, image()], ratio: "1:1" },
        path: `${prefix}/ent/v2/reference2video`,
        body: body({ images: [IMAGE], aspect_ratio: "1:1" })
      },
      {
        says: "two images are references, which take a ratio",
        order: { blocks: [prompt, image(IMAGE, null), image(SECOND_IMAGE, null)], ratio: "1:1" },
        path: `${prefix}/ent/v2/reference2video`,
        body: body({ images: [IMAGE, SECOND_IMAGE], aspect_ratio: "1:1" })
      },
      {
        says: "an image without a role before a last frame is the first one",
        order: { blocks: [prompt, image(SECOND_IMAGE, "last_frame"), image(IMAGE, null)] },
        path: `${prefix}/ent/v2/start-end2video`,
        body: body({ images: [IMAGE, SECOND_IMAGE] })
      },
      ...ofFamilies(prefix)
    ],
    unsent: [
      { says: "reference audio", order: { blocks: [prompt, audio] }, body: unwanted("audios") },
      {
        says: "a reference video, also beside an image",
        order: { blocks: [prompt, image(), video] },
        body: unwanted("videos")
      },
      {
        says: "frames beside a reference",
        order: { blocks: [prompt, image(IMAGE, "first_frame"), image(third)] },
        body: unwanted(`images. The model takes a text alone; or ${frames}; or ${references}`)
      },
      {
        says: "a second image without a role beside a first frame",
        order: { blocks: [prompt, image(IMAGE, "first_frame"), image(third, null)] },
        body: unwanted(`images. The model takes a text alone; or ${frames}; or ${references}`)
      },
      {
        says: "two last frames, of which one would be the first",
        order: {
          upstreamModel: "viduq3-pro",
          blocks: [prompt, image(IMAGE, "last_frame"), image(third, "last_frame")]
        },
        body: unwanted(`images. The model takes a text alone; or ${frames}`)
      },
      {
        says: "a reference image for viduq3-pro",
        order: { upstreamModel: "viduq3-pro", blocks: [prompt, image()] },
        body: unwanted(`images. The model takes a text alone; or ${frames}`)
      },
      {
        says: "two images without a role for viduq3-pro-cn",
        order: {
          upstreamModel: "viduq3-pro-cn",
          blocks: [prompt, image(IMAGE, null), image(SECOND_IMAGE, null)]
        },
        body: unwanted(`images. The model takes a text alone; or ${frames}`)
      },
      {
        says: "a last frame for viduq3-pro-fast",
        order: { upstreamModel: "viduq3-pro-fast", blocks: [image(IMAGE, "last_frame")] },
        body: unwanted("images. The model takes a first frame")
      },
      ...(["viduq3", "viduq3-mix", "viduq3-cn"] as const).map((upstreamModel) => ({
        says: `a text alone for ${upstreamModel}`,
        order: { upstreamModel },
        body: lacking(`images. The model takes ${references}`)
      })),
      {
        says: "a text alone for viduq3-pro-fast",
        order: { upstreamModel: "viduq3-pro-fast" },
        body: lacking("images. The model takes a first frame")
      },
      {
        says: "a first frame for viduq3",
        order: { upstreamModel: "viduq3", blocks: [prompt, image(IMAGE, "first_frame")] },
        body: unwanted(`images. The model takes ${references}`)
      }
    ],
    submitted,
    submits: [
      {
        says: "a state of failed is a refusal by its code",
        reply: { body: { ...submitted, state: "failed", err_code: "AuditSubmitIllegal" } },
        failure: refused(
          200,
          { ...submitted, state: "failed", err_code: "AuditSubmitIllegal" },
          {
            effectiveStatus: 502,
            message: "The vendor failed to make the video: AuditSubmitIllegal"
          }
        )
      },
      {
        says: "a state of failed is a refusal without id and code",
        reply: { body: { state: "failed" } },
        failure: refused(
          200,
          { state: "failed" },
          { effectiveStatus: 502, message: "The vendor failed to make the video" }
        )
      },
      {
        says: "an error body in an HTTP 200 is a refusal",
        reply: { body: inOk },
        failure: refused(200, inOk, { effectiveStatus: 502, message: "invalid field: duration" })
      },
      {
        says: "an empty account is no fault of the client's, though it is an HTTP 400",
        reply: { status: 400, body: broke },
        failure: refused(400, broke, { effectiveStatus: 402, message: "no credits left" })
      },
      ...[{ state: "created" }, { task_id: "" }, { task_id: 8093 }, { id: "8093" }].map((body) => ({
        says: `${JSON.stringify(body)} names no task, so the job may be lost`,
        reply: { body },
        failure: lost("broken_answer", 200)
      }))
    ],
    polls: [
      ...["created", "queueing", "processing", "Success", "succeeded", ...strangeWords].map(
        (word) => ({
          says: `the state ${JSON.stringify(word)} is in the works`,
          body: task(word, { creations: null }),
          status: processing
        })
      ),
      ...[-1, 1_000_000_001, 1.000_01, "many", "", "1e3", "-0", null, true, [20], {}].map(
        (credits) => ({
          says: `the credits ${JSON.stringify(credits)} are no bill`,
          body: task("success", { creations: [creation], credits }),
          status: unbilledTask
        })
      ),
      {
        says: "a finished task shows its video and no usage",
        body: task("success", { creations: [creation], usage: { completion_tokens: 7 } }),
        status: done
      },
      ...[null, "", 7, {}].map((cover_url) => ({
        says: `a cover that is shown as ${JSON.stringify(cover_url)} is none`,
        body: task("success", { creations: [{ ...creation, cover_url }] }),
        status: { ...finished, usage: done.usage }
      })),
      {
        says: "the first usable creation counts",
        body: task("success", {
          creations: [null, "x", { url: "" }, { url: 7 }, creation, { url: "https://other.test" }]
        }),
        status: done
      },
      {
        says: "who ordered a mark gets the marked file",
        isMarked: true,
        body: task("success", { creations: [{ ...creation, watermarked_url: MARKED }] }),
        status: marked
      },
      {
        says: "who ordered no mark gets the plain file",
        body: task("success", { creations: [{ ...creation, watermarked_url: MARKED }] }),
        status: done
      },
      ...[{}, { watermarked_url: "" }, { watermarked_url: null }, { watermarked_url: 7 }].map(
        (field) => ({
          says: `a mark that is shown as ${JSON.stringify(field)} leaves the plain file`,
          isMarked: true,
          body: task("success", { creations: [{ ...creation, ...field }] }),
          status: done
        })
      ),
      {
        says: "a failed task tells its code",
        body: task("failed", { err_code: "CreationPolicyViolation" }),
        status: failed(
          "CreationPolicyViolation",
          "The vendor failed to make the video: CreationPolicyViolation"
        )
      },
      ...["", null, 7].map((code) => ({
        says: `a failed task with the code ${JSON.stringify(code)} has failed`,
        body: task("failed", { err_code: code, creations: "none" }),
        status: failed("failed", "The vendor failed to make the video")
      })),
      {
        says: "HTTP 404 is an unknown task",
        httpStatus: 404,
        body: { code: 404, reason: "TaskNotFound", message: "task not found" },
        status: unknown
      }
    ],
    brokenPolls: [
      { says: "no state", body: { id: UPSTREAM_ID } },
      { says: "a state that is no text", body: { state: 3 } },
      { says: "a success without creations", body: task("success", { creations: null }) },
      {
        says: "a success with an empty address",
        body: task("success", { creations: [{ url: "" }] })
      }
    ],
    failedWith: (message) => task("failed", { message })
  }) satisfies Partial<VideoSubject>
