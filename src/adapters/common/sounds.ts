/** Spoken texts as their clients get them: a sound's bytes, or events of the common standard form. */
import type { WorkPiece } from "../../services/ProtocolAdapter.ts"

/** A part of a sound, which is passed on as it arrived. */
export const soundPiece = (bytes: Uint8Array): WorkPiece => ({
  bytes,
  hasProduct: true,
  usage: null,
  outputBytes: 0
})

const eventOf = (data: object): Uint8Array => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)

/** A part of a sound in an event. Every event is decoded by itself, so a part may have any length. */
export const soundEvent = ({ buffer, byteOffset, byteLength }: Uint8Array): WorkPiece =>
  soundPiece(
    eventOf({
      type: "speech.audio.delta",
      audio: Buffer.from(buffer, byteOffset, byteLength).toString("base64")
    })
  )

/** The event that ends a sound whose vendor counts nothing. */
export const soundEnd: WorkPiece = {
  bytes: eventOf({ type: "speech.audio.done" }),
  hasProduct: false,
  usage: null,
  outputBytes: 0
}
