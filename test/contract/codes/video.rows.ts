/** Videos that cannot be ordered as they are asked for: protocol, mount, length and resolution. */
import { asRich, type Json, quote, row, video } from "./Row.ts"

const OFFERED = ["480p", "720p", "1080p", "4K"]

const sku = (when: string, json: Json, message: string, param: string, more: Json) =>
  row("video_sku_invalid", when, asRich(video(json)), { message, param, more })

/** `limits` are least and most seconds, and the words for -1 where the model may choose. */
const duration = (
  when: string,
  json: Json,
  asked: string,
  [min, max]: readonly [min: number, max: number],
  nearest: number,
  smart = false
) =>
  sku(
    when,
    json,
    `duration ${asked} is not offered: this model takes whole seconds from ${min} to ${max}${smart ? ", or -1 to let the model choose" : ""}. The nearest is ${nearest}.`,
    "duration",
    { allowed: { min, max, smart }, nearest }
  )

const resolution = (
  when: string,
  json: Json,
  asked: string,
  offered: ReadonlyArray<string>,
  nearest: string
) =>
  sku(
    when,
    json,
    `resolution ${JSON.stringify(asked)} is not offered: this model takes ${offered.join(", ")}. The nearest is ${nearest}.`,
    "resolution",
    { allowed: offered, nearest }
  )

const skus = [
  duration("a length below the interval", { duration: 4 }, "4", [5, 15], 5),
  duration("a length above the interval", { duration: 16 }, "16", [5, 15], 15),
  duration("a length of nothing", { duration: 0 }, "0", [5, 15], 5),
  duration("-1 where the model does not choose", { duration: -1 }, "-1", [5, 15], 5),
  duration("a flag that is no number", { prompt: "x --duration soon" }, '"soon"', [5, 15], 5),
  duration("a flag with half seconds", { prompt: "x --dur=7.5" }, '"7.5"', [5, 15], 8),
  duration("a flag without a value", { prompt: "x --duration" }, '""', [5, 15], 5),
  duration(
    "a flag in a text block",
    { prompt: undefined, content: [{ type: "text", text: "x --duration 99" }] },
    "99",
    [5, 15],
    15
  ),
  duration(
    "a body field out of bounds beside a good flag",
    { duration: 2, prompt: "x --duration 8" },
    "2",
    [5, 15],
    5
  ),
  duration("1 second of vp_b", { model: "film-smart", duration: 1 }, "1", [4, 15], 4, true),
  duration("-2 of vp_b", { model: "film-smart", duration: -2 }, "-2", [4, 15], 4, true),
  duration("2 seconds of vp_d", { model: "clip-1", duration: 2 }, "2", [3, 15], 3),
  duration(
    "a relay beyond its union, by tokens",
    { model: "film-relayed", duration: 17 },
    "17",
    [1, 16],
    16,
    true
  ),
  duration(
    "-1 at a relay billed by seconds",
    { model: "clip-relayed", duration: -1 },
    "-1",
    [1, 16],
    1
  ),
  resolution("a resolution above all", { resolution: "8K" }, "8K", OFFERED, "4K"),
  resolution("a resolution between two", { resolution: "900p" }, "900p", OFFERED, "720p"),
  resolution("a resolution that is none", { resolution: "sharp" }, "sharp", OFFERED, "720p"),
  resolution("an empty resolution", { resolution: "" }, "", OFFERED, "720p"),
  resolution("a flag with a nonsense tier", { prompt: "x --rs cinema" }, "cinema", OFFERED, "720p"),
  resolution(
    "a resolution flag without a value",
    { prompt: "x --resolution" },
    "",
    OFFERED,
    "720p"
  ),
  resolution(
    "480p of vp_d",
    { model: "clip-1", resolution: "480p" },
    "480p",
    ["720p", "1080p", "4K"],
    "720p"
  ),
  row(
    "video_sku_invalid",
    "a quote for a length that is not offered",
    asRich(quote({ duration: 16 })),
    {
      message:
        "duration 16 is not offered: this model takes whole seconds from 5 to 15. The nearest is 15.",
      param: "duration",
      more: { allowed: { min: 5, max: 15, smart: false }, nearest: 15 }
    }
  )
]

const SUPPORTED = "vp_a, vp_b, vp_c, vp_d, vp_e, vp_f, veo, minimax, fal, replicate"

const protocols = [video, quote].flatMap((body, index) => [
  row(
    "video_unsupported_protocol",
    `a protocol that is none, at ${["videos", "quotes"][index]}`,
    asRich(body({ model: "film-strange" })),
    {
      message: `"film-strange" is called by vp_z, which is not a supported video protocol: ${SUPPORTED} are`,
      param: "model"
    }
  ),
  row(
    "video_unsupported_protocol",
    `a relay that cannot serve what the model is listed as, at ${["videos", "quotes"][index]}`,
    asRich(body({ model: "film-listed-as-relay" })),
    {
      message: '"film-listed-as-relay" is listed under vp_c, which vp_c cannot serve',
      param: "model"
    }
  )
])

export const videoRows = [...skus, ...protocols]
