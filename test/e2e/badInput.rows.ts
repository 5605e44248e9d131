export const film = { model: "film-1", prompt: "a lighthouse" }
export const paint = { model: "paint-1", prompt: "a lighthouse" }

type Row = readonly [
  name: string,
  path: "videos" | "images",
  body: unknown,
  status: number,
  code: string,
  param: string | null
]

/** Orders that must be refused, and how. */
export const rows: ReadonlyArray<Row> = [
  ["3 seconds", "videos", { ...film, duration: 3 }, 400, "video_sku_invalid", "duration"],
  ["16 seconds", "videos", { ...film, duration: 16 }, 400, "video_sku_invalid", "duration"],
  ["-1 seconds", "videos", { ...film, duration: -1 }, 400, "video_sku_invalid", "duration"],
  ["a text for seconds", "videos", { ...film, duration: "5" }, 400, "invalid_request", "duration"],
  ["half a second", "videos", { ...film, duration: 5.5 }, 400, "invalid_request", "duration"],
  ["8K", "videos", { ...film, resolution: "8K" }, 400, "video_sku_invalid", "resolution"],
  [
    "a number for resolution",
    "videos",
    { ...film, resolution: 720 },
    400,
    "invalid_request",
    "resolution"
  ],
  [
    "a flag with nonsense seconds",
    "videos",
    { ...film, prompt: "x --duration soon" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag with seconds out of range",
    "videos",
    { ...film, prompt: "x --duration 99" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag without a value",
    "videos",
    { ...film, prompt: "x --duration" },
    400,
    "video_sku_invalid",
    "duration"
  ],
  [
    "a flag with nonsense resolution",
    "videos",
    { ...film, prompt: "x --resolution sharp" },
    400,
    "video_sku_invalid",
    "resolution"
  ],
  ["nothing to make a video from", "videos", { model: "film-1" }, 400, "invalid_request", "prompt"],
  ["only flags", "videos", { ...film, prompt: "--duration 5" }, 400, "invalid_request", "prompt"],
  ["no model", "videos", { prompt: "x" }, 400, "invalid_request", "model"],
  [
    "an unknown block",
    "videos",
    { model: "film-1", content: [{ type: "gif" }] },
    400,
    "invalid_request",
    "content[0]"
  ],
  [
    "an address to be fetched by us",
    "videos",
    { ...film, image: "file:///etc/passwd" },
    400,
    "invalid_request",
    "image"
  ],
  ["n = 0", "images", { ...paint, n: 0 }, 400, "invalid_request", "n"],
  ["n = 11", "images", { ...paint, n: 11 }, 400, "invalid_request", "n"],
  ["n as text", "images", { ...paint, n: "2" }, 400, "invalid_request", "n"],
  ["no prompt", "images", { model: "paint-1" }, 400, "invalid_request", "prompt"],
  [
    "an unknown response format",
    "images",
    { ...paint, response_format: "bmp" },
    400,
    "invalid_request",
    "response_format"
  ],
  ["an image model ordered as video", "videos", { ...paint }, 400, "modality_mismatch", "model"],
  ["a video model ordered as image", "images", { ...film }, 400, "modality_mismatch", "model"],
  [
    "a chat model ordered as video",
    "videos",
    { ...film, model: "talk-1" },
    400,
    "modality_mismatch",
    "model"
  ],
  [
    "a reserved modality ordered as video",
    "videos",
    { ...film, model: "rank-1" },
    400,
    "modality_not_ready",
    "model"
  ],
  [
    "a reserved modality ordered as image",
    "images",
    { ...paint, model: "rank-1" },
    400,
    "modality_not_ready",
    "model"
  ],
  ["an omni model", "videos", { ...film, model: "omni-1" }, 400, "modality_not_ready", "model"],
  ["an unknown model", "videos", { ...film, model: "nope" }, 404, "model_not_found", "model"],
  [
    "an unmounted video model",
    "videos",
    { ...film, model: "film-unmounted" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "an unmounted image model",
    "images",
    { ...paint, model: "paint-unmounted" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "a channel without a key",
    "videos",
    { ...film, model: "film-keyless" },
    503,
    "channel_unavailable",
    "model"
  ],
  [
    "a protocol that makes no videos",
    "videos",
    { ...film, model: "film-strange" },
    400,
    "video_unsupported_protocol",
    "model"
  ],
  [
    "a protocol that makes no images",
    "images",
    { ...paint, model: "paint-strange" },
    400,
    "image_unsupported_protocol",
    "model"
  ],
  [
    "a video without a price",
    "videos",
    { ...film, model: "film-unpriced" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "a tier without a price to fall back to",
    "videos",
    { ...film, model: "film-base-less" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "a resolution without a price",
    "videos",
    { ...film, model: "clip-1", resolution: "4K" },
    400,
    "billing_unavailable",
    "resolution"
  ],
  [
    "an image without a price",
    "images",
    { ...paint, model: "paint-unpriced" },
    400,
    "billing_unavailable",
    "model"
  ],
  [
    "an upstream that is down, video",
    "videos",
    { ...film, model: "film-down" },
    502,
    "upstream_error",
    null
  ],
  [
    "an upstream that is down, image",
    "images",
    { ...paint, model: "paint-down" },
    502,
    "upstream_error",
    null
  ],
  [
    "a key the upstream refuses",
    "videos",
    { ...film, model: "film-badkey" },
    502,
    "upstream_error",
    null
  ],
  [
    "an input the upstream refuses",
    "videos",
    { ...film, prompt: "x sim:moderate-input" },
    400,
    "upstream_error",
    null
  ]
]
