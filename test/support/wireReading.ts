/** Reads orders off the wire as their vendors would, from the wire formats alone. */
import { Predicate } from "effect"
import { flagsIn } from "./flagReader.ts"
import type { Tier } from "./protocolTable/tariffs.ts"

interface Asked {
  readonly seconds: unknown
  readonly tier: unknown
  readonly images: number
  readonly videos: number
  readonly audios: number
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (Predicate.isObject(value) ? { ...value } : {})
const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const typesIn = (value: unknown) => listOf(value).map((item) => fieldsOf(item).type)
const lower = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : value)

const counted = (types: ReadonlyArray<unknown>, image: RegExp, video: RegExp, audio: RegExp) => {
  const count = (kind: RegExp) =>
    types.filter((type) => typeof type === "string" && kind.test(type)).length
  return { images: count(image), videos: count(video), audios: count(audio) }
}

const content = (body: Fields): Asked => ({
  seconds: body.duration,
  tier: body.resolution,
  ...counted(typesIn(body.content), /^image/, /^video/, /^audio/)
})

const unified = (body: Fields): Asked => {
  const { duration, resolution } = fieldsOf(body.settings)
  return {
    seconds: duration,
    tier: resolution,
    ...counted(typesIn(body.contents), /_frame$|^refer_image$/, /_video$/, /^refer_audio$/)
  }
}

const flat = (body: Fields): Asked => ({
  seconds: body.duration,
  tier: body.resolution,
  images: listOf(body.images).length,
  videos: 0,
  audios: 0
})

const older = (body: Fields): Asked => ({
  seconds: typeof body.duration === "string" ? Number(body.duration) : null,
  tier: new Map<unknown, Tier>([
    ["std", "720p"],
    ["pro", "1080p"],
    ["4k", "4k"]
  ]).get(body.mode),
  images: body.image === undefined ? 0 : 1,
  videos: 0,
  audios: 0
})

/** The short side of the sizes on offer, or the side of their square. */
const tierOfSize = (size: unknown): unknown => {
  const [width = 0, height = 0] = String(size).split("*").map(Number)
  return width * height > 1_500_000 ? "1080p" : "720p"
}

const cloud = (body: Fields): Asked => {
  const { prompt: _, img_url, audio_url, reference_urls, media } = fieldsOf(body.input)
  const { duration, resolution, size } = fieldsOf(body.parameters)
  const urls = listOf(reference_urls).map(String)
  const inMedia = counted(typesIn(media), /_frame$|_image$/, /_video$|_clip$/, /_audio$/)
  const videos = urls.filter((url) => url.endsWith(".mp4")).length
  return {
    seconds: duration,
    tier: size === undefined ? lower(resolution) : tierOfSize(size),
    images: inMedia.images + urls.length - videos + (img_url === undefined ? 0 : 1),
    videos: inMedia.videos + videos,
    audios: inMedia.audios + (audio_url === undefined ? 0 : 1)
  }
}

interface Wire {
  readonly path: RegExp
  readonly read: (body: Fields) => Asked
  /** Every field the gateway may write, at any depth. */
  readonly fields: ReadonlyArray<string>
}

const blockFields =
  "model content type text role url image_url audio_url video_url duration ratio generate_audio"
const unifiedFields =
  "prompt contents type text url settings resolution aspect_ratio duration audio multi_shot options external_task_id watermark_info enabled"

const wires: ReadonlyArray<Wire> = [
  {
    path: /^\/vp_a\//,
    read: content,
    fields: `${blockFields} resolution seed camera_fixed watermark return_last_frame`.split(" ")
  },
  {
    path: /^\/vp_b\//,
    read: (body) => ({
      ...content(body),
      tier: "resolution" in body ? "none may be sent" : "720p"
    }),
    fields: blockFields.split(" ")
  },
  {
    path: /^\/vp_c\/doubao\//,
    read: content,
    fields: `${blockFields} resolution seed camera_fixed watermark return_last_frame prompt`.split(
      " "
    )
  },
  {
    path: /^\/vp_c\/kling\//,
    read: older,
    fields: "model_name prompt image duration mode aspect_ratio sound".split(" ")
  },
  { path: /^\/vp_d\//, read: unified, fields: unifiedFields.split(" ") },
  {
    path: /^\/(?:vp_e|vp_c\/vidu)\//,
    read: flat,
    fields:
      "model prompt images duration resolution aspect_ratio audio seed watermark payload".split(" ")
  },
  {
    path: /^\/(?:vp_f|vp_c\/qwen)\//,
    read: cloud,
    fields:
      "model input prompt img_url audio_url reference_urls media type url parameters resolution ratio size duration audio seed watermark negative_prompt prompt_extend shot_type".split(
        " "
      )
  }
]

/** The names of all fields, at any depth. */
const namesIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(namesIn)
  return Predicate.isObject(value)
    ? Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)])
    : []
}

const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  return Array.isArray(value) || Predicate.isObject(value)
    ? Object.values(value).flatMap(textsIn)
    : []
}

export interface Reading extends Asked {
  /** Fields nobody ordered, and flags left in a text. */
  readonly strays: ReadonlyArray<string>
}

export const readWire = (path: string, body: unknown): Reading | null => {
  const wire = wires.find((one) => one.path.test(path))
  if (wire === undefined) return null
  return {
    ...wire.read(fieldsOf(body)),
    strays: [
      ...namesIn(body).filter((name) => !wire.fields.includes(name)),
      ...textsIn(body).filter((text) => flagsIn(text).length > 0)
    ]
  }
}

/** How many images a request asks for; null when it leaves the number to the vendor. */
export const readImageCount = (path: string, body: unknown): unknown => {
  const { n, parameters } = fieldsOf(body)
  const messages = /aigc/.test(path)
  return (messages ? fieldsOf(parameters).n : n) ?? null
}

/** The roles of vendors' items, in the words of clients. */
const roleNames: Readonly<Record<string, string>> = {
  refer_image: "reference_image",
  feature_video: "reference_video",
  refer_audio: "reference_audio",
  driving_audio: "reference_audio"
}

/** The roles of the media in a request, by its form. */
const rolesIn = (path: string, body: Fields): ReadonlyArray<string> => {
  const { media, reference_urls, img_url } = fieldsOf(body.input)
  if (body.content !== undefined) {
    return listOf(body.content)
      .map(fieldsOf)
      .flatMap(({ type, role = "first_frame" }) => (type === "text" ? [] : [String(role)]))
  }
  const types = [...typesIn(body.contents), ...typesIn(media)].map(String)
  if (types.length > 0) return types.map((type) => roleNames[type] ?? type)
  if (listOf(reference_urls).length > 0) {
    return listOf(reference_urls).map((url) =>
      String(url).endsWith(".mp4") ? "reference_video" : "reference_image"
    )
  }
  if (img_url !== undefined || body.image !== undefined) return ["first_frame"]
  if (path.includes("start-end2video")) return ["first_frame", "last_frame"]
  if (path.includes("img2video")) return ["first_frame"]
  return path.includes("reference2video") ? listOf(body.images).map(() => "reference_image") : []
}

/**
 * What a video is made from, the number of its reference images, and the sound that is ordered; null
 * where no field says it.
 */
export const readFacts = (path: string, request: unknown) => {
  const body = fieldsOf(request)
  const roles = rolesIn(path, body)
  const isReference = roles.includes("reference_image") || roles.includes("reference_video")
  const ofFrames = roles.includes("first_frame") ? "image" : "text"
  const [sound = null] = [
    body.generate_audio,
    body.audio,
    body.sound,
    fieldsOf(body.settings).audio,
    fieldsOf(body.parameters).audio
  ].filter((value) => value !== undefined)
  return {
    mode: isReference ? "reference" : roles.includes("last_frame") ? "frames" : ofFrames,
    references: roles.filter((role) => role === "reference_image").length,
    sound: sound === null ? null : sound === true || sound === "native" || sound === "on"
  } as const
}
