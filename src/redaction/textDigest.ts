/**
 * A digest in place of a text that is not stored. An operator who has the text can find its order
 * by the digest: the first characters of its SHA-256 in hex, as `printf %s TEXT | sha256sum | cut
 * -c1-12` prints.
 */
import { hash } from "node:crypto"

const DIGEST_LENGTH = 12
/** The maximum length of a text with a digest; hashing longer texts would block the event loop. */
const MAX_DIGESTED = 256 * 1024

/** The digest of a text; null for an empty or a very long text. */
export const textDigest = (text: string): string | null =>
  text === "" || text.length > MAX_DIGESTED ? null : hash("sha256", text).slice(0, DIGEST_LENGTH)
