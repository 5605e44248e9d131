/**
 * What stands for a text that is not kept: the operator who has the text finds its order by it. The
 * first characters of its SHA-256 in hex, as `printf %s TEXT | sha256sum | cut -c1-12` tells them.
 */
import { hash } from "node:crypto"

const DIGEST_LENGTH = 12
/** A longer text has none: its digest would hold up everybody's requests. */
const MAX_DIGESTED = 256 * 1024

/** Null of no text, and of a very long one. */
export const textDigest = (text: string): string | null =>
  text === "" || text.length > MAX_DIGESTED ? null : hash("sha256", text).slice(0, DIGEST_LENGTH)
