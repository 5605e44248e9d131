/** The tokens of a text order for tests that are about something else than what a vendor may count. */
import type { ExpectedTokens } from "../../src/domain/text/TextQuote.ts"

/** Any count of a vendor is believed. */
export const expectedTokens = (inputTokens: bigint, outputTokens: bigint): ExpectedTokens => ({
  inputTokens,
  outputTokens,
  leastInput: 0n,
  mostInput: 10n ** 12n,
  mostOutput: 10n ** 12n
})
