/**
 * Normalizes a video request to a single order. This file is independent of protocols: bounds and
 * defaults are in `VideoSku.ts`.
 */
import { Result } from "effect"
import { InvalidRequest } from "../Errors.ts"
import { isList, MAX_MEDIA, mediaUrls, urlOf } from "../mediaUrls.ts"
import { MAX_PROMPT } from "../plainText.ts"
import { flagOf, parameterFlags } from "./flagTable.ts"
import { type FlagValues, takeFlags } from "./PromptFlags.ts"
import { type Shots, secondsOfShots, shotBlocks, shotsOf, type TextBlock } from "./shots.ts"
import {
  type ContentBlock,
  type ImageRole,
  isRatio,
  type VideoBody,
  type VideoRole,
  type Videos,
  vendorFieldsOf
} from "./VideoBody.ts"

/** An input block. The role of an image is null if the client gave none: the model then decides. */
export type VideoBlock =
  | TextBlock
  | { readonly type: "image"; readonly role: ImageRole | null; readonly url: string }
  | { readonly type: "audio"; readonly url: string }
  | {
      readonly type: "video"
      /** Missing for a reference. */
      readonly role?: Exclude<VideoRole, "reference_video">
      readonly url: string
    }

/**
 * A normalized request, each value in exactly one place. `null` means that the client gave no
 * value.
 */
export interface VideoInput {
  readonly blocks: ReadonlyArray<VideoBlock>
  /** The requested seconds; a string if a flag's value was not a whole number. */
  readonly seconds: number | string | null
  readonly resolution: string | null
  readonly ratio: string | null
  readonly generateAudio: boolean | null
  /** The vendor fields as received: the valid values depend on the model. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** The names of the vendor fields that a prompt flag set. */
  readonly flagged: ReadonlyArray<string>
}

const toBlock = (block: ContentBlock): VideoBlock => {
  switch (block.type) {
    case "text":
      return block
    case "image_url":
      return {
        type: "image",
        role: block.role ?? null,
        url: urlOf(block.image_url)
      }
    case "audio_url":
      return { type: "audio", url: urlOf(block.audio_url) }
    case "video_url": {
      const video = { type: "video", url: urlOf(block.video_url) } as const
      const { role } = block
      return role == null || role === "reference_video" ? video : { ...video, role }
    }
  }
}

const liftVideos = (videos: Videos | null | undefined): ReadonlyArray<ContentBlock> => {
  if (videos === null || videos === undefined) return []
  return (isList(videos) ? videos : [videos]).map((video) => ({
    type: "video_url",
    role: typeof video === "string" ? null : (video.role ?? null),
    video_url: urlOf(video)
  }))
}

/** Top-level media as blocks, in the order image, audio, video. */
const liftMedia = (body: VideoBody): ReadonlyArray<ContentBlock> => [
  ...[body.images, body.image, body.image_url]
    .flatMap(mediaUrls)
    .map((image_url): ContentBlock => ({ type: "image_url", image_url })),
  ...[body.audio, body.audio_url, body.audios]
    .flatMap(mediaUrls)
    .map((audio_url): ContentBlock => ({ type: "audio_url", audio_url })),
  ...[body.video, body.video_url, body.videos].flatMap(liftVideos)
]

/**
 * The blocks of an order. `content` takes precedence over top-level media; a top-level prompt is
 * added if `content` contains no text. Shots stand in place of both.
 */
const gatherBlocks = (body: VideoBody): ReadonlyArray<VideoBlock> => {
  const blocks = (body.content ?? liftMedia(body)).map(toBlock)
  if (hasShots(body)) return [...shotBlocks(body.shots), ...blocks]
  return typeof body.prompt !== "string" || blocks.some(({ type }) => type === "text")
    ? blocks
    : [{ type: "text", text: body.prompt }, ...blocks]
}

const wholeNumberText = /^-?\d{1,9}$/

const secondsOfFlag = (flag: string | undefined): number | string | null =>
  flag === undefined ? null : wholeNumberText.test(flag) ? Number(flag) : flag

/** Whether a flag's value can be a seed; vendors limit seeds to 32 bits. */
const isSeed = (flag: string) => /^-?\d{1,10}$/.test(flag)

const isBoolean = (flag: string) => /^(?:true|false)$/i.test(flag)

const isTrue = (flag: string) => flag.toLowerCase() === "true"

/** The checks for flag values that `resolveSku` does not check. */
const flagChecks = [
  ["ratio", isRatio, "an aspect ratio such as 16:9", "ratio"],
  ["generateAudio", isBoolean, "true or false", "generate_audio"],
  ["seed", isSeed, "a whole number", "prompt"],
  ["camera_fixed", isBoolean, "true or false", "prompt"],
  ["watermark", isBoolean, "true or false", "prompt"]
] as const

const refuse = (param: string, message: string) =>
  Result.fail(new InvalidRequest({ message: `${param}: ${message}`, param }))

const checkFlags = (flagValues: FlagValues): Result.Result<void, InvalidRequest> => {
  for (const [field, fits, expected, param] of flagChecks) {
    const value = flagValues[field]
    if (value !== undefined && !fits(value)) {
      return refuse(param, `Expected ${expected} behind ${flagOf(field)}`)
    }
  }
  return Result.void
}

/** The vendor fields set by flags, except those that the body sets. */
const parametersOfFlags = (flagValues: FlagValues, fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    parameterFlags.flatMap((name) => {
      const flag = flagValues[name]
      if (flag === undefined || Object.hasOwn(fields, name)) return []
      return [[name, name === "seed" ? Number(flag) : isTrue(flag)] as const]
    })
  )

type BodyWithShots = VideoBody & { readonly shots: Shots }

const hasShots = (body: VideoBody): body is BodyWithShots =>
  body.shots !== null && body.shots !== undefined

/** Refuses texts that are too long together, and texts beside shots, as no vendor has both. */
const checkTexts = (
  body: VideoBody,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<void, InvalidRequest> => {
  if (textOf(blocks).length > MAX_PROMPT) {
    const param = hasShots(body) ? "shots" : "content"
    return refuse(param, `Expected at most ${MAX_PROMPT} characters of text in all`)
  }
  if (!hasShots(body)) return Result.void
  const message = "Expected none beside shots, whose texts are the prompt"
  if (typeof body.prompt === "string" && body.prompt.trim() !== "") return refuse("prompt", message)
  const index = (body.content ?? []).findIndex(({ type }) => type === "text")
  return index === -1 ? Result.void : refuse(`content[${index}].text`, message)
}

const isBlank = (text: string): boolean =>
  Result.match(takeFlags([{ type: "text", text }]), {
    onSuccess: ({ blocks }) => blocks.length === 0,
    onFailure: () => false
  })

/** Refuses a shot without a text, which would be left out although its length is ordered. */
const checkShotTexts = (
  body: VideoBody,
  blocks: ReadonlyArray<VideoBlock>
): Result.Result<void, InvalidRequest> => {
  if (!hasShots(body) || shotsOf(blocks).length === body.shots.length) return Result.void
  const index = body.shots.findIndex(({ prompt }) => isBlank(prompt))
  return refuse(`shots[${index}].prompt`, "Expected a text that says what is to be seen")
}

/** The ordered seconds: those of the shots where there are any, which no other length may contradict. */
const secondsOf = (
  body: VideoBody,
  flagValues: FlagValues
): Result.Result<VideoInput["seconds"], InvalidRequest> => {
  const seconds = body.duration ?? secondsOfFlag(flagValues.duration)
  if (!hasShots(body)) return Result.succeed(seconds)
  const sum = secondsOfShots(body.shots)
  return seconds === null || seconds === sum
    ? Result.succeed(sum)
    : refuse(
        "duration",
        `The shots have ${sum} seconds in all, not ${seconds}; leave the field out`
      )
}

/**
 * Normalizes a body. Body fields take precedence over prompt flags, and flags are removed from the
 * text. Fails on a flag that is not accepted, and if nothing is left to make a video from.
 */
export const normaliseVideo = (body: VideoBody): Result.Result<VideoInput, InvalidRequest> =>
  Result.gen(function* () {
    const allBlocks = gatherBlocks(body)
    yield* checkTexts(body, allBlocks)
    const { blocks, flagValues } = yield* takeFlags(allBlocks)
    yield* checkFlags(flagValues)
    yield* checkShotTexts(body, blocks)
    const seconds = yield* secondsOf(body, flagValues)
    if (countInputs(blocks).images > MAX_MEDIA) {
      return yield* refuse("images", `Expected at most ${MAX_MEDIA} images in all`)
    }
    if (baseVideosOf(blocks).length > 1) {
      return yield* refuse("video", "Expected at most one video to edit or to extend")
    }
    if (blocks.length === 0) {
      return yield* Result.fail(
        new InvalidRequest({
          message: "Give a prompt, a content block or some media to make the video from",
          param: "prompt"
        })
      )
    }
    const fields = vendorFieldsOf(body)
    const flagged = parametersOfFlags(flagValues, fields)
    return {
      blocks,
      seconds,
      resolution: body.resolution ?? flagValues.resolution ?? null,
      ratio: body.ratio ?? flagValues.ratio ?? null,
      generateAudio:
        body.generate_audio ??
        (flagValues.generateAudio === undefined ? null : isTrue(flagValues.generateAudio)),
      parameters: { ...fields, ...flagged },
      flagged: Object.keys(flagged)
    }
  })

/** The videos that an order edits or extends; an order has at most one. */
export const baseVideosOf = (blocks: ReadonlyArray<VideoBlock>) =>
  blocks.flatMap((block) =>
    block.type === "video" && block.role !== undefined ? [{ role: block.role, url: block.url }] : []
  )

export const countInputs = (blocks: ReadonlyArray<VideoBlock>) => {
  const count = (type: VideoBlock["type"]) => blocks.filter((block) => block.type === type).length
  return { images: count("image"), audios: count("audio"), videos: count("video") }
}

/**
 * The text of an order: all text blocks in order, joined by line breaks; empty if there is none.
 */
export const textOf = (blocks: ReadonlyArray<VideoBlock>): string =>
  blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
