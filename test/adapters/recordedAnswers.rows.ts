/**
 * What vendors were seen to answer, by other people's clients, tests, issues and by the vendors' own
 * pages. The shapes, codes and statuses are theirs, as each source has them; every text and number
 * is made up. `source` names where a shape was seen.
 */
import type { ImageProtocol } from "../../src/domain/image/ImageProtocol.ts"
import type { KnownRefusal } from "../../src/domain/VendorOutcome.ts"
import type { VideoProtocol } from "../../src/domain/video/VideoProtocol.ts"

interface Recorded {
  readonly says: string
  readonly source: string
  /** 200 when left out. */
  readonly status?: number
  readonly body: unknown
}

interface OfVideo extends Recorded {
  readonly protocol: VideoProtocol
}

interface OfImages extends Recorded {
  readonly protocol: ImageProtocol
}

export interface SubmitRow extends OfVideo {
  readonly id: string
}

export interface PollRow extends OfVideo {
  readonly isMarked?: true
  /** What is read of it, as far as it matters. */
  readonly means: Readonly<Record<string, unknown>>
}

export interface ImagesRow extends OfImages {
  readonly means: Readonly<Record<string, unknown>>
}

/** An order that was not taken. */
export type RefusalRow = (OfVideo | OfImages) & {
  readonly upstreamModel: string
  readonly means:
    | {
        readonly effectiveStatus: number
        /** Null where the vendor may have begun. */
        readonly proof: KnownRefusal | null
        readonly isVerdict?: true
      }
    | "lost"
  /** Status of what the client is told, and what must not be in it. */
  readonly told: number
  readonly hides?: ReadonlyArray<string>
}

const page = "the vendor's page of error codes"
const ark = "public code of volcengine-python-sdk and vercel/ai packages/bytedance"
const tanstack = "TanStack/ai packages/ai-byteplus"
const newApi = "QuantumNous/new-api relay/channel/task"
const comfy = "ComfyUI comfy_api_nodes"

const FILE = "https://files.test/o.mp4?Expires=1"
const MARKED = "https://files.test/o-marked.mp4?Expires=1"
const PICTURE = "https://files.test/1.png?Expires=1"
const ACCOUNT = "2100987654"
const SITE = "help.vendor.test"

const film = "seedance-1-0-pro-250528"
const motion = "viduq3-pro"
const clip = "kling-3.0"
const scene = "wan2.6-r2v"
const paint = "seedream-4-5-251128"
const poster = "wan2.6-t2i"

export const submits: ReadonlyArray<SubmitRow> = [
  {
    protocol: "vp_a",
    says: "an id alone",
    source: ark,
    body: { id: "cgt-20260701093000-k3q7z" },
    id: "cgt-20260701093000-k3q7z"
  },
  {
    protocol: "vp_a",
    says: "an id beside a second one and the limits of a safe mode",
    source: `${newApi}/doubao`,
    body: { id: "cgt-20260701093000-k3q7z", task_id: null, safety_identifier: null, extra: {} },
    id: "cgt-20260701093000-k3q7z"
  },
  {
    protocol: "vp_d",
    says: "a row, with its times and no bill yet",
    source: "kling.ai document-api pages",
    body: {
      code: 0,
      message: "SUCCEED",
      request_id: "d0a3",
      data: {
        id: "901930004609634393",
        external_id: "vt_1",
        status: "submitted",
        message: "",
        billing: null,
        create_time: 1783065388949,
        update_time: 1783065388949
      }
    },
    id: "901930004609634393"
  },
  {
    protocol: "vp_e",
    says: "a task with its credits and what was ordered",
    source: `${newApi}/vidu`,
    body: {
      task_id: "809387572068364288",
      state: "created",
      model: motion,
      style: "",
      prompt: "a lighthouse",
      images: null,
      videos: null,
      duration: 5,
      seed: 66,
      resolution: "720p",
      bgm: false,
      payload: "vt_1",
      credits: 20,
      cus_priority: 0,
      created_at: "2026-07-01T09:30:00.002012956Z"
    },
    id: "809387572068364288"
  },
  {
    protocol: "vp_f",
    says: "a task beside a code and a message that are empty",
    source: "dashscope-sdk-python 1.26.2",
    body: {
      status_code: 200,
      request_id: "4909100c",
      code: "",
      message: "",
      output: { task_id: "0385dc79-5ff8", task_status: "PENDING", video_url: "" },
      usage: null
    },
    id: "0385dc79-5ff8"
  }
]

const cgt = { id: "cgt-1", model: film, created_at: 1783065388, updated_at: 1783065460 }
const finished = { ...cgt, status: "succeeded", error: null, content: { video_url: FILE } }
const kling = (row: object) => ({ code: 0, message: "SUCCEED", request_id: "r", data: [row] })
const klingRow = {
  id: "cgt-1",
  message: "",
  create_time: 1783065388949,
  update_time: 1783065460000
}
const vidu = { id: "cgt-1", err_code: "", payload: "vt_1", bgm: false, off_peak: false }
const times = { submit_time: "2026-07-01 09:30:00.100", end_time: "2026-07-01 09:31:10.200" }

const succeeded = (usage: object = {}) => ({ _tag: "Succeeded", videoUrl: FILE, usage })
const processing = { _tag: "Processing", strangeWord: undefined }

export const polls: ReadonlyArray<PollRow> = [
  {
    protocol: "vp_a",
    says: "null for everything that is not known yet",
    source: `${ark}, which writes null for each`,
    body: {
      ...cgt,
      status: "queued",
      error: null,
      content: null,
      usage: null,
      seed: null,
      resolution: null,
      ratio: null,
      duration: null,
      frames: null,
      framespersecond: null,
      draft_task_id: null,
      service_tier: "default",
      execution_expires_after: 172800
    },
    means: processing
  },
  {
    protocol: "vp_a",
    says: "counts, what was rendered, and a last frame",
    source: "vercel/ai packages/bytedance, its fixture of a finished task",
    body: {
      ...finished,
      content: { video_url: FILE, last_frame_url: PICTURE, file_url: null },
      usage: { completion_tokens: 108900, total_tokens: 108900, tool_usage: { web_search: 0 } },
      seed: 17,
      resolution: "720p",
      ratio: "16:9",
      duration: 5,
      framespersecond: 24,
      generate_audio: true,
      draft: false,
      tools: [],
      safety_identifier: null,
      priority: 0
    },
    means: succeeded({ completionTokens: 108900n, outputSeconds: 5 })
  },
  {
    protocol: "vp_a",
    says: "counts as texts",
    source: `${tanstack}, which reads both`,
    body: { ...finished, usage: { completion_tokens: "108900", total_tokens: "108900" } },
    means: succeeded({ completionTokens: 108900n })
  },
  {
    protocol: "vp_a",
    says: "an input that is told back in any form",
    source: `${newApi}/doubao`,
    body: { ...finished, input: { anything: [1, null] }, usage: { completion_tokens: 50638 } },
    means: succeeded({ completionTokens: 50638n })
  },
  {
    protocol: "vp_a",
    says: "cancelled, with one l",
    source: `${newApi}/doubao`,
    body: { ...cgt, status: "canceled", error: null, content: null },
    means: { _tag: "Failed" }
  },
  {
    protocol: "vp_a",
    says: "moderated at its end",
    source: page,
    body: {
      ...cgt,
      status: "failed",
      content: null,
      usage: null,
      error: {
        code: "OutputVideoSensitiveContentDetected.PolicyViolation",
        message: "The video that came out may break a rule. Request id: 0217"
      }
    },
    means: { _tag: "Failed", code: "OutputVideoSensitiveContentDetected.PolicyViolation" }
  },
  {
    protocol: "vp_d",
    says: "in the works, with an empty bill",
    source: "kling.ai document-api pages",
    body: kling({ ...klingRow, status: "processing", billing: [], outputs: null }),
    means: processing
  },
  {
    protocol: "vp_d",
    says: "a bill, and a length as a decimal text",
    source: "vercel/ai packages/klingai",
    body: kling({
      ...klingRow,
      status: "succeeded",
      external_id: "vt_1",
      final_unit_deduction: "3",
      billing: [{ charge_type: "unit", amount: "3", package_type: "video" }],
      outputs: [
        { type: "image", url: PICTURE },
        { type: "video", id: "o1", url: FILE, watermark_url: null, duration: "5.041" }
      ]
    }),
    means: succeeded()
  },
  {
    protocol: "vp_d",
    says: "an object where others have a list",
    source: newApi,
    body: {
      ...kling({}),
      data: { ...klingRow, status: "succeeded", outputs: [{ type: "video", url: FILE }] }
    },
    means: succeeded()
  },
  {
    protocol: "vp_d",
    says: "a marked file beside the other",
    source: "kling.ai document-api pages",
    isMarked: true,
    body: kling({
      ...klingRow,
      status: "succeeded",
      outputs: [{ type: "video", url: FILE, watermark_url: MARKED, duration: "5.041" }]
    }),
    means: { _tag: "Succeeded", videoUrl: MARKED }
  },
  {
    protocol: "vp_d",
    says: "a marked file that nobody ordered",
    source: "kling.ai document-api pages",
    body: kling({
      ...klingRow,
      status: "succeeded",
      outputs: [{ type: "video", url: FILE, watermark_url: MARKED }]
    }),
    means: succeeded()
  },
  {
    protocol: "vp_d",
    says: "refused at its end, with a bill of nothing",
    source: "vercel/ai packages/klingai",
    body: kling({
      ...klingRow,
      status: "failed",
      message: "a risk was found",
      outputs: [],
      billing: [{ charge_type: "unit", amount: "0" }]
    }),
    means: { _tag: "Failed", message: "a risk was found" }
  },
  {
    protocol: "vp_d",
    says: "no row, as for a task that is not there",
    source: newApi,
    body: { code: 0, message: "SUCCEED", request_id: "r", data: [] },
    means: { _tag: "Unknown" }
  },
  {
    protocol: "vp_e",
    says: "in a queue, with its credits and no creations",
    source: "platform.vidu.com, get-generation",
    body: { ...vidu, state: "queueing", credits: 20, creations: null, progress: 0 },
    means: processing
  },
  {
    protocol: "vp_e",
    says: "credits, and a moderation that found nothing",
    source: `${newApi}/vidu`,
    body: {
      ...vidu,
      state: "success",
      credits: 20,
      creations: [
        {
          id: "c1",
          url: FILE,
          cover_url: PICTURE,
          watermarked_url: "",
          moderation_url: null,
          video: { duration: 5, fps: 24 }
        }
      ]
    },
    means: succeeded()
  },
  {
    protocol: "vp_e",
    says: "a marked file beside the other",
    source: "platform.vidu.com, get-generation",
    isMarked: true,
    body: {
      ...vidu,
      state: "success",
      credits: 20,
      creations: [{ id: "c1", url: FILE, cover_url: PICTURE, watermarked_url: MARKED }]
    },
    means: { _tag: "Succeeded", videoUrl: MARKED }
  },
  {
    protocol: "vp_e",
    says: "refused at its end, for no credits",
    source: "platform.vidu.com, error-code",
    body: {
      ...vidu,
      state: "failed",
      credits: 0,
      creations: [],
      err_code: "CreationPolicyViolation"
    },
    means: { _tag: "Failed", code: "CreationPolicyViolation" }
  },
  {
    protocol: "vp_f",
    says: "seconds and size of 2.6",
    source: "vercel/ai packages/alibaba, its test",
    body: {
      request_id: "r",
      output: {
        task_id: "cgt-1",
        task_status: "SUCCEEDED",
        ...times,
        orig_prompt: "x",
        video_url: FILE,
        actual_prompt: null
      },
      usage: {
        duration: 5,
        input_video_duration: 0,
        output_video_duration: 5,
        SR: 720,
        size: "1280*720",
        video_count: 1
      }
    },
    means: succeeded({ outputSeconds: 5 })
  },
  {
    protocol: "vp_f",
    says: "seconds of input beside those of the video",
    source: "vercel/ai packages/alibaba, alibaba-video-model.ts",
    body: {
      request_id: "r",
      output: { task_id: "cgt-1", task_status: "SUCCEEDED", ...times, video_url: FILE },
      usage: {
        duration: 9.0,
        input_video_duration: 4.0,
        output_video_duration: 5.0,
        fps: 30,
        SR: 1080,
        ratio: "16:9",
        video_count: 1
      }
    },
    means: succeeded({ outputSeconds: 5 })
  },
  {
    protocol: "vp_f",
    says: "no usage, and a prompt that was rewritten",
    source: "dashscope-sdk-python 1.26.2",
    body: {
      status_code: 200,
      request_id: "r",
      code: null,
      message: "",
      output: {
        task_id: "cgt-1",
        task_status: "SUCCEEDED",
        ...times,
        video_url: FILE,
        actual_prompt: "a tall lighthouse",
        check_audio: null
      },
      usage: null
    },
    means: succeeded({ outputSeconds: null })
  },
  {
    protocol: "vp_f",
    says: "moderated at its end",
    source: "alibabacloud.com model-studio, error-code",
    body: {
      request_id: "r",
      output: {
        task_id: "cgt-1",
        task_status: "FAILED",
        ...times,
        code: "DataInspectionFailed",
        message: "What came out may not be shown."
      }
    },
    means: { _tag: "Failed", code: "DataInspectionFailed" }
  },
  {
    protocol: "vp_f",
    says: "a task that is older than a day",
    source: "dashscope-sdk-python 1.26.2",
    body: { request_id: "r", output: { task_id: "cgt-1", task_status: "UNKNOWN" } },
    means: { _tag: "Unknown" }
  }
]

export const drawn: ReadonlyArray<ImagesRow> = [
  {
    protocol: "ip_a",
    says: "an image with its size, and counts of tokens",
    source: "BytePlus ModelArk, images of Seedream 4.5",
    body: {
      model: paint,
      created: 1783065388,
      error: null,
      data: [{ url: PICTURE, size: "1760x2368", b64_json: null }],
      usage: { generated_images: 1, output_tokens: 16280, total_tokens: 16280 }
    },
    means: { created: 1783065388, data: [{ url: PICTURE, size: "1760x2368", b64_json: null }] }
  },
  {
    protocol: "ip_b",
    says: "a picture that says what it is",
    source: "vercel/ai packages/alibaba, its fixture of an image",
    body: {
      output: {
        finished: true,
        choices: [
          {
            finish_reason: "stop",
            message: { role: "assistant", content: [{ type: "image", image: PICTURE }] }
          }
        ],
        task_metric: { TOTAL: 1, SUCCEEDED: 1, FAILED: 0 }
      },
      usage: { image_count: 1, size: "1280*1280", input_tokens: 0, output_tokens: 2 },
      request_id: "r"
    },
    means: { data: [{ url: PICTURE }] }
  },
  {
    protocol: "ip_b",
    says: "a picture behind the thoughts about it",
    source: "a model page of z-image-turbo",
    body: {
      output: {
        choices: [
          {
            finish_reason: "stop",
            message: {
              role: "assistant",
              reasoning_content: "",
              content: [{ text: "a tall lighthouse" }, { image: PICTURE }]
            }
          }
        ]
      },
      usage: { width: 1024, height: 1536, image_count: 1 },
      request_id: "r"
    },
    means: { data: [{ url: PICTURE }] }
  }
]

const arkError = (code: string, type: string, message: string, param?: string) => ({
  error: { code, message, type, ...(param === undefined ? {} : { param }) }
})

const moderatedImage = {
  error: {
    code: "OutputImageSensitiveContentDetected",
    message: "This image may break a rule."
  }
}

const notOpen = arkError(
  "ModelNotOpen",
  "NotFound",
  `Account ${ACCOUNT} has not opened the model ${film}; open it at https://${SITE}/ark.`
)

export const refusals: ReadonlyArray<RefusalRow> = [
  {
    protocol: "vp_a",
    says: "our account has not opened the model",
    source: "xinnan-tech/xiaozhi-esp32-server, issue 1234",
    status: 404,
    body: notOpen,
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [ACCOUNT, SITE, film]
  },
  {
    protocol: "vp_a",
    says: "the limit that we have set for the model is reached",
    source: page,
    status: 429,
    body: arkError(
      "SetLimitExceeded",
      "TooManyRequests",
      `Account ${ACCOUNT} is at the limit it has set for ${film}, which is paused.`
    ),
    upstreamModel: film,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT, film]
  },
  {
    protocol: "vp_a",
    says: "a bill of ours is not paid",
    source: page,
    status: 403,
    body: arkError("AccountOverdueError", "Forbidden", `Account ${ACCOUNT} has a bill to pay.`),
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_a",
    says: "there is no such model, or it is not ours",
    source: page,
    status: 404,
    body: arkError(
      "InvalidEndpointOrModel.NotFound",
      "NotFound",
      `There is no model ${film}, or it is not yours. Request id: 0217`
    ),
    upstreamModel: film,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [film]
  },
  {
    protocol: "vp_a",
    says: "references, which the model does not take",
    source: `${tanstack}, probed against the vendor`,
    status: 400,
    body: arkError(
      "InvalidParameter",
      "BadRequest",
      `The parameter content is not valid: task type r2v is none of model ${film}.`,
      "content"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [film]
  },
  {
    protocol: "vp_a",
    says: "a ratio beside a first frame",
    source: "Comfy-Org/ComfyUI, pull request 15395",
    status: 400,
    body: arkError(
      "InvalidParameter.TaskTypeConstraint",
      "BadRequest",
      "The parameter ratio is not valid: the first frame has the ratio already.",
      "ratio"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_a",
    says: "a face in the image",
    source: page,
    status: 400,
    body: arkError(
      "InputImageSensitiveContentDetected.PrivacyInformation",
      "BadRequest",
      "The image may show a real person. Request id: 0217"
    ),
    upstreamModel: film,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_a",
    says: "too much is in the queue",
    source: page,
    status: 429,
    body: arkError("QuotaExceeded", "TooManyRequests", "The queue of the model is full."),
    upstreamModel: film,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_a",
    says: "an error of its own, after which there may be a task",
    source: page,
    status: 500,
    body: arkError("InternalServiceError", "InternalServerError", "Something broke inside."),
    upstreamModel: film,
    means: { effectiveStatus: 500, proof: null },
    told: 502
  },
  {
    protocol: "vp_d",
    says: "our account may not call the model by this way",
    source: "kling.ai document-api, error codes",
    status: 404,
    body: { code: 1202, message: `${clip} is not for this account`, request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [clip]
  },
  {
    protocol: "vp_d",
    says: "there is no such model on the path",
    source: "kling.ai document-api, error codes",
    status: 404,
    body: { code: 1203, message: `no resource ${clip}`, request_id: "r", data: null },
    upstreamModel: clip,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [clip]
  },
  {
    protocol: "vp_d",
    says: "our package is used up, which is no matter of speed",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 429,
    body: { code: 1102, message: `package of account ${ACCOUNT} is used up`, request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_d",
    says: "too many tasks at once",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 429,
    body: { code: 1303, message: "more tasks at once than the package has", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_d",
    says: "what was ordered is not safe",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 400,
    body: { code: 1301, message: "the prompt is against a rule", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_d",
    says: "a value in an answer of success",
    source: "vercel/ai packages/klingai",
    body: { code: 1201, message: "settings.duration is not valid", request_id: "r", data: null },
    upstreamModel: clip,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_d",
    says: "it has waited too long inside, and there may be a task",
    source: "inference-sh/grid api/klingai/docs/00-general.md",
    status: 504,
    body: { code: 5002, message: "too late", request_id: "r" },
    upstreamModel: clip,
    means: { effectiveStatus: 504, proof: null },
    told: 504
  },
  {
    protocol: "vp_e",
    says: "the model is not for our account, or not on this path",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "ModelUnavailable",
      message: `${motion} cannot be had here`,
      metadata: { trace_id: "t-1", model: motion }
    },
    upstreamModel: motion,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [motion]
  },
  {
    protocol: "vp_e",
    says: "our credits are used up",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "CreditInsufficient",
      message: `account ${ACCOUNT} has no credits`,
      metadata: { trace_id: "t-1" }
    },
    upstreamModel: motion,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_e",
    says: "the prompt is against a rule",
    source: "platform.vidu.com, error-code",
    status: 400,
    body: {
      code: 400,
      reason: "TaskPromptPolicyViolation",
      message: "the prompt is refused",
      metadata: {}
    },
    upstreamModel: motion,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_e",
    says: "too many tasks at once",
    source: "platform.vidu.com, error-code",
    status: 429,
    body: { code: 429, reason: "QuotaExceeded", message: "five tasks are at work", metadata: null },
    upstreamModel: motion,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_e",
    says: "a task that has failed before it began",
    source: `${newApi}/vidu`,
    body: {
      task_id: "8093",
      state: "failed",
      err_code: "AuditSubmitIllegal",
      credits: 0,
      model: motion,
      prompt: "x",
      payload: "vt_1"
    },
    upstreamModel: motion,
    means: { effectiveStatus: 502, proof: null, isVerdict: true },
    told: 502,
    hides: [motion]
  },
  {
    protocol: "vp_f",
    says: "a bill of ours is not paid",
    source: "1Panel-dev/MaxKB, issue 5297; tencentmusic/supersonic, issue 1572",
    status: 400,
    body: {
      code: "Arrearage",
      message: `Please pay what account ${ACCOUNT} owes, see https://${SITE}/error-code#overdue`,
      request_id: "8af536f9"
    },
    upstreamModel: scene,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT, SITE]
  },
  {
    protocol: "vp_f",
    says: "a bill of ours is not paid, in the standard form",
    source: "hsliuping/TradingAgents-CN, issue 170",
    status: 400,
    body: {
      error: {
        code: "Arrearage",
        param: null,
        type: "Arrearage",
        message: `Please pay what account ${ACCOUNT} owes`
      },
      request_id: "f9fdb027"
    },
    upstreamModel: scene,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "vp_f",
    says: "we have not bought the model",
    source: "alibabacloud.com model-studio, error-code",
    status: 403,
    body: {
      code: "AccessDenied.Unpurchased",
      request_id: "r",
      message: `Account ${ACCOUNT} may not call ${scene}`
    },
    upstreamModel: scene,
    means: { effectiveStatus: 403, proof: "credentials_refused" },
    told: 502,
    hides: [ACCOUNT, scene]
  },
  {
    protocol: "vp_f",
    says: "there is no such model for us",
    source: "alibabacloud.com model-studio, error-code",
    status: 404,
    body: { code: "ModelNotFound", message: `There is no ${scene} for you`, request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [scene]
  },
  {
    protocol: "vp_f",
    says: "what was ordered may not be shown",
    source: "alibabacloud.com model-studio, error-code",
    status: 400,
    body: { code: "DataInspectionFailed", message: "The input may not be shown", request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "vp_f",
    says: "the quota of our account is used up for now",
    source: "alibabacloud.com model-studio, error-code",
    status: 429,
    body: { code: "Throttling.AllocationQuota", message: "Too much at once", request_id: "r" },
    upstreamModel: scene,
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    protocol: "vp_f",
    says: "an answer without a task, in which nothing is wrong",
    source: "dashscope-sdk-python 1.26.2, which reads it as a success",
    body: { request_id: "r", code: "", message: "", output: { task_status: "PENDING" } },
    upstreamModel: scene,
    means: "lost",
    told: 502
  },
  {
    protocol: "ip_a",
    says: "our account has not opened the model",
    source: "xinnan-tech/xiaozhi-esp32-server, issue 1234",
    status: 404,
    body: arkError("ModelNotOpen", "NotFound", `Account ${ACCOUNT} has not opened ${paint}.`),
    upstreamModel: paint,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [ACCOUNT, paint]
  },
  {
    protocol: "ip_a",
    says: "the limit that we have set for the model is reached",
    source: page,
    status: 429,
    body: arkError("SetLimitExceeded", "TooManyRequests", `Account ${ACCOUNT} is at its limit.`),
    upstreamModel: paint,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "ip_a",
    says: "every image was moderated",
    source: "BytePlus ModelArk, images of Seedream 4.5",
    body: {
      model: paint,
      created: 1783065388,
      data: [moderatedImage, moderatedImage],
      usage: { generated_images: 0, output_tokens: 0, total_tokens: 0 }
    },
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [paint]
  },
  {
    protocol: "ip_a",
    says: "the image was moderated, as an error of its own",
    source: page,
    status: 400,
    body: arkError(moderatedImage.error.code, "BadRequest", "The image may break a rule."),
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "ip_a",
    says: "a size that the model does not draw",
    source: page,
    status: 400,
    body: arkError("InvalidParameter", "BadRequest", `${paint} needs more pixels.`, "size"),
    upstreamModel: paint,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400,
    hides: [paint]
  },
  {
    protocol: "ip_b",
    says: "a bill of ours is not paid",
    source: "alibaba/spring-ai-alibaba, issue 1146",
    status: 400,
    body: { code: "Arrearage", message: `Account ${ACCOUNT} owes something`, request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    protocol: "ip_b",
    says: "there is no such model for us",
    source: "alibabacloud.com model-studio, error-code",
    status: 404,
    body: { code: "ModelNotFound", message: `There is no ${poster} for you`, request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 403, proof: "model_unknown" },
    told: 502,
    hides: [poster]
  },
  {
    protocol: "ip_b",
    says: "what was ordered may not be shown",
    source: "alibabacloud.com model-studio, error-code",
    status: 400,
    body: { code: "DataInspectionFailed", message: "The output may not be shown", request_id: "r" },
    upstreamModel: poster,
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    protocol: "ip_b",
    says: "choices in which there is no picture",
    source: comfy,
    body: {
      output: { choices: [{ message: { role: "assistant", content: [{ text: "no" }] } }] },
      request_id: "r"
    },
    upstreamModel: poster,
    means: "lost",
    told: 502
  }
]
