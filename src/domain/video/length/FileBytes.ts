/** A file with random access, of which only the requested ranges are read. */

/** The remaining read quota, for one file or for several. */
export interface ReadBounds {
  reads: number
  bytes: number
}

export interface FileBytes {
  /** The number of bytes of the whole file. */
  readonly length: number
  /** The bytes from `start` to `start + length`; null if the file or the quota ends before. */
  read(start: number, length: number): Buffer | null
  /** Whether a read failed because of the quota. */
  isCutOff(): boolean
}

/** A file with a read quota. `at` returns a range of bytes that the file contains. */
const boundedFile = (
  length: number,
  bounds: ReadBounds,
  at: (start: number, count: number) => Buffer
): FileBytes => {
  let cutOff = false
  return {
    length,
    isCutOff: () => cutOff,
    read: (start, count) => {
      if (start + count > length) return null
      if (bounds.reads < 1 || bounds.bytes < count) {
        cutOff = true
        return null
      }
      bounds.reads -= 1
      bounds.bytes -= count
      const bytes = at(start, count)
      return bytes.length === count ? bytes : null
    }
  }
}

/** A file in base64, which begins at offset `from` of the text. */
export const fileBytes = (text: string, from: number, bounds: ReadBounds): FileBytes => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const length = Math.floor(((text.length - padding - from) * 3) / 4)
  return boundedFile(length, bounds, (start, count) => {
    // Four base64 characters encode three bytes.
    const group = Math.floor(start / 3)
    const lastGroup = Math.ceil((start + count) / 3)
    const decoded = Buffer.from(text.slice(from + 4 * group, from + 4 * lastGroup), "base64")
    const skippedBytes = start - 3 * group
    return decoded.subarray(skippedBytes, skippedBytes + count)
  })
}

/** A file in memory. */
export const bufferBytes = (bytes: Buffer, bounds: ReadBounds): FileBytes =>
  boundedFile(bytes.length, bounds, (start, count) => bytes.subarray(start, start + count))
