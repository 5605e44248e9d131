/** How many tokens a text is taken to be before, or without, a vendor's count. */

const BYTES_PER_TOKEN = 3

/** No text has fewer tokens than one for so many of its bytes. */
export const MOST_BYTES_PER_TOKEN = 32

/** One for each 3 bytes of UTF-8, begun ones count. */
export const tokensOfBytes = (bytes: number): bigint => BigInt(Math.ceil(bytes / BYTES_PER_TOKEN))

/** A count below this is none of a text of so many bytes. */
export const leastTokensOf = (textBytes: number): bigint =>
  BigInt(Math.floor(textBytes / MOST_BYTES_PER_TOKEN))
