/** Orders in the forms of vp_f's models, and those that no form can hold. */
import type { VideoOrder } from "../../src/services/ProtocolAdapter.ts"
import { AUDIO, audio, IMAGE, image, PROMPT, prompt, SECOND_IMAGE, VIDEO, video } from "./blocks.ts"
import { textBlock } from "./support.ts"
import type { VideoSubject } from "./VideoAdapter.suite.ts"
import { ordersOfFamilies, picture } from "./vp_f.families.ts"

const T26 = "x2.6-t2v"
const T27 = "x2.7-t2v"
const I26 = "x2.6-i2v"
const I27 = "x2.7-i2v"
const R26 = "x2.6-r2v"
const R27 = "x2.7-r2v"

const tier = { resolution: "720P", duration: 5, watermark: false }
const sized = { size: "1280*720", duration: 5, watermark: false }

const envelope = (model: string, input: object, parameters: object) => ({
  model,
  input: { prompt: PROMPT, ...input },
  parameters
})

const refusedAs = (message: string) => ({ code: "InvalidParameter", message })

/** Every size of the text model, by resolution and ratio. */
const sizes = [
  ["720p", "16:9", "1280*720"],
  ["720p", "9:16", "720*1280"],
  ["720p", "1:1", "960*960"],
  ["720p", "4:3", "1088*832"],
  ["720p", "3:4", "832*1088"],
  ["1080p", "16:9", "1920*1080"],
  ["1080p", "9:16", "1080*1920"],
  ["1080p", "1:1", "1440*1440"],
  ["1080p", "4:3", "1632*1248"],
  ["1080p", "3:4", "1248*1632"]
] as const

/** Models whose id tells no kind, or no version. */
const vague = [
  ["m-1", {}, {}, {}],
  ["m-1", { blocks: [prompt, audio] }, { audio_url: AUDIO }, {}],
  [
    "m-1",
    { blocks: [prompt, picture()], ratio: "16:9" },
    { media: [{ type: "first_frame", url: IMAGE }] },
    {}
  ],
  [
    "m-1",
    { blocks: [prompt, image()], ratio: "16:9" },
    { media: [{ type: "reference_image", url: IMAGE }] },
    { ratio: "16:9" }
  ],
  [
    "m-1",
    { blocks: [prompt, picture(), picture(SECOND_IMAGE)] },
    {
      media: [
        { type: "reference_image", url: IMAGE },
        { type: "reference_image", url: SECOND_IMAGE }
      ]
    },
    {}
  ],
  [
    "m-1",
    { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
    {
      media: [
        { type: "first_frame", url: IMAGE },
        { type: "last_frame", url: SECOND_IMAGE }
      ]
    },
    {}
  ],
  [
    "m-1",
    { blocks: [prompt, image(), image(SECOND_IMAGE)], ratio: "16:9" },
    {
      media: [
        { type: "reference_image", url: IMAGE },
        { type: "reference_image", url: SECOND_IMAGE }
      ]
    },
    { ratio: "16:9" }
  ],
  ["m-1", { blocks: [prompt, video] }, { media: [{ type: "reference_video", url: VIDEO }] }, {}],
  ["x-t2v", { ratio: "1:1" }, {}, { ratio: "1:1" }],
  ["x3.0-t2v-cn", { ratio: "1:1" }, {}, { ratio: "1:1" }],
  ["x12.6-t2v", { ratio: "1:1" }, {}, { ratio: "1:1" }]
] as const

/** `path` is where every order goes. */
export const ordersOfVpF = (path: string) => {
  const wire = (
    says: string,
    model: string,
    order: Partial<VideoOrder>,
    input: object,
    parameters: object,
    more: { readonly refusedWith?: number } = {}
  ) => ({
    says: `${model}: ${says}`,
    order: { ...order, upstreamModel: model },
    path,
    body: envelope(model, input, parameters),
    ...more
  })
  const unsent = (says: string, model: string, order: Partial<VideoOrder>, message: string) => ({
    says: `${model}: ${says}`,
    order: { ...order, upstreamModel: model },
    body: refusedAs(message)
  })

  const families = ordersOfFamilies(path)
  return {
    wires: [
      ...families.wires,
      wire("a text alone has a size", T26, {}, {}, sized),
      ...sizes.map(([resolution, ratio, size]) =>
        wire(
          `${resolution} at ${ratio} is ${size}`,
          T26,
          { resolution, ratio },
          {},
          { ...sized, size }
        )
      ),
      wire("a suffix changes nothing", `${T26}-cn`, {}, {}, sized),
      wire("audio beside the text", T26, { blocks: [prompt, audio] }, { audio_url: AUDIO }, sized),
      wire("sound is always on and not said", T26, { generateAudio: false }, {}, sized),
      wire(
        "seed and watermark go out where they were said",
        T26,
        { parameters: { seed: 7, watermark: true } },
        {},
        { ...sized, seed: 7, watermark: true }
      ),
      wire("a text alone has a resolution", T27, { seconds: 15 }, {}, { ...tier, duration: 15 }),
      wire(
        "resolution in upper case, ratio as ordered, whatever it is",
        T27,
        { resolution: "1080p", ratio: "21:9", generateAudio: true },
        {},
        { ...tier, resolution: "1080P", ratio: "21:9" },
        { refusedWith: 400 }
      ),
      wire(
        "several texts are one prompt of as many lines",
        T27,
        { blocks: [prompt, textBlock("and at dawn"), audio] },
        { prompt: `${PROMPT}\nand at dawn`, audio_url: AUDIO },
        tier
      ),
      wire(
        "the image decides the ratio",
        I26,
        { blocks: [prompt, picture()], ratio: "9:16", generateAudio: true },
        { img_url: IMAGE },
        tier
      ),
      wire(
        "a first frame and audio",
        `${I26}-cn`,
        { blocks: [prompt, image(IMAGE, "first_frame"), audio] },
        { img_url: IMAGE, audio_url: AUDIO },
        tier
      ),
      wire(
        "the sound switch goes out",
        `${I26}-flash`,
        { blocks: [prompt, picture()], generateAudio: false },
        { img_url: IMAGE },
        { ...tier, audio: false }
      ),
      wire("no image is the vendor's to refuse", I26, {}, {}, tier, { refusedWith: 400 }),
      wire(
        "an image and audio are media",
        I27,
        { blocks: [prompt, picture(), audio], ratio: "16:9" },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "driving_audio", url: AUDIO }
          ]
        },
        tier
      ),
      wire(
        "frames keep their roles",
        `${I27}-cn`,
        { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE, "last_frame")] },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "last_frame", url: SECOND_IMAGE }
          ]
        },
        tier
      ),
      wire(
        "images and videos are references, with a size and a sound switch",
        R26,
        { blocks: [prompt, image(), video], ratio: "1:1", generateAudio: true },
        { reference_urls: [IMAGE, VIDEO] },
        { ...sized, size: "960*960", audio: true }
      ),
      wire(
        "images and videos are media of their kinds",
        R27,
        { blocks: [prompt, image(), video], ratio: "1:1", generateAudio: false },
        {
          media: [
            { type: "reference_image", url: IMAGE },
            { type: "reference_video", url: VIDEO }
          ]
        },
        { ...tier, ratio: "1:1", audio: false }
      ),
      wire(
        "a frame beside a reference stays a frame",
        R27,
        { blocks: [prompt, image(IMAGE, "first_frame"), image(SECOND_IMAGE)] },
        {
          media: [
            { type: "first_frame", url: IMAGE },
            { type: "reference_image", url: SECOND_IMAGE }
          ]
        },
        tier
      ),
      ...vague.map(([model, order, input, parameters], index) =>
        wire(`the newest form of what is ordered (${index})`, model, order, input, {
          ...tier,
          ...parameters
        })
      )
    ],
    unsent: [
      ...families.unsent,
      unsent(
        "a ratio without a size",
        T26,
        { ratio: "21:9" },
        "The size is not match the allowed size: 720p at 21:9"
      ),
      unsent(
        "a ratio that is a word of the language",
        T26,
        { ratio: "constructor" },
        "The size is not match the allowed size: 720p at constructor"
      ),
      unsent(
        "a tier without a size",
        R26,
        { blocks: [prompt, image()], resolution: "4K" },
        "The size is not match the allowed size: 4K at 16:9"
      ),
      unsent(
        "an image for a text model",
        T26,
        { blocks: [prompt, image()] },
        "The model does not accept image input"
      ),
      unsent(
        "a video for a text model",
        T27,
        { blocks: [prompt, video] },
        "The model does not accept video input"
      ),
      unsent(
        "a second audio",
        T27,
        { blocks: [prompt, audio, audio] },
        "The model accepts only one audio input"
      ),
      unsent(
        "a second image",
        I26,
        { blocks: [prompt, picture(), picture(SECOND_IMAGE)] },
        "The model accepts only one image input"
      ),
      unsent(
        "a last frame",
        I26,
        { blocks: [prompt, image(IMAGE, "last_frame")] },
        "The model does not accept a last frame"
      ),
      ...[I26, I27].map((model) =>
        unsent(
          "a reference image",
          model,
          { blocks: [prompt, image()] },
          "The model does not accept a reference image: an image is its first frame"
        )
      ),
      unsent(
        "a first frame where images are references",
        R26,
        { blocks: [prompt, image(IMAGE, "first_frame")] },
        "The model does not accept frames: its images are references"
      ),
      ...[I26, I27].map((model) =>
        unsent(
          "a reference video",
          model,
          { blocks: [prompt, image(), video] },
          "The model does not accept video input"
        )
      ),
      unsent(
        "audio beside references",
        R26,
        { blocks: [prompt, image(), audio] },
        "The model does not accept audio input"
      )
    ]
  } satisfies Partial<VideoSubject>
}
