/** The pictures that some vendors make beside a video. */
import { Schema } from "effect"

export const VideoStills = Schema.Struct({
  /** The last frame, where it was ordered. */
  lastFrameUrl: Schema.optionalKey(Schema.String),
  /** A picture that stands for the video. */
  coverUrl: Schema.optionalKey(Schema.String)
})
export type VideoStills = typeof VideoStills.Type

/** What can be loaded of a video task: the video, or one of its stills. */
export type VideoFile = "video" | "last_frame" | "cover"

interface Still {
  readonly name: Exclude<VideoFile, "video">
  readonly url: string
  /** The number of the file among those of the task; the video is number 0. */
  readonly n: number
}

/** The stills that there are, in the order of their files. */
export const stillsOf = (stills: VideoStills | null): ReadonlyArray<Still> => {
  const addresses = [
    ["last_frame", stills?.lastFrameUrl],
    ["cover", stills?.coverUrl]
  ] as const
  return addresses
    .flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]))
    .map((still, index) => ({ ...still, n: index + 1 }))
}
