/** The queue of fal: `https://queue.fal.run`. */
import type { QueueDocument } from "../QueueDocument.ts"

const seedance = {
  modality: "video",
  seconds: [2, 12],
  resolutions: ["480p", "720p", "1080p"],
  ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
  sound: "never",
  parameters: {
    seed: {
      type: "integer",
      minimum: -1,
      maximum: 2_147_483_647,
      description: "Repeats a video as far as the vendor can; -1 takes another each time"
    },
    camera_fixed: { type: "boolean", description: "Whether the camera stands still" }
  }
} as const

const seedanceFields = {
  prompt: "/prompt",
  seconds: { to: "/duration", as: "text" },
  resolution: "/resolution",
  ratio: "/aspect_ratio"
} as const

/**
 * Kling takes a list of shots in place of the text. Its guides name 3 seconds as the least of a shot,
 * and the most shots are those that fit into the longest video.
 */
const kling = { modality: "video", sound: "switch" } as const

const klingRatios = ["16:9", "9:16", "1:1"] as const

const klingFields = { prompt: "/prompt", sound: "/generate_audio" } as const

const klingFrames = { first_frame: "/start_image_url", last_frame: "/end_image_url" } as const

const kling3 = {
  ...kling,
  seconds: [3, 15],
  shots: { most: 5, seconds: [3, 15] },
  parameters: {
    shot_type: {
      type: "choice",
      values: ["customize", "intelligent"],
      description: "Whether the order or the model decides the shots; customize when left out"
    }
  }
} as const

const kling3Seconds = { to: "/duration", as: "text" } as const

const kling3Fields = {
  ...klingFields,
  seconds: kling3Seconds,
  shots: { to: "/multi_prompt/-", prompt: "/prompt", seconds: kling3Seconds }
} as const

const kling4 = {
  ...kling,
  ratios: klingRatios,
  seconds: [3, 30],
  shots: { most: 10, seconds: [3, 30] },
  resolutions: ["720p", "1080p"]
} as const

const kling4Fields = {
  ...klingFields,
  ratio: "/aspect_ratio",
  seconds: "/duration",
  resolution: "/resolution",
  shots: { to: "/multi_prompt/-", prompt: "/prompt", seconds: "/duration" }
} as const

const seed = {
  type: "integer",
  minimum: 0,
  maximum: 2_147_483_647,
  description: "The same seed gives about the same image"
} as const

export const falDocument: QueueDocument = {
  id: "fal",
  key: { header: "authorization", scheme: "Key" },
  calls: {
    submit: { method: "POST", path: "/{model}" },
    status: { method: "GET", path: "/{model:2}/requests/{id}/status" },
    result: { method: "GET", path: "/{model:2}/requests/{id}" },
    cancel: {
      method: "PUT",
      path: "/{model:2}/requests/{id}/cancel",
      // A running model may ignore the request; a poll then shows what it made.
      jobs: "unfinished",
      cancelled: ["OK"],
      requested: ["CANCELLATION_REQUESTED"],
      refused: ["ALREADY_COMPLETED"]
    }
  },
  answers: {
    id: ["/request_id"],
    status: ["/status"],
    files: ["/video/url", "/images/*/url", "/image/url"],
    code: ["/error_type", "/detail/*/type"],
    message: ["/error", "/detail/*/msg", "/detail"],
    failed: ["/error"],
    failed_result: ["/error_type", "/detail/*/type"]
  },
  statuses: {
    queued: ["IN_QUEUE"],
    open: ["IN_PROGRESS"],
    finished: ["COMPLETED"],
    cancelled: ["client_cancelled"]
  },
  refusals: {
    shapes: [
      { message: "/detail/*/msg", codes: ["/detail/*/type"] },
      { message: "/detail", codes: ["/error_type"] }
    ],
    codes: {
      internal_error: "failure",
      request_timeout: "timeout",
      runner_server_error: "failure",
      startup_timeout: "timeout"
    },
    statuses: { "404": "model" }
  },
  models: [
    {
      ...seedance,
      id: "fal-ai/bytedance/seedance/v1/pro/text-to-video",
      forms: [{ takes: {} }],
      fields: seedanceFields
    },
    {
      ...seedance,
      id: "fal-ai/bytedance/seedance/v1/pro/image-to-video",
      forms: [{ takes: { first_frame: 1, last_frame: 1 }, needs: ["first_frame"] }],
      fields: { ...seedanceFields, first_frame: "/image_url", last_frame: "/end_image_url" }
    },
    {
      ...kling3,
      id: "fal-ai/kling-video/v3/pro/text-to-video",
      ratios: klingRatios,
      forms: [{ takes: {} }],
      fields: { ...kling3Fields, ratio: "/aspect_ratio" }
    },
    {
      ...kling3,
      id: "fal-ai/kling-video/v3/pro/image-to-video",
      forms: [{ takes: { first_frame: 1, last_frame: 1 }, needs: ["first_frame"] }],
      fields: { ...kling3Fields, ...klingFrames }
    },
    {
      ...kling4,
      id: "fal-ai/kling-video/v4/text-to-video",
      forms: [{ takes: {} }],
      fields: kling4Fields
    },
    {
      ...kling4,
      id: "fal-ai/kling-video/v4/image-to-video",
      forms: [
        { takes: { first_frame: 1, middle_frame: 8, last_frame: 1 }, needs: ["first_frame"] }
      ],
      fields: { ...kling4Fields, ...klingFrames, middle_frame: "/middle_image_urls/-" }
    },
    {
      id: "fal-ai/flux/dev",
      modality: "image",
      max_images: 4,
      fields: {
        prompt: "/prompt",
        n: "/num_images",
        size: { width: "/image_size/width", height: "/image_size/height" }
      },
      parameters: {
        seed,
        guidance_scale: {
          type: "number",
          minimum: 1,
          maximum: 20,
          description: "How closely the prompt is followed"
        },
        num_inference_steps: {
          type: "integer",
          minimum: 1,
          maximum: 50,
          description: "Steps of the model; more take longer"
        },
        output_format: {
          type: "choice",
          values: ["jpeg", "png"],
          description: "The format of the file"
        }
      }
    },
    {
      id: "fal-ai/clarity-upscaler",
      modality: "image",
      forms: [{ takes: { reference_image: 1 }, needs: ["reference_image"] }],
      fields: { prompt: "/prompt", reference_image: "/image_url" },
      input_schema: {
        type: "object",
        required: ["image_url"],
        properties: {
          image_url: { type: "string" },
          prompt: { type: "string" },
          negative_prompt: { type: "string", description: "What is not to be seen" },
          upscale_factor: { type: "number", minimum: 1, maximum: 4 },
          creativity: {
            type: "number",
            minimum: 0,
            maximum: 1,
            description: "How far the result may depart from the prompt"
          },
          resemblance: {
            type: "number",
            minimum: 0,
            maximum: 1,
            description: "How closely the original image is followed"
          },
          guidance_scale: {
            type: "number",
            minimum: 0,
            maximum: 20,
            description: "How closely the prompt is followed"
          },
          num_inference_steps: {
            type: "integer",
            minimum: 4,
            maximum: 50,
            description: "Steps of the model; more take longer"
          },
          seed: { ...seed }
        }
      }
    }
  ]
}
