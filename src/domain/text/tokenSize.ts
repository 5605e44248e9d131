/** Estimates the tokens of a text, before or without a vendor's count. */

const BYTES_PER_TOKEN = 3

/**
 * The maximum number of bytes per token: every text has at least its number of bytes divided by
 * this.
 */
export const MOST_BYTES_PER_TOKEN = 32

/** One token per 3 bytes of UTF-8, rounded up. */
export const tokensOfBytes = (bytes: number): bigint => BigInt(Math.ceil(bytes / BYTES_PER_TOKEN))

/** The minimum plausible token count of a text with this number of bytes. */
export const leastTokensOf = (textBytes: number): bigint =>
  BigInt(Math.floor(textBytes / MOST_BYTES_PER_TOKEN))
