/** Orders from the models of vp_f's vendor, as its documents and clients write them. */
import type { VideoBlock } from "../../src/domain/video/VideoInput.ts"
import type { VideoOrder } from "../../src/services/ProtocolAdapter.ts"
import { AUDIO, audio, IMAGE, image, PROMPT, prompt, SECOND_IMAGE, VIDEO, video } from "./blocks.ts"

/** An image without a role of its client's. */
export const picture = (url: string = IMAGE): VideoBlock => ({ type: "image", role: null, url })

const firstFrame = image(IMAGE, "first_frame")
const lastFrame = image(SECOND_IMAGE, "last_frame")
const reference = image(IMAGE, "reference_image")

type Order = Partial<VideoOrder>

interface Wire {
  readonly model: string
  readonly order: Order
  readonly input: object
  readonly parameters: object
}

const wire = (model: string, order: Order, input: object, parameters: object): Wire => ({
  model,
  order,
  input: { prompt: PROMPT, ...input },
  parameters: { duration: 5, watermark: false, ...parameters }
})

/** Each takes the same, and some relays put an ending behind. */
const thirdGeneration = [
  "wan3.0-video",
  "wan3.0-video-prime",
  "wan3.0-video-cn",
  "wan3.0-video-prime-cn"
]

const items = (...media: ReadonlyArray<readonly [type: string, url: string]>) => ({
  media: media.map(([type, url]) => ({ type, url }))
})

const third: ReadonlyArray<Wire> = thirdGeneration.flatMap((model) => [
  wire(
    model,
    { ratio: "16:9", generateAudio: false },
    {},
    { resolution: "720P", ratio: "16:9", audio: false }
  ),
  wire(model, { generateAudio: true }, {}, { resolution: "720P", audio: true }),
  wire(model, { seconds: "smart" }, {}, { resolution: "720P", duration: -1 }),
  wire(
    model,
    { resolution: "480p", seconds: 30, ratio: "adaptive", parameters: { seed: 7 } },
    {},
    { resolution: "480P", duration: 30, ratio: "adaptive", seed: 7 }
  ),
  wire(
    model,
    { blocks: [prompt, picture()], ratio: "21:9", generateAudio: true },
    items(["first_frame", IMAGE]),
    { resolution: "720P", ratio: "21:9", audio: true }
  ),
  wire(
    model,
    { blocks: [prompt, firstFrame, lastFrame], ratio: "9:16" },
    items(["first_frame", IMAGE], ["last_frame", SECOND_IMAGE]),
    { resolution: "720P", ratio: "9:16" }
  ),
  wire(model, { blocks: [prompt, reference] }, items(["reference_image", IMAGE]), {
    resolution: "720P"
  }),
  wire(
    model,
    { blocks: [prompt, reference, video, audio], ratio: "1:1" },
    items(["reference_image", IMAGE], ["reference_video", VIDEO], ["reference_audio", AUDIO]),
    { resolution: "720P", ratio: "1:1" }
  ),
  wire(
    model,
    { blocks: [prompt, picture(), picture(SECOND_IMAGE)] },
    items(["reference_image", IMAGE], ["reference_image", SECOND_IMAGE]),
    { resolution: "720P" }
  ),
  // The vendor takes frames or references, so beside these a picture is one of them.
  wire(
    model,
    { blocks: [prompt, picture(), video] },
    items(["reference_image", IMAGE], ["reference_video", VIDEO]),
    { resolution: "720P" }
  ),
  wire(
    model,
    { blocks: [prompt, picture(), audio] },
    items(["reference_image", IMAGE], ["reference_audio", AUDIO]),
    { resolution: "720P" }
  )
])

const negative_prompt = "rain"
const negative: Order = { parameters: { negative_prompt } }
const sized = { size: "1280*720" }
const tier = { resolution: "720P" }

const second: ReadonlyArray<Wire> = ["", "-cn", "-2026-06-12"].flatMap((ending) => [
  wire(
    `wan2.6-t2v${ending}`,
    { ...negative, ratio: "9:16", generateAudio: true },
    { negative_prompt },
    { size: "720*1280" }
  ),
  wire(
    `wan2.6-t2v${ending}`,
    { blocks: [prompt, audio], parameters: { shot_type: "multi" } },
    { audio_url: AUDIO },
    { ...sized, shot_type: "multi" }
  ),
  wire(
    `wan2.6-i2v${ending}`,
    { ...negative, blocks: [prompt, picture(), audio], ratio: "9:16", generateAudio: true },
    { negative_prompt, img_url: IMAGE, audio_url: AUDIO },
    tier
  ),
  wire(`wan2.6-i2v${ending}`, { blocks: [prompt, firstFrame] }, { img_url: IMAGE }, tier),
  ...[true, false].map((sound) =>
    wire(
      `wan2.6-i2v-flash${ending}`,
      { ...negative, blocks: [prompt, picture()], generateAudio: sound },
      { negative_prompt, img_url: IMAGE },
      { ...tier, audio: sound }
    )
  ),
  ...["wan2.6-r2v", "wan2.6-r2v-flash"].flatMap((model) => [
    wire(
      `${model}${ending}`,
      { ...negative, blocks: [prompt, picture()], ratio: "1:1" },
      { negative_prompt, reference_urls: [IMAGE] },
      { size: "960*960" }
    ),
    wire(
      `${model}${ending}`,
      { blocks: [prompt, reference, video] },
      { reference_urls: [IMAGE, VIDEO] },
      sized
    )
  ]),
  wire(
    `wan2.7-t2v${ending}`,
    { ...negative, blocks: [prompt, audio], ratio: "9:16", generateAudio: true },
    { negative_prompt, audio_url: AUDIO },
    { ...tier, ratio: "9:16" }
  ),
  wire(
    `wan2.7-i2v${ending}`,
    { ...negative, blocks: [prompt, picture(), audio], ratio: "9:16", generateAudio: true },
    { negative_prompt, ...items(["first_frame", IMAGE], ["driving_audio", AUDIO]) },
    tier
  ),
  wire(
    `wan2.7-i2v${ending}`,
    { blocks: [prompt, firstFrame, lastFrame] },
    items(["first_frame", IMAGE], ["last_frame", SECOND_IMAGE]),
    tier
  ),
  wire(
    `wan2.7-r2v${ending}`,
    { ...negative, blocks: [prompt, picture()], ratio: "9:16", generateAudio: true },
    { negative_prompt, ...items(["reference_image", IMAGE]) },
    { ...tier, ratio: "9:16" }
  ),
  wire(
    `wan2.7-r2v${ending}`,
    { blocks: [prompt, picture(), video] },
    items(["reference_image", IMAGE], ["reference_video", VIDEO]),
    tier
  ),
  wire(
    `wan2.7-r2v${ending}`,
    { blocks: [prompt, firstFrame, picture(SECOND_IMAGE), video] },
    items(["first_frame", IMAGE], ["reference_image", SECOND_IMAGE], ["reference_video", VIDEO]),
    tier
  )
])

const takes = (inputs: string) => `Not all of this input has a place: the model takes ${inputs}`

const alwaysSounds =
  "The model always makes sound: it has no field by which generate_audio can be false"

const refusals: ReadonlyArray<readonly [model: string, order: Order, message: string]> = [
  ...["wan2.6-i2v", "wan2.6-i2v-flash-cn"].flatMap((model) =>
    [
      [prompt, reference],
      [prompt, picture(), picture(SECOND_IMAGE)],
      [prompt, firstFrame, firstFrame],
      [prompt, firstFrame, lastFrame],
      [prompt, picture(), video]
    ].map((blocks) => [model, { blocks }, takes("a first frame, a reference sound")] as const)
  ),
  [
    "wan2.7-i2v",
    { blocks: [prompt, reference] },
    takes("a first frame, a last frame, a reference sound; or a last frame, a video to extend")
  ],
  ["wan2.6-t2v", { blocks: [prompt, picture()] }, takes("a text alone; or a reference sound")],
  [
    "wan2.7-t2v-cn",
    { blocks: [prompt, audio, audio] },
    takes("a text alone; or a reference sound")
  ],
  [
    "wan2.6-r2v",
    { blocks: [prompt, firstFrame] },
    takes("up to 5 reference images, up to 3 reference videos")
  ],
  [
    "wan2.7-r2v",
    { blocks: [prompt, reference, audio] },
    takes("a first frame, up to 5 reference images, up to 3 reference videos")
  ],
  ["wan2.6-t2v", { generateAudio: false }, alwaysSounds],
  ["wan2.6-i2v-cn", { blocks: [prompt, picture()], generateAudio: false }, alwaysSounds],
  ["wan2.7-t2v", { generateAudio: false }, alwaysSounds],
  ["wan2.7-i2v", { blocks: [prompt, picture()], generateAudio: false }, alwaysSounds],
  ["wan2.6-r2v", { blocks: [prompt, picture()], generateAudio: false }, alwaysSounds],
  ["wan2.7-r2v", { blocks: [prompt, picture()], generateAudio: false }, alwaysSounds],
  ["wan2.6-t2v", { ratio: "21:9" }, "The size is not match the allowed size: 720p at 21:9"]
]

/** What of an order a case is about, as far as it differs from a text alone. */
const saysOf = (model: string, { blocks = [prompt], ...order }: Order): string => {
  const media = blocks.flatMap((block) =>
    block.type === "text" ? [] : [block.type === "image" ? (block.role ?? "an image") : block.type]
  )
  return `${model}: ${[...media, JSON.stringify(order)].join(", ")}`
}

/** `path` is where every order goes. */
export const ordersOfFamilies = (path: string) => ({
  wires: [...third, ...second].map(({ model, order, input, parameters }) => ({
    says: saysOf(model, order),
    order: { ...order, upstreamModel: model },
    path,
    body: { model, input, parameters }
  })),
  unsent: refusals.map(([model, order, message]) => ({
    says: saysOf(model, order),
    order: { ...order, upstreamModel: model },
    body: { code: "InvalidParameter", message }
  }))
})
