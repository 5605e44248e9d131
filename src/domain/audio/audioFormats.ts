/** The formats of spoken texts and of transcripts in the common standard form. */

export const speechFormats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const
export type SpeechFormat = (typeof speechFormats)[number]

/** The content types of the sounds, by `response_format`. */
export const speechTypes = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm"
} as const satisfies Record<SpeechFormat, string>

export const transcriptFormats = ["json", "text", "srt", "verbose_json", "vtt"] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]

/** The content types of the transcripts, by `response_format`. */
export const transcriptTypes = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  srt: "text/plain; charset=utf-8",
  verbose_json: "application/json",
  vtt: "text/vtt; charset=utf-8"
} as const satisfies Record<TranscriptFormat, string>

/** The parts of a transcript that can have their times, by `timestamp_granularities`. */
export const granularities = ["word", "segment"] as const
export type Granularity = (typeof granularities)[number]

/** The content type of server-sent events. */
export const EVENT_STREAM = "text/event-stream"
