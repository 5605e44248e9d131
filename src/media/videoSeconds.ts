/** The length a video file states or, where its header states none, that of its frames. */
import { createFile, MP4BoxBuffer } from "mp4box"

/** Longer than anything a vendor takes; a header that claims more is not believed. */
const MAX_SECONDS = 3600

const plausible = (seconds: number): boolean =>
  Number.isFinite(seconds) && seconds > 0 && seconds <= MAX_SECONDS

/**
 * Seconds of an MP4 or QuickTime file; null when it is neither or cannot be read. A hostile file
 * can make this take any time and memory.
 */
export const videoSeconds = (bytes: Uint8Array): number | null => {
  try {
    const file = createFile()
    file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(bytes).buffer, 0), true)
    file.flush()
    const movie = file.getInfo()
    if (!movie.hasMoov) return null
    const fragments = movie.fragment_duration
    const stated = [
      movie.duration / movie.timescale,
      fragments === undefined ? 0 : fragments.num / fragments.den,
      ...movie.tracks.map((track) => track.duration / track.timescale),
      Math.max(0, ...movie.tracks.map((track) => track.samples_duration / track.timescale))
    ]
    return stated.find((seconds) => plausible(seconds)) ?? null
  } catch {
    return null
  }
}
