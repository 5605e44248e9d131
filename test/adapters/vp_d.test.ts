import type { ImageRole } from "../../src/domain/video/VideoBody.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import type { VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { lost, refused } from "./failures.ts"
import { textBlock } from "./support.ts"
import { UPSTREAM_ID, type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const MODEL = "kling-3.0"
const OMNI = "kling-3.0-omni"
const VIDEO_URL = "https://files.test/o.mp4?Expires=1"
const MARKED_URL = "https://files.test/marked.mp4"

const textPath = `/text-to-video/${MODEL}`
const imagePath = `/image-to-video/${MODEL}`
const omniPath = `/omni-video/${OMNI}`

const prompt = textBlock("a lighthouse at dusk")
const promptItem = { type: "prompt", text: "a lighthouse at dusk" }
const image = (url: string, role: ImageRole | null): VideoBlock => ({ type: "image", role, url })
const film = { type: "video", url: "https://x.test/v.mp4" } as const
const filmItem = { type: "feature_video", url: "https://x.test/v.mp4" }
const sound: VideoBlock = { type: "audio", url: "https://x.test/a.mp3" }
const one = "https://x.test/1.png"
const two = "https://x.test/2.png"

const textAndFrames = "The model takes a text alone; or a first frame, a last frame"

const settings = { resolution: "720p", duration: 5 }
const options = { external_task_id: "vt_1", watermark_info: { enabled: false } }
const textBody = (more: object = {}) => ({
  prompt: "a lighthouse at dusk",
  settings: { ...settings, ...more },
  options
})
const mediaBody = (contents: ReadonlyArray<object>, more: object = {}) => ({
  contents,
  settings: { ...settings, ...more },
  options
})

const envelope = (data: unknown) => ({ code: 0, message: "SUCCEED", request_id: "r-1", data })
const row = (status: string, more: object = {}) =>
  envelope([{ id: UPSTREAM_ID, status, message: "", billing: [], ...more }])
const video = { type: "video", url: VIDEO_URL, duration: "5.041" }
const done = {
  _tag: "Succeeded",
  videoUrl: VIDEO_URL,
  usage: { completionTokens: null, outputSeconds: null }
} as const
const failed = (message: string): VideoStatus => ({ _tag: "Failed", code: "failed", message })

const errorOf = (code: number) => ({ code, message: `fault ${code}`, request_id: "r-1" })

const units = (...amounts: ReadonlyArray<unknown>) =>
  amounts.map((amount) => ({ charge_type: "unit", amount, package_type: "video" }))

/** What vendors report to bill, and the units that are read of it, in billionths. */
const bills: ReadonlyArray<readonly [billing: unknown, amountNano: bigint | null]> = [
  [units("3"), 3_000_000_000n],
  [units("2.5", "0.5"), 3_000_000_000n],
  [units("0.1234", 1), 1_123_400_000n],
  [[{ charge_type: "cash", amount: "9" }, ...units("3")], 3_000_000_000n],
  [[{ charge_type: "cash", amount: "9" }], null],
  [units("0"), 0n],
  [units("1000000000"), 1_000_000_000_000_000_000n],
  [units("1000000000", "1"), null],
  [units("1000000001"), null],
  [units("3", "-1"), null],
  [units("3", null), null],
  [units("0.00001"), null],
  [units("NaN"), null],
  [units({}), null],
  [[{ amount: "3" }, "unit", null], null],
  [null, null],
  ["3", null]
]

/** Codes and the HTTP status each stands for. */
const codes = [
  [1000, 401],
  [1004, 401],
  [1101, 402],
  [1103, 403],
  [1200, 400],
  [1201, 400],
  [1202, 403],
  [1203, 403],
  [1301, 400],
  [1302, 429],
  [1304, 429],
  [5000, 500],
  [5001, 503],
  [-1, 502],
  [1, 502]
] as const

const subject: VideoSubject = {
  protocol: "vp_d",
  dialect: plainBearer,
  model: MODEL,
  wires: [
    { says: "a text alone goes to the text mode", order: {}, path: textPath, body: textBody() },
    {
      says: "several texts are one prompt of as many lines",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path: textPath,
      body: { ...textBody(), prompt: "a lighthouse at dusk\nand at dawn" }
    },
    {
      says: "4K is spelt 4k, and length and ratio go out as ordered",
      order: { resolution: "4K", seconds: 15, ratio: "9:16" },
      path: textPath,
      body: textBody({ resolution: "4k", duration: 15, aspect_ratio: "9:16" })
    },
    {
      says: "sound on is native",
      order: { generateAudio: true },
      path: textPath,
      body: textBody({ audio: "native" })
    },
    {
      says: "sound off is off",
      order: { generateAudio: false },
      path: textPath,
      body: textBody({ audio: "off" })
    },
    {
      says: "a watermark goes out where it was said",
      order: { parameters: { watermark: true } },
      path: textPath,
      body: { ...textBody(), options: { ...options, watermark_info: { enabled: true } } }
    },
    {
      says: "another task's id is its client token",
      order: { taskId: "vt_2" },
      path: textPath,
      body: { ...textBody(), options: { ...options, external_task_id: "vt_2" } }
    },
    {
      says: "a lone image without a role is the first frame, and its own ratio decides",
      order: { blocks: [prompt, image(one, null)], ratio: "16:9" },
      path: imagePath,
      body: mediaBody([promptItem, { type: "first_frame", url: one }])
    },
    {
      says: "first and last frame go to the image mode",
      order: { blocks: [image(one, "first_frame"), image(two, "last_frame"), prompt] },
      path: imagePath,
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "last_frame", url: two }
      ])
    },
    {
      says: "an image without a prompt is the vendor's to refuse",
      order: { blocks: [image(one, "first_frame")] },
      path: imagePath,
      body: mediaBody([{ type: "first_frame", url: one }]),
      refusedWith: 400
    },
    {
      says: "a last frame alone is the vendor's to refuse",
      order: { blocks: [prompt, image(two, "last_frame")] },
      path: imagePath,
      body: mediaBody([promptItem, { type: "last_frame", url: two }]),
      refusedWith: 400
    },
    {
      says: "the mixed mode takes a text alone, and is told the usual ratio",
      order: { upstreamModel: OMNI },
      path: omniPath,
      body: mediaBody([promptItem], { aspect_ratio: "16:9" })
    },
    {
      says: "the mixed mode takes the ratio and the sound that are ordered",
      order: { upstreamModel: OMNI, ratio: "9:16", generateAudio: true },
      path: omniPath,
      body: mediaBody([promptItem], { aspect_ratio: "9:16", audio: "native" })
    },
    {
      says: "a lone image without a role is the first frame of the mixed mode, too",
      order: { upstreamModel: OMNI, blocks: [prompt, image(one, null)], ratio: "16:9" },
      path: omniPath,
      body: mediaBody([promptItem, { type: "first_frame", url: one }])
    },
    ...(["edit_video", "extend_video"] as const).map((role) => ({
      says: `a video with the role ${role} is the base, of one shot and without native sound`,
      order: { upstreamModel: OMNI, blocks: [prompt, image(one, null), { ...film, role }] },
      path: omniPath,
      body: mediaBody(
        [promptItem, { type: "refer_image", url: one }, { type: "base_video", url: film.url }],
        { audio: "off", multi_shot: false }
      )
    })),
    {
      says: "a model without several shots is not told of them beside a base video",
      order: { upstreamModel: "kling-o1", blocks: [prompt, { ...film, role: "edit_video" }] },
      path: "/omni-video/kling-o1",
      body: mediaBody([promptItem, { type: "base_video", url: film.url }])
    },
    {
      says: "frames between the first and the last one keep their order, on a model without a row",
      order: {
        upstreamModel: "kling-4.0",
        blocks: [
          prompt,
          image(one, "first_frame"),
          image(two, "middle_frame"),
          image(one, "middle_frame"),
          image(two, "last_frame")
        ]
      },
      path: "/image-to-video/kling-4.0",
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "middle_frame", url: two },
        { type: "middle_frame", url: one },
        { type: "last_frame", url: two }
      ])
    },
    {
      says: "first and last frame stay in the mixed mode",
      order: {
        upstreamModel: OMNI,
        blocks: [prompt, image(one, "first_frame"), image(two, "last_frame")]
      },
      path: omniPath,
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "last_frame", url: two }
      ])
    },
    {
      says: "a lone reference image stays one",
      order: {
        upstreamModel: OMNI,
        blocks: [prompt, image(one, "reference_image")],
        ratio: "9:16"
      },
      path: omniPath,
      body: mediaBody([promptItem, { type: "refer_image", url: one }], { aspect_ratio: "9:16" })
    },
    {
      says: "two images are references of the mixed mode, and it is told the usual ratio",
      order: { upstreamModel: OMNI, blocks: [prompt, image(one, null), image(two, null)] },
      path: omniPath,
      body: mediaBody(
        [promptItem, { type: "refer_image", url: one }, { type: "refer_image", url: two }],
        { aspect_ratio: "16:9" }
      )
    },
    {
      says: "a frame beside a reference stays a frame in the mixed mode",
      order: {
        upstreamModel: OMNI,
        blocks: [prompt, image(one, "first_frame"), image(two, "reference_image")],
        ratio: "9:16"
      },
      path: omniPath,
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "refer_image", url: two }
      ])
    },
    {
      says: "an image without a role beside a first frame is a reference",
      order: {
        upstreamModel: OMNI,
        blocks: [prompt, image(one, "first_frame"), image(two, null)]
      },
      path: omniPath,
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "refer_image", url: two }
      ])
    },
    {
      says: "a video goes to the mixed mode, without sound and without a ratio",
      order: { upstreamModel: OMNI, blocks: [prompt, film], ratio: "9:16" },
      path: omniPath,
      body: mediaBody([promptItem, filmItem], { audio: "off" })
    },
    {
      says: "sound that is ordered beside a video is the vendor's to refuse",
      order: { upstreamModel: OMNI, blocks: [prompt, film], generateAudio: true },
      path: omniPath,
      body: mediaBody([promptItem, filmItem], { audio: "native" }),
      refusedWith: 400
    },
    ...[true, false].map((multi_shot) => ({
      says: `multi_shot goes out as it was said: ${multi_shot}`,
      order: { parameters: { multi_shot } },
      path: textPath,
      body: textBody({ multi_shot })
    })),
    {
      says: "the turbo model always sounds, so sound that is ordered needs no word",
      order: { upstreamModel: "kling-3.0-turbo", generateAudio: true },
      path: "/text-to-video/kling-3.0-turbo",
      body: textBody()
    },
    {
      says: "the turbo model takes a first frame",
      order: { upstreamModel: "kling-3.0-turbo", blocks: [prompt, image(one, null)] },
      path: "/image-to-video/kling-3.0-turbo",
      body: mediaBody([promptItem, { type: "first_frame", url: one }])
    },
    {
      says: "the silent turbo model has no word for it",
      order: { upstreamModel: "kling-2.5-turbo", generateAudio: false },
      path: "/text-to-video/kling-2.5-turbo",
      body: textBody()
    },
    ...["kling-2.6", "kling-v2-6-cn", "kling-v3"].map((upstreamModel) => ({
      says: `${upstreamModel} takes both frames in the image mode`,
      order: {
        upstreamModel,
        blocks: [prompt, image(one, "first_frame"), image(two, "last_frame")]
      },
      path: `/image-to-video/${upstreamModel}`,
      body: mediaBody([
        promptItem,
        { type: "first_frame", url: one },
        { type: "last_frame", url: two }
      ])
    })),
    ...["kling-v3-omni", "kling-o1", "kling-video-o1"].map((upstreamModel) => ({
      says: `${upstreamModel} takes a text in the mixed mode`,
      order: { upstreamModel, ratio: "1:1" },
      path: `/omni-video/${upstreamModel}`,
      body: mediaBody([promptItem], { aspect_ratio: "1:1" })
    })),
    {
      says: "a model that nobody knows goes by its inputs: a lone reference is mixed",
      order: { upstreamModel: "k-9", blocks: [prompt, image(one, "reference_image")] },
      path: "/omni-video/k-9",
      body: mediaBody([promptItem, { type: "refer_image", url: one }], { aspect_ratio: "16:9" }),
      refusedWith: 403
    },
    {
      says: "a model that nobody knows goes by its inputs: a lone image is a frame",
      order: { upstreamModel: "k-9", blocks: [prompt, image(one, null)] },
      path: "/image-to-video/k-9",
      body: mediaBody([promptItem, { type: "first_frame", url: one }])
    },
    {
      says: "a model that nobody knows goes by its inputs: beside a video, an image is a reference",
      order: { upstreamModel: "k-9", blocks: [prompt, image(one, null), film, sound] },
      path: "/omni-video/k-9",
      body: mediaBody(
        [
          promptItem,
          { type: "refer_image", url: one },
          filmItem,
          { type: "refer_audio", url: "https://x.test/a.mp3" }
        ],
        { audio: "off" }
      ),
      refusedWith: 403
    }
  ],
  unsent: [
    ...(
      [
        ["a reference image", MODEL, [prompt, image(one, "reference_image")], textAndFrames],
        ["two images", MODEL, [prompt, image(one, null), image(two, null)], textAndFrames],
        [
          "an image without a role beside a first frame",
          MODEL,
          [prompt, image(one, "first_frame"), image(two, null)],
          textAndFrames
        ],
        ["a video", "kling-v3-cn", [prompt, film], textAndFrames],
        ["a sound", MODEL, [prompt, sound], textAndFrames],
        [
          "a last frame",
          "kling-v3-turbo",
          [prompt, image(one, "first_frame"), image(two, "last_frame")],
          "The model takes a text alone; or a first frame"
        ],
        [
          "a sound in the mixed mode",
          OMNI,
          [prompt, sound],
          "The model takes a first frame, a last frame, up to 7 reference images, a reference video; " +
            "or up to 4 reference images, a video to edit; or up to 4 reference images, a video to extend"
        ],
        [
          "a frame beside a video to edit",
          OMNI,
          [prompt, image(one, "first_frame"), { ...film, role: "edit_video" }],
          "The model takes a first frame, a last frame, up to 7 reference images, a reference video; " +
            "or up to 4 reference images, a video to edit; or up to 4 reference images, a video to extend"
        ]
      ] as const
    ).map(([says, upstreamModel, blocks, takes]) => ({
      says: `${says} for ${upstreamModel}`,
      order: { upstreamModel, blocks },
      body: { code: 1201, message: `Invalid value: contents. ${takes}` }
    })),
    ...(
      [
        ["kling-3.0-turbo", false, "The model always makes sound"],
        ["kling-2.5-turbo", true, "The model makes no sound"],
        ["kling-o1", true, "The model makes no sound"]
      ] as const
    ).map(([upstreamModel, generateAudio, why]) => ({
      says: `sound ${generateAudio ? "on" : "off"} for ${upstreamModel}`,
      order: { upstreamModel, generateAudio },
      body: { code: 1201, message: `Invalid value: settings.audio. ${why}` }
    }))
  ],
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const root = base.replace(/\/+$/, "")
    return { base, submit: `${root}${textPath}`, poll: `${root}/tasks?task_ids=901%2Fa+b` }
  }),
  submitted: envelope({ id: UPSTREAM_ID, status: "submitted" }),
  submits: [
    ...codes.map(([code, effectiveStatus]) => ({
      says: `code ${code} in an HTTP 200 is refused as ${effectiveStatus}`,
      reply: { body: errorOf(code) },
      failure: refused(200, errorOf(code), { effectiveStatus, message: `fault ${code}` })
    })),
    {
      says: "code 5002 in an HTTP 200 is refused as 504",
      reply: { body: errorOf(5002) },
      failure: refused(200, errorOf(5002), { effectiveStatus: 504, message: "fault 5002" })
    },
    {
      says: "an HTTP 504 is refused as such whatever its code says",
      reply: { status: 504, body: errorOf(5000) },
      failure: refused(504, errorOf(5000), { message: "fault 5000" })
    },
    {
      says: "an empty package is told from a rate limit by its code",
      reply: { status: 429, body: errorOf(1102) },
      failure: refused(429, errorOf(1102), { effectiveStatus: 402, message: "fault 1102" })
    },
    {
      says: "a code without a message is refused all the same",
      reply: { body: { code: 1301, message: null } },
      failure: refused(200, { code: 1301, message: null }, { effectiveStatus: 400 })
    },
    ...[
      { message: "SUCCEED", data: { id: UPSTREAM_ID } },
      { code: "0", data: { id: UPSTREAM_ID } },
      envelope({ id: "" }),
      envelope({ id: 901930004609634 }),
      envelope([{ id: UPSTREAM_ID }]),
      envelope(null)
    ].map((body) => ({
      says: `${JSON.stringify(body)} names no task, so the job may be lost`,
      reply: { body },
      failure: lost("broken_answer", 200)
    }))
  ],
  polls: [
    ...["submitted", "processing", "Succeeded", "hasOwnProperty", ""].map((status) => ({
      says: `the status ${JSON.stringify(status)} is in the works`,
      body: row(status, { outputs: null }),
      status: { _tag: "Processing" } as const
    })),
    {
      says: "a finished task shows its video",
      body: row("succeeded", { outputs: [video] }),
      status: done
    },
    {
      says: "the first usable video counts, and usage of any kind does not",
      body: row("succeeded", {
        outputs: [
          { type: "image", url: "https://files.test/cover.png" },
          { type: "video", url: null },
          { type: "video", url: "" },
          "video",
          video,
          { type: "video", url: "https://files.test/second.mp4" }
        ],
        usage: { completion_tokens: 7 }
      }),
      status: done
    },
    ...bills.map(([billing, amountNano]) => ({
      says: `the bill ${JSON.stringify(billing)} is of ${amountNano ?? "unknown"} nano-units`,
      body: row("succeeded", { outputs: [video], billing }),
      status: {
        ...done,
        usage: {
          ...done.usage,
          ...(amountNano === null ? {} : { bill: { amountNano, unit: "unit" as const } })
        }
      }
    })),
    {
      says: "who ordered a mark gets the marked file",
      isMarked: true,
      body: row("succeeded", { outputs: [{ ...video, watermark_url: MARKED_URL }] }),
      status: { ...done, videoUrl: MARKED_URL }
    },
    {
      says: "who ordered no mark gets the plain file",
      body: row("succeeded", { outputs: [{ ...video, watermark_url: MARKED_URL }] }),
      status: done
    },
    ...[{}, { watermark_url: "" }, { watermark_url: null }, { watermark_url: 7 }].map((field) => ({
      says: `a mark that is shown as ${JSON.stringify(field)} leaves the plain file`,
      isMarked: true,
      body: row("succeeded", { outputs: [{ ...video, ...field }] }),
      status: done
    })),
    {
      says: "a single object is read like a list of one",
      body: envelope({ id: UPSTREAM_ID, status: "succeeded", outputs: [video] }),
      status: done
    },
    {
      says: "the row of the task is found among others",
      body: envelope([
        null,
        { id: "other", status: "failed" },
        { id: UPSTREAM_ID, status: "succeeded", outputs: [video] }
      ]),
      status: done
    },
    {
      says: "a failed task tells its message",
      body: row("failed", { message: "risk control" }),
      status: failed("risk control")
    },
    ...["", null, undefined, { text: "no" }].map((message) => ({
      says: `a failed task with the message ${JSON.stringify(message)} has failed`,
      body: row("failed", { message, outputs: "none" }),
      status: failed("The vendor failed to make the video")
    })),
    { says: "no rows are an unknown task", body: envelope([]), status: { _tag: "Unknown" } },
    { says: "no data is an unknown task", body: envelope(null), status: { _tag: "Unknown" } }
  ],
  brokenPolls: [
    { says: "a row for another id", body: envelope([{ id: "other", status: "failed" }]) },
    { says: "an object for another id", body: envelope({ id: "other", status: "succeeded" }) },
    { says: "a row that is a text", body: envelope(["oops"]) },
    { says: "a row without a status", body: envelope([{ id: UPSTREAM_ID }]) },
    { says: "a success without outputs", body: row("succeeded") },
    {
      says: "a success without a video",
      body: row("succeeded", { outputs: [{ type: "image", url: "https://x.test" }] })
    },
    { says: "no code", body: { data: [{ id: UPSTREAM_ID, status: "failed" }] } },
    { says: "a code that is no whole number", body: { code: "0", data: [] } }
  ],
  failedWith: (message) => row("failed", { message })
}

/** What the vendor makes of it depends on the media beside it. */
const shotsOfTheMixedMode = [true, false].map((multi_shot) => ({
  says: `multi_shot goes out to the mixed mode as it was said: ${multi_shot}`,
  order: { upstreamModel: OMNI, parameters: { multi_shot } },
  path: omniPath,
  body: mediaBody([promptItem], { aspect_ratio: "16:9", multi_shot })
}))

videoAdapterSuite({ ...subject, wires: [...subject.wires, ...shotsOfTheMixedMode] })

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "failed", "internal error"],
    ["sim:moderate-output", "failed", "risk control"],
    ["sim:cancel", "failed", "the task was cancelled"],
    ["sim:expire", "failed", "the task took too long"]
  ],
  usage: {
    completionTokens: null,
    outputSeconds: null,
    bill: { amountNano: 3_000_000_000n, unit: "unit" }
  }
})
