/** A receiver of webhooks on this machine, which answers as a test tells it. */
import type { ServerResponse } from "node:http"
import { text as readText } from "node:stream/consumers"
import { Effect, Schema } from "effect"
import { serving } from "./httpServer.ts"

export interface Received {
  readonly path: string
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: typeof Told.Type
}

const Told = Schema.fromJsonString(
  Schema.Struct({
    type: Schema.String,
    timestamp: Schema.String,
    data: Schema.Record(Schema.String, Schema.Unknown)
  })
)
const decodeTold = Schema.decodeUnknownSync(Told)

export type Answer = (response: ServerResponse, received: Received) => void

export const withStatus =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end("noted")

/** Listens until the scope closes. `answer` may be told again at any time. */
export const makeReceiver = Effect.fnUntraced(function* (first: Answer = withStatus(200)) {
  const received: Array<Received> = []
  let answer = first
  const url = yield* serving((request, response) => {
    void readText(request).then((text) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)])
      )
      const one = {
        path: request.url ?? "",
        id: headers["webhook-id"] ?? "",
        headers,
        text,
        body: decodeTold(text)
      }
      received.push(one)
      answer(response, one)
    })
  })
  return {
    url,
    received,
    tell: (next: Answer) => {
      answer = next
    },
    /** When so many have come, which are such. */
    awaited: (count: number, isSuch: (one: Received) => boolean = () => true) =>
      Effect.sync(() => received.filter(isSuch)).pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (those) => those.length >= count })
      )
  }
})
