/**
 * Measures how long the sound of a file lasts, before a vendor is called that charges by the second.
 * The whole file is in memory, and each byte is visited a bounded number of times.
 */
import { flacMilliseconds } from "./formats/flac.ts"
import { m4aMilliseconds } from "./formats/m4a.ts"
import { mp3Milliseconds } from "./formats/mp3.ts"
import { oggMilliseconds } from "./formats/ogg.ts"
import { wavMilliseconds } from "./formats/wav.ts"
import { webmMilliseconds } from "./formats/webm.ts"

/** The formats whose length the gateway can measure. "m4a" is every MP4, "webm" also Matroska. */
export const soundFormats = ["wav", "mp3", "m4a", "ogg", "flac", "webm"] as const
export type SoundFormat = (typeof soundFormats)[number]

/** The longest length that is told, in milliseconds: 24 hours. Headers may declare any number. */
const MAX_MILLISECONDS = 24 * 3600 * 1000

/** Reads the length in milliseconds of a file of one format; null if it is of another format. */
type Reader = (bytes: Buffer) => number | null

/** MP3 comes last: it has no signature, so that its frames are searched for. */
const readers: ReadonlyArray<readonly [SoundFormat, Reader]> = [
  ["wav", wavMilliseconds],
  ["flac", flacMilliseconds],
  ["ogg", oggMilliseconds],
  ["webm", webmMilliseconds],
  ["m4a", m4aMilliseconds],
  ["mp3", mp3Milliseconds]
]

/**
 * The format of a sound file, told by its content alone, and its length in whole milliseconds, from
 * 1 to 24 hours: a longer sound is told as 24 hours. The length is the larger of what the headers
 * declare and what the bytes hold, so that nobody pays less by a header that declares too little.
 * A file that was cut has the length of the rest, or that of its header. Null if the file is of no
 * such format or has no length.
 */
export const soundLength = (
  bytes: Uint8Array
): { readonly format: SoundFormat; readonly milliseconds: number } | null => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const [format, read] of readers) {
    const milliseconds = read(file)
    if (milliseconds === null) continue
    return milliseconds > 0
      ? { format, milliseconds: Math.min(Math.ceil(milliseconds - 1e-6), MAX_MILLISECONDS) }
      : null
  }
  return null
}
