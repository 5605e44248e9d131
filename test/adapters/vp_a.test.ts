import type { ImageRole } from "../../src/domain/video/VideoBody.ts"
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import type { VideoStatus } from "../../src/services/ProtocolAdapter.ts"
import { lost, refused } from "./failures.ts"
import { textBlock } from "./support.ts"
import { UPSTREAM_ID, type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const path = "/api/v3/contents/generations/tasks"
const VIDEO_URL = "https://files.test/o.mp4?Expires=1"

const prompt = textBlock("a lighthouse at dusk")
const image = (url: string, role: ImageRole | null = null) =>
  ({ type: "image", role, url }) as const
const wireImage = (url: string, role: string) => ({ type: "image_url", role, image_url: { url } })
const bareImage = (url: string) => ({ type: "image_url", image_url: { url } })

const content = (...media: ReadonlyArray<object>) => ({
  model: "m-1",
  content: [prompt, ...media],
  duration: 5,
  resolution: "720p",
  watermark: false
})

const withMedia = (
  says: string,
  blocks: ReadonlyArray<VideoBlock>,
  wire: ReadonlyArray<object>
) => ({
  says,
  order: { blocks: [prompt, ...blocks] },
  path,
  body: content(...wire)
})

/** Pictures without a role, on the vendor's own models. */
const onModel = (
  upstreamModel: string,
  says: string,
  blocks: ReadonlyArray<VideoBlock>,
  wire: ReadonlyArray<object>,
  refusedWith?: number
) => ({
  says: `${upstreamModel}: ${says}`,
  order: { upstreamModel, blocks: [prompt, ...blocks] },
  path,
  body: { ...content(...wire), model: upstreamModel },
  ...(refusedWith === undefined ? {} : { refusedWith })
})

const [one, two] = ["https://x.test/1.png", "https://x.test/2.png"] as const
const sound = { type: "audio", url: "https://x.test/a.mp3" } as const
const film = { type: "video", url: "https://x.test/v.mp4" } as const
const wireSound = { type: "audio_url", role: "reference_audio", audio_url: { url: sound.url } }
const wireFilm = { type: "video_url", role: "reference_video", video_url: { url: film.url } }

const oldModels = [
  "doubao-seedance-1-0-pro-250528",
  "doubao-seedance-1-0-pro-fast-251015",
  "doubao-seedance-1-5-pro-251215",
  "seedance-1.5-pro"
]
const newModels = [
  "m-1",
  "doubao-seedance-2-0-260128",
  "dreamina-seedance-2-0-fast-260128-cn",
  "bytedance/seedance-2.0-mini",
  "seedance-2-5-pro"
]

const rolesUnsaid = [
  ...[...oldModels, ...newModels].map((model) =>
    onModel(model, "a lone image has no role", [image(one)], [bareImage(one)])
  ),
  ...oldModels.map((model) =>
    onModel(
      model,
      "of several images none has a role",
      [image(one), image(two)],
      [bareImage(one), bareImage(two)],
      400
    )
  ),
  ...newModels.flatMap((model) => [
    onModel(
      model,
      "several images are references",
      [image(one), image(two)],
      [wireImage(one, "reference_image"), wireImage(two, "reference_image")]
    ),
    onModel(
      model,
      "an image beside a reference video is a reference",
      [image(one), film],
      [wireImage(one, "reference_image"), wireFilm]
    ),
    onModel(
      model,
      "an image beside a reference sound is a reference",
      [image(one), sound],
      [wireImage(one, "reference_image"), wireSound]
    ),
    onModel(
      model,
      "an image beside a reference image is one as well",
      [image(one), image(two, "reference_image")],
      [wireImage(one, "reference_image"), wireImage(two, "reference_image")]
    ),
    onModel(
      model,
      "an image beside a last frame has no role",
      [image(one), image(two, "last_frame")],
      [bareImage(one), wireImage(two, "last_frame")]
    )
  ]),
  onModel(
    "doubao-seedance-1-5-pro-251215",
    "a reference image goes out as one, and the vendor answers",
    [image(one, "reference_image")],
    [wireImage(one, "reference_image")],
    400
  )
]

const succeeded = (more: object) => ({
  id: UPSTREAM_ID,
  status: "succeeded",
  content: { video_url: VIDEO_URL },
  ...more
})
const done = (
  completionTokens: bigint | null,
  outputSeconds: number | null = null
): VideoStatus => ({
  _tag: "Succeeded",
  videoUrl: VIDEO_URL,
  usage: { completionTokens, outputSeconds }
})
const failed = (code: string, message: string): VideoStatus => ({ _tag: "Failed", code, message })

const usage = (completion_tokens: unknown) => succeeded({ usage: { completion_tokens } })

/** What no JSON writer would write is given as text. */
const withTokens = (text: string) => JSON.stringify(usage("TOKENS")).replace('"TOKENS"', text)

const refusedInOk = { error: { code: "InvalidParameter", message: "no such ratio" } }

const subject: VideoSubject = {
  protocol: "vp_a",
  dialect: plainBearer,
  model: "m-1",
  wires: [
    { says: "a text alone is one block", order: {}, path, body: content() },
    {
      says: "texts stay blocks of their own, in their order",
      order: { blocks: [prompt, textBlock("and at dawn")] },
      path,
      body: content(textBlock("and at dawn"))
    },
    withMedia(
      "an image is a reference by its role",
      [image("https://x.test/1.png", "reference_image")],
      [wireImage("https://x.test/1.png", "reference_image")]
    ),
    withMedia(
      "two images keep their order",
      [
        image("https://x.test/1.png", "reference_image"),
        image("https://x.test/2.png", "reference_image")
      ],
      [
        wireImage("https://x.test/1.png", "reference_image"),
        wireImage("https://x.test/2.png", "reference_image")
      ]
    ),
    withMedia(
      "first and last frame keep their roles",
      [image("https://x.test/a.png", "first_frame"), image("https://x.test/b.png", "last_frame")],
      [
        wireImage("https://x.test/a.png", "first_frame"),
        wireImage("https://x.test/b.png", "last_frame")
      ]
    ),
    withMedia(
      "audio and video are references beside the image",
      [
        image("https://x.test/1.png", "reference_image"),
        { type: "audio", url: "https://x.test/a.mp3" },
        { type: "video", url: "https://x.test/v.mp4" }
      ],
      [
        wireImage("https://x.test/1.png", "reference_image"),
        { type: "audio_url", role: "reference_audio", audio_url: { url: "https://x.test/a.mp3" } },
        { type: "video_url", role: "reference_video", video_url: { url: "https://x.test/v.mp4" } }
      ]
    ),
    {
      says: "an image without any text is an order",
      order: { blocks: [image("https://x.test/1.png", "first_frame")] },
      path,
      body: { ...content(), content: [wireImage("https://x.test/1.png", "first_frame")] }
    },
    {
      says: "4K is spelt 4k, and length and ratio go out as ordered",
      order: { resolution: "4K", seconds: 15, ratio: "9:16" },
      path,
      body: { ...content(), duration: 15, resolution: "4k", ratio: "9:16" }
    },
    {
      says: "480p and 1080p stay as they are",
      order: { resolution: "1080p" },
      path,
      body: { ...content(), resolution: "1080p" }
    },
    {
      says: "the sound switch goes out when on",
      order: { generateAudio: true },
      path,
      body: { ...content(), generate_audio: true }
    },
    {
      says: "the sound switch goes out when off",
      order: { generateAudio: false },
      path,
      body: { ...content(), generate_audio: false }
    },
    {
      says: "seed, fixed camera and watermark go out where they were said",
      order: { parameters: { seed: -1, camera_fixed: false, watermark: true } },
      path,
      body: { ...content(), seed: -1, camera_fixed: false, watermark: true }
    },
    {
      says: "a video to extend is a reference video of the task extend, in its own ratio",
      order: {
        upstreamModel: "seedance-2-5-pro",
        blocks: [prompt, { ...film, role: "extend_video" }],
        seconds: 8
      },
      path,
      body: {
        ...content(wireFilm),
        model: "seedance-2-5-pro",
        duration: 8,
        ratio: "adaptive",
        omni_reference_task_type: "extend"
      }
    },
    {
      says: "a video to edit keeps its length as well",
      order: {
        upstreamModel: "seedance-2-5-pro",
        blocks: [prompt, { ...film, role: "edit_video" }],
        parameters: { omni_reference_task_type: "edit" },
        ratio: "adaptive"
      },
      path,
      body: {
        ...content(wireFilm),
        model: "seedance-2-5-pro",
        duration: -1,
        ratio: "adaptive",
        omni_reference_task_type: "edit"
      }
    },
    ...rolesUnsaid,
    {
      says: "audio without a picture is the vendor's to refuse",
      order: { blocks: [prompt, { type: "audio", url: "https://x.test/a.mp3" }] },
      path,
      body: content({
        type: "audio_url",
        role: "reference_audio",
        audio_url: { url: "https://x.test/a.mp3" }
      }),
      refusedWith: 400
    }
  ],
  bases: ["", "/", "///", "/api/v3", "/api/v3/", "/v1", "/v1//", "/relay", "/relay/v1"].map(
    (base) => {
      const root = base.replace(/\/+$/, "")
      const tasks = `${root}${/v[13]$/.test(root) ? "" : "/api/v3"}/contents/generations/tasks`
      return { base, submit: tasks, poll: `${tasks}/901%2Fa%20b` }
    }
  ),
  submitted: { id: UPSTREAM_ID },
  submits: [
    {
      says: "an error in an HTTP 200 is a refusal",
      reply: { body: refusedInOk },
      failure: refused(200, refusedInOk, { effectiveStatus: 502, message: "no such ratio" })
    },
    ...["", null, 17].map((id) => ({
      says: `the id ${JSON.stringify(id)} is none, so the job may be lost`,
      reply: { body: { id, error: null } },
      failure: lost("broken_answer", 200)
    }))
  ],
  polls: [
    ...["queued", "running", "pending", "processing", "SUCCEEDED", "toString", ""].map(
      (status) => ({
        says: `the status ${JSON.stringify(status)} is in the works`,
        body: { id: UPSTREAM_ID, status, error: null, content: null },
        status: { _tag: "Processing" } as const
      })
    ),
    {
      says: "usage and length of a finished task are read",
      body: succeeded({ usage: { completion_tokens: 108900, total_tokens: 1 }, duration: 5 }),
      status: done(108900n, 5)
    },
    { says: "no usage is none", body: succeeded({}), status: done(null) },
    { says: "a usage of null is none", body: succeeded({ usage: null }), status: done(null) },
    { says: "a usage that is a number is none", body: succeeded({ usage: 7 }), status: done(null) },
    ...["108900", "0108900"].map((tokens) => ({
      says: `completion_tokens ${JSON.stringify(tokens)} are a number in a text`,
      body: usage(tokens),
      status: done(108900n)
    })),
    {
      says: "the largest count that is exact is read from a text",
      body: usage(`${Number.MAX_SAFE_INTEGER}`),
      status: done(9007199254740991n)
    },
    {
      says: "fields nobody knows are harmless, wherever they stand",
      body: {
        ...succeeded({ usage: { completion_tokens: 7, tool_usage: { web_search: null } } }),
        content: { video_url: VIDEO_URL, last_frame_url: null, extra: [{}] },
        error: null,
        draft_task_id: { deep: [1] }
      },
      status: done(7n)
    },
    ...[
      0,
      -5,
      1.5,
      null,
      true,
      2 ** 53,
      "0",
      "-5",
      "1.5",
      "1e3",
      "0x10",
      "",
      " 7",
      "9007199254740992",
      "9007199254740993"
    ].map((tokens) => ({
      says: `completion_tokens ${JSON.stringify(tokens)} are none`,
      body: usage(tokens),
      status: done(null)
    })),
    { says: "completion_tokens 1e309 are none", body: withTokens("1e309"), status: done(null) },
    { says: "completion_tokens 1e3 are a thousand", body: withTokens("1e3"), status: done(1000n) },
    ...[0, -1, 4.5, "5", 3601, null].map((duration) => ({
      says: `a duration of ${JSON.stringify(duration)} is none`,
      body: succeeded({ duration }),
      status: done(null, null)
    })),
    {
      says: "a failed task tells its code and message",
      body: { status: "failed", error: { code: "OutputVideoSensitive", message: "not this" } },
      status: failed("OutputVideoSensitive", "not this")
    },
    {
      says: "a failed task fails whatever its other fields hold",
      body: { status: "failed", error: { code: 1301, message: null }, content: [], usage: [] },
      status: failed("1301", "The vendor failed to make the video")
    },
    {
      says: "an error that is a bare text is the message",
      body: { status: "failed", error: "out of luck" },
      status: failed("failed", "out of luck")
    },
    ...["cancelled", "canceled"].map((status) => ({
      says: `a task that is ${status} has failed as cancelled`,
      body: { status, error: null },
      status: failed("cancelled", "The vendor cancelled the task")
    })),
    {
      says: "an expired task has failed as expired",
      body: { status: "expired" },
      status: failed("expired", "The task expired at the vendor")
    }
  ],
  brokenPolls: [
    { says: "no status", body: { id: UPSTREAM_ID } },
    { says: "a status that is no text", body: { status: 3 } },
    { says: "a success without content", body: { status: "succeeded", content: null } },
    { says: "a success with an empty address", body: succeeded({ content: { video_url: "" } }) },
    { says: "a success with a wrong address", body: succeeded({ content: { video_url: 7 } }) }
  ],
  cancel: {
    request: `DELETE ${path}/901%2Fa%20b`,
    answers: [
      { says: "a success", reply: { body: {} }, answer: { _tag: "Requested" } },
      {
        says: "a task that runs",
        reply: {
          status: 409,
          body: { error: { code: "InvalidAction.RunningTaskDeletion", message: "It runs." } }
        },
        answer: { _tag: "Refused", message: "It runs." }
      }
    ]
  },
  failedWith: (message) => ({ status: "failed", error: { code: "x", message } })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "InternalServiceError", "The service met an internal error."],
    [
      "sim:moderate-output",
      "OutputVideoSensitiveContentDetected",
      "The request failed because the output video may contain sensitive information."
    ],
    ["sim:cancel", "cancelled", "The vendor cancelled the task"],
    ["sim:expire", "expired", "The task expired at the vendor"]
  ],
  usage: { completionTokens: 108900n, outputSeconds: 5, resolution: "720p", sound: true }
})
