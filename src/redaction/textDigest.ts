/**
 * A digest in place of a text that is not stored, by which an operator who has the text finds its
 * order: the first characters of its SHA-256 in hex, as `printf %s TEXT | sha256sum | cut -c1-12` prints.
 */
import { hash } from "node:crypto"

const DIGEST_LENGTH = 12
/** Longer texts get no digest, because computing it would block the event loop. */
const MAX_DIGESTED = 256 * 1024

/** Null for an empty and for a very long text. */
export const textDigest = (text: string): string | null =>
  text === "" || text.length > MAX_DIGESTED ? null : hash("sha256", text).slice(0, DIGEST_LENGTH)
