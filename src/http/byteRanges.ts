/** Parses the `Range` header of a request for a file (RFC 9110, section 14). */
import type { ByteRange } from "../services/results/ArchiveBucket.ts"

/**
 * The requested byte range; null for the complete file, and "beyond" where the range begins after
 * the end of the file. A request gets the complete file when its `Range` header is absent,
 * malformed, or has several ranges.
 */
export const byteRangeOf = (
  range: string | undefined,
  bytes: number
): ByteRange | "beyond" | null => {
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? "")
  if (match === null) return null
  const [, first = "", last = ""] = match
  if (first === "" && last === "") return null
  if (first === "") {
    const length = Math.min(Number(last), bytes)
    return length === 0 ? "beyond" : { start: bytes - length, end: bytes - 1 }
  }
  const start = Number(first)
  if (last !== "" && Number(last) < start) return null
  if (start >= bytes) return "beyond"
  return { start, end: last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1) }
}
