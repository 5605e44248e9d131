/** The bytes of JSON's syntax, for scanners that run before parsing. */

export const QUOTE = 0x22
const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d
/** The largest byte that is whitespace or a control character. Scanners skip all bytes up to it. */
export const SPACE = 0x20

/** The number of consecutive backslashes directly before `end`, at most back to `from`. */
export const backslashesBefore = (bytes: Buffer, from: number, end: number): number => {
  let start = end
  while (start > from && bytes[start - 1] === BACKSLASH) start--
  return end - start
}
