/** A file of which only the parts that are asked for are read. */

/** How much may still be read, of one file or of several. */
export interface ReadBounds {
  reads: number
  bytes: number
}

export interface FileBytes {
  /** Bytes of the whole file. */
  readonly length: number
  /** The bytes from `start` to `start + length`; null where the file or the bounds end before. */
  read(start: number, length: number): Buffer | null
  /** True when something was not read because of the bounds. */
  isCutOff(): boolean
}

/** `at` gives the bytes of a part that the file has. */
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

/** The file whose base64 text begins at `from`. */
export const fileBytes = (text: string, from: number, bounds: ReadBounds): FileBytes => {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const length = Math.floor(((text.length - padding - from) * 3) / 4)
  return boundedFile(length, bounds, (start, count) => {
    // Four characters are three bytes.
    const group = Math.floor(start / 3)
    const lastGroup = Math.ceil((start + count) / 3)
    const decoded = Buffer.from(text.slice(from + 4 * group, from + 4 * lastGroup), "base64")
    const skippedBytes = start - 3 * group
    return decoded.subarray(skippedBytes, skippedBytes + count)
  })
}

/** The file that is in memory. */
export const bufferBytes = (bytes: Buffer, bounds: ReadBounds): FileBytes =>
  boundedFile(bytes.length, bounds, (start, count) => bytes.subarray(start, start + count))
