/** Compares secrets that requests send as texts. */
import { Mac } from "effect/crypto"

const utf8 = (text: string) => new TextEncoder().encode(text)

/** Whether the text is the secret, in a time that does not depend on where they differ. */
export const isSameSecret = (text: string, secret: string): boolean =>
  Mac.timingSafeEqual(utf8(text), utf8(secret))
