/** A vendor that nobody has, described by a document. */
export const toyDocument = {
  id: "toy_queue",
  versions: ["/v2"],
  key: { header: "x-toy-key" },
  calls: {
    submit: { method: "POST", path: "/v2/{model}/jobs", headers: { "x-toy": "1" } },
    status: { method: "GET", path: "/v2/jobs/{id}" },
    cancel: {
      method: "DELETE",
      path: "/v2/jobs/{id}",
      jobs: "unfinished",
      cancelled: ["gone"],
      refused: ["done"]
    }
  },
  answers: {
    id: ["/job/id"],
    status: ["/job/state"],
    files: ["/job/files/*/href"],
    code: ["/error/kind"],
    message: ["/error/text", "/job/reason"],
    seconds: ["/job/usage/seconds"],
    tokens: ["/job/usage/tokens"],
    bill: { unit: "credit", amount: ["/job/usage/credits"] }
  },
  statuses: { queued: ["new"], open: ["busy"], finished: ["done"], failed: ["broken"] },
  refusals: {
    shapes: [{ message: "/error/text", codes: ["/error/kind"] }],
    codes: { poor: "balance" },
    statuses: { "404": "model" }
  },
  parameters_at: "/options",
  models: [
    {
      id: "film/one",
      modality: "video",
      forms: [
        { takes: {} },
        { takes: { first_frame: 1 }, needs: ["first_frame"] },
        { takes: { reference_image: 3 }, needs: ["reference_image"] }
      ],
      seconds: { one_of: [4, 8] },
      resolutions: ["720p", "1080p"],
      ratios: ["16:9", "9:16"],
      sound: "switch",
      fields: {
        model: "/model",
        task: "/token",
        prompt: "/say",
        seconds: { to: "/length", values: { "4": "short", "8": "long" } },
        resolution: { to: "/lines", values: { "720p": 720, "1080p": 1080 } },
        ratio: "/shape",
        sound: "/loud",
        first_frame: { to: "/start", inline: false },
        reference_image: "/looks/-/href"
      },
      constants: { "/safe": true, "/options/tier": "normal" },
      input_schema_without: ["secret"],
      input_schema: {
        type: "object",
        $defs: { Mood: { type: "string", title: "Mood", enum: ["calm", "wild"] } },
        properties: {
          nested: { type: "object" },
          tier: { type: "string" },
          secret: { type: "string" },
          num_videos: { type: "integer" },
          wind: { anyOf: [{ type: "number", minimum: 0, maximum: 1 }, { type: "null" }] },
          seed: { type: "integer", description: "  The  seed " },
          mood: { allOf: [{ $ref: "#/$defs/Mood" }], default: "calm", "x-order": 1 },
          looping: { type: "boolean", default: false },
          mask_file: { type: "string", format: "uri" },
          tags: { type: "array", items: { type: "string" }, maxItems: 2 },
          things: { type: "array" }
        }
      }
    },
    {
      id: "film/two",
      modality: "video",
      forms: [{ takes: {} }],
      seconds: [6, 6],
      resolutions: ["1080p"],
      ratios: ["16:9", "9:16"],
      sound: "always",
      fields: {
        prompt: "/say",
        size: { to: "/size", values: { "1920x1080": "wide", "1080x1920": "tall", "1080p": "wide" } }
      }
    },
    {
      id: "draw",
      modality: "image",
      max_images: 4,
      forms: [{ takes: { reference_image: 2 } }],
      fields: {
        prompt: "/say",
        n: "/count",
        size: { width: "/w", height: "/h" },
        reference_image: "/looks/-",
        mask: "/mask"
      },
      parameters: { seed: { type: "integer", minimum: 0, maximum: 9, description: "The seed" } }
    }
  ]
}
