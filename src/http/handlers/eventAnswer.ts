/** A text that is sent to the client as server-sent events while it is written. */
import { Stream } from "effect"
import type { WrittenText } from "../../orders/textStream.ts"
import { errorBody } from "../server/errorResponse.ts"

export class EventAnswer {
  readonly text: WrittenText
  constructor(text: WrittenText) {
    this.text = text
  }
}

/** Proxies that hold answers back would hold every event back. */
export const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no"
}

const utf8 = new TextEncoder()
const event = (data: string): Uint8Array => utf8.encode(`data: ${data}\n\n`)

/**
 * Every event as soon as it is there. The last one tells that the charge is in the books, or what
 * became of the rest. `cutOff` is called when the client takes nothing for too long: who sends is
 * waiting for it then, so only the socket can be told.
 */
export const eventsUnlessCut = (
  text: WrittenText,
  cutOff: () => void
): Stream.Stream<Uint8Array> => {
  text.onCut(cutOff)
  return text.events.pipe(
    Stream.concat(Stream.succeed(event("[DONE]"))),
    Stream.catch((error) => Stream.succeed(event(JSON.stringify(errorBody(error)))))
  )
}
