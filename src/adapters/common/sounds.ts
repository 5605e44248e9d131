/** Spoken texts as their clients get them: a sound's bytes, or events of the common standard form. */

import type { WorkPiece } from "../../services/ProtocolAdapter.ts"
import { eventOf } from "../wire/eventBlocks.ts"

/** A part of a sound, which is passed on as it arrived. */
export const soundPiece = (bytes: Uint8Array): WorkPiece => ({
  bytes,
  hasProduct: true,
  usage: null,
  outputBytes: 0
})

/** An event of the common standard form. */
export const standardEvent = (event: object): Uint8Array => eventOf(JSON.stringify(event))

/** The event of a part of a sound. Every event is decoded by itself, so a part may have any length. */
export const soundDelta = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array =>
  standardEvent({
    type: "speech.audio.delta",
    audio: Buffer.from(buffer, byteOffset, byteLength).toString("base64")
  })

/** The event that ends a sound, with the usage where the vendor reports one. */
export const soundDone = (usage: { readonly usage?: object } = {}): Uint8Array =>
  standardEvent({ type: "speech.audio.done", ...usage })
