/** Status words that mean a job is in the works: those a vendor documents, and any it does not. */
import type { VideoStatus } from "../services/ProtocolAdapter.ts"

/**
 * A word no table lists is never taken for an end. It is handed on, so that somebody hears of a
 * vendor that has learnt a new one.
 */
export const inTheWorks = (documented: ReadonlySet<string>, word: string): VideoStatus =>
  documented.has(word) ? { _tag: "Processing" } : { _tag: "Processing", strangeWord: word }
