/** Answers to orders that were taken, to polls, and with images. */
import {
  ark,
  FILE,
  film,
  type ImagesRow,
  MARKED,
  motion,
  newApi,
  PICTURE,
  type PollRow,
  page,
  paint,
  type SubmitRow,
  tanstack
} from "./recordedAnswers.rows.ts"

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
const coverFields = { coverUrl: PICTURE }
const processing = { _tag: "Processing", unknownStatus: undefined }

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
    means: {
      ...succeeded({
        completionTokens: 108900n,
        outputSeconds: 5,
        resolution: "720p",
        sound: true
      }),
      stills: { lastFrameUrl: PICTURE }
    }
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
    means: succeeded({ bill: { amountNano: 3_000_000_000n, unit: "unit" } })
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
    means: {
      ...succeeded({ bill: { amountNano: 20_000_000_000n, unit: "credit" } }),
      stills: coverFields
    }
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
    means: { _tag: "Succeeded", videoUrl: MARKED, stills: coverFields }
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
