/** The part of a file that a `Range` header asks for (RFC 9110, 14). */
import type { ByteRange } from "../services/results/ArchiveBucket.ts"

/**
 * Null where the whole file is to be answered: without a header, and with one that is not understood or
 * asks for several parts. "beyond" where the file has no such part.
 */
export const partOf = (range: string | undefined, bytes: number): ByteRange | "beyond" | null => {
  const asked = /^bytes=(\d*)-(\d*)$/.exec(range ?? "")
  if (asked === null) return null
  const [, first = "", last = ""] = asked
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
