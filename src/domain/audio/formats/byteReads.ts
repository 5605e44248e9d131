/** Reads numbers and words from a file; bytes after its end count as 0. */

export const bigEndianAt = (bytes: Uint8Array, at: number, width: number): number => {
  let value = 0
  for (let index = at; index < at + width; index++) value = value * 256 + (bytes[index] ?? 0)
  return value
}

export const littleEndianAt = (bytes: Uint8Array, at: number, width: number): number => {
  let value = 0
  for (let index = at + width - 1; index >= at; index--) value = value * 256 + (bytes[index] ?? 0)
  return value
}

/** Whether a text of ASCII characters stands at an offset. */
export const isTextAt = (bytes: Uint8Array, at: number, text: string): boolean => {
  for (let index = 0; index < text.length; index++)
    if (bytes[at + index] !== text.charCodeAt(index)) return false
  return true
}

const ID3_HEAD_BYTES = 10

/**
 * The offset behind the ID3v2 tag at the start of a file (id3.org, ID3v2.4.0, 3.1): 0 without a tag.
 * The size of a tag has 7 bits per byte. A tag that claims more than the file holds hides nothing.
 */
export const offsetBehindId3 = (bytes: Uint8Array): number => {
  if (!isTextAt(bytes, 0, "ID3")) return 0
  let size = 0
  for (let index = 6; index < ID3_HEAD_BYTES; index++)
    size = size * 128 + ((bytes[index] ?? 0) & 127)
  const end = ID3_HEAD_BYTES + size
  return end < bytes.length ? end : ID3_HEAD_BYTES
}
