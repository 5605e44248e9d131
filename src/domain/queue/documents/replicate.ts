/** The predictions of Replicate: `https://api.replicate.com/v1`. */
import type { QueueDocument } from "../QueueDocument.ts"

const seed = {
  type: "integer",
  minimum: 0,
  maximum: 2_147_483_647,
  description: "The same seed gives about the same result"
} as const

const negativePrompt = {
  type: "text",
  max_length: 2500,
  description: "What is not to be seen"
} as const

export const replicateDocument: QueueDocument = {
  id: "replicate",
  versions: ["/v1"],
  key: { header: "authorization", scheme: "Bearer" },
  calls: {
    submit: {
      method: "POST",
      path: "/v1/models/{model}/predictions",
      // Most images are ready within seconds, which saves the polls. A longer wait would lose the
      // job's id where the connection breaks.
      image_headers: { prefer: "wait=10" }
    },
    status: { method: "GET", path: "/v1/predictions/{id}" },
    cancel: {
      method: "POST",
      path: "/v1/predictions/{id}/cancel",
      jobs: "unfinished",
      cancelled: ["canceled", "aborted"],
      requested: ["starting", "processing"],
      refused: ["succeeded", "failed"]
    }
  },
  answers: {
    id: ["/id"],
    status: ["/status"],
    // The output of a model is an address, a list of them, or an object that has them.
    files: ["/output", "/output/*", "/output/*/url", "/output/*/*"],
    code: ["/title"],
    message: ["/error", "/detail"]
  },
  statuses: {
    queued: ["starting"],
    open: ["processing"],
    finished: ["succeeded"],
    failed: ["failed"],
    cancelled: ["canceled"],
    expired: ["aborted"]
  },
  refusals: {
    shapes: [{ message: "/detail", codes: ["/title"] }],
    texts: { "Request was throttled": "rate" },
    statuses: { "402": "balance", "404": "model" }
  },
  parameters_at: "/input",
  models: [
    {
      id: "bytedance/seedance-1-pro",
      modality: "video",
      forms: [{ takes: {} }, { takes: { first_frame: 1, last_frame: 1 }, needs: ["first_frame"] }],
      seconds: [2, 12],
      resolutions: ["480p", "720p", "1080p"],
      ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"],
      sound: "never",
      fields: {
        prompt: "/input/prompt",
        first_frame: "/input/image",
        last_frame: "/input/last_frame_image",
        seconds: "/input/duration",
        resolution: "/input/resolution",
        ratio: "/input/aspect_ratio"
      },
      parameters: {
        seed,
        camera_fixed: { type: "boolean", description: "Whether the camera stands still" }
      }
    },
    {
      id: "kwaivgi/kling-v2.1",
      modality: "video",
      forms: [{ takes: { first_frame: 1, last_frame: 1 }, needs: ["first_frame"] }],
      seconds: { one_of: [5, 10] },
      resolutions: ["720p", "1080p"],
      sound: "never",
      fields: {
        prompt: "/input/prompt",
        first_frame: "/input/start_image",
        last_frame: "/input/end_image",
        seconds: "/input/duration",
        resolution: { to: "/input/mode", values: { "720p": "standard", "1080p": "pro" } }
      },
      parameters: { negative_prompt: negativePrompt }
    },
    {
      id: "black-forest-labs/flux-schnell",
      modality: "image",
      max_images: 4,
      fields: {
        prompt: "/input/prompt",
        n: "/input/num_outputs",
        size: {
          to: "/input/aspect_ratio",
          values: {
            "1:1": "1:1",
            "1024x1024": "1:1",
            "16:9": "16:9",
            "1344x768": "16:9",
            "9:16": "9:16",
            "768x1344": "9:16",
            "3:2": "3:2",
            "1216x832": "3:2",
            "2:3": "2:3",
            "832x1216": "2:3",
            "4:3": "4:3",
            "3:4": "3:4",
            "21:9": "21:9",
            "9:21": "9:21"
          }
        }
      },
      parameters: {
        seed,
        num_inference_steps: {
          type: "integer",
          minimum: 1,
          maximum: 4,
          description: "Steps of the model; fewer are faster"
        },
        output_format: {
          type: "choice",
          values: ["webp", "jpg", "png"],
          description: "The format of the file"
        },
        go_fast: { type: "boolean", description: "Whether a faster, less exact model is used" }
      }
    },
    {
      id: "recraft-ai/recraft-crisp-upscale",
      modality: "image",
      forms: [{ takes: { reference_image: 1 }, needs: ["reference_image"] }],
      fields: { reference_image: "/input/image" },
      ignores: ["prompt"]
    }
  ]
}
