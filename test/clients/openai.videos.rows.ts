/** What orders of OpenAI's videos say, and what comes of it. */

/** The head of a PNG, which says how large it is. */
export const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0", "latin1")
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

const pngUrl = (width: number, height: number) =>
  `data:image/png;base64,${png(width, height).toString("base64")}`

/** By model: what is ordered, what its vendor is told, and what the client is answered. */
export const sizes: ReadonlyArray<
  readonly [
    model: string,
    said: { readonly size?: string; readonly seconds?: string | number },
    sent: ReadonlyArray<string>,
    told: readonly [size: string, seconds: string]
  ]
> = [
  ["film-1", {}, ['"resolution":"720p"', '"ratio":"16:9"', '"duration":5'], ["1280x720", "5"]],
  [
    "film-1",
    { size: "1080x1920", seconds: "8" },
    ['"resolution":"1080p"', '"ratio":"9:16"', '"duration":8'],
    ["1080x1920", "8"]
  ],
  [
    "film-1",
    { size: "854X480", seconds: 15 },
    ['"resolution":"480p"', '"ratio":"16:9"', '"duration":15'],
    ["854x480", "15"]
  ],
  ["film-1", { size: "960x960" }, ['"resolution":"720p"', '"ratio":"1:1"'], ["960x960", "5"]],
  ["film-1", { size: "3840x2160" }, ['"resolution":"4k"', '"ratio":"16:9"'], ["3840x2160", "5"]],
  ["film-1", { size: "1080p" }, ['"resolution":"1080p"'], ["1920x1080", "5"]],
  ["film-2", { size: "720x1280", seconds: "4" }, ['"ratio":"9:16"'], ["720x1280", "4"]],
  ["film-2", { seconds: "-1" }, ['"duration":-1'], ["1280x720", "-1"]],
  [
    "clip-1",
    { size: "720x1280", seconds: "3" },
    ['"resolution":"720p"', '"aspect_ratio":"9:16"', '"duration":3'],
    ["720x1280", "3"]
  ],
  [
    "motion-1",
    { size: "960x540", seconds: "16" },
    ['"resolution":"540p"', '"aspect_ratio":"16:9"', '"duration":16'],
    ["960x540", "16"]
  ],
  ["scene-1", { size: "1440x1440", seconds: "2" }, ['"size":"1440*1440"'], ["1440x1440", "2"]],
  [
    "relay-film",
    { size: "1664x1248", seconds: "6" },
    ['"resolution":"1080p"', '"ratio":"4:3"', '"duration":6'],
    ["1664x1248", "6"]
  ],
  [
    "relay-clip",
    { size: "1920x1080", seconds: "5" },
    ['"mode":"pro"', '"aspect_ratio":"16:9"', '"duration":"5"'],
    ["1920x1080", "5"]
  ]
]

const small = ["1280x720", "720x1280", "960x960"]

/** By model: what is refused, and what is said instead. */
export const refusals: ReadonlyArray<
  readonly [
    said: Readonly<Record<string, unknown>>,
    error: readonly [code: string, param: string, nearest?: unknown, allowed?: unknown]
  ]
> = [
  [{ model: "film-1", size: "1792x1024" }, ["video_sku_invalid", "size", "1920x1080"]],
  [{ model: "film-1", size: "1024x1792" }, ["video_sku_invalid", "size", "1080x1920"]],
  [{ model: "film-1", size: "960x540" }, ["video_sku_invalid", "size", "864x480"]],
  [{ model: "film-1", size: "large" }, ["video_sku_invalid", "size", "1280x720"]],
  [{ model: "film-2", size: "1920x1080" }, ["video_sku_invalid", "size", "1280x720"]],
  [
    { model: "clip-1", size: "1112x834" },
    [
      "video_sku_invalid",
      "size",
      "1280x720",
      [...small, "1920x1080", "1080x1920", "1440x1440", "3840x2160", "2160x3840"]
    ] as const
  ],
  [{ model: "clip-1", size: "2160x3840" }, ["billing_unavailable", "size"]],
  [{ model: "scene-1", size: "4K" }, ["video_sku_invalid", "size", "1920x1080"]],
  [
    { model: "film-1", seconds: "4" },
    ["video_sku_invalid", "seconds", 5, { min: 5, max: 15, smart: false }]
  ],
  [{ model: "film-1", seconds: 7.5 }, ["video_sku_invalid", "seconds", 8]],
  [{ model: "film-1", seconds: "soon" }, ["video_sku_invalid", "seconds", 5]],
  [{ model: "film-1", seconds: "-1" }, ["video_sku_invalid", "seconds", 5]],
  [{ model: "film-1", duration: 5 }, ["invalid_request", "duration"]],
  [{ model: "film-1", resolution: "720p" }, ["invalid_request", "resolution"]],
  [
    { model: "film-1", input_reference: { file_id: "file_1" } },
    ["invalid_request", "input_reference"]
  ],
  [{ model: "film-1", callback_url: "ftp://a.test/" }, ["invalid_request", "callback_url"]],
  [{ model: "paint-1" }, ["modality_mismatch", "model"]],
  [{ model: "nothing" }, ["model_not_found", "model"]],
  // Of a picture's shape nothing else can be had where it decides.
  [
    { model: "clip-1", size: "1280x720", input_reference: { image_url: pngUrl(720, 1280) } },
    ["video_sku_invalid", "size", "720p", ["720p", "1080p", "4K"]]
  ],
  [
    { model: "motion-1", size: "1280x720", input_reference: { image_url: "https://a.test/a.png" } },
    ["video_sku_invalid", "size", "720p"]
  ]
]
