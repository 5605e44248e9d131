/** A receiver of webhooks on this machine, which answers as a test tells it. */

import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect, Schema } from "effect"

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

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export type Answer = (response: ServerResponse, received: Received) => void

export const withStatus =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end("noted")

/** Listens until the scope closes. `answer` may be told again at any time. */
export const makeReceiver = Effect.fnUntraced(function* (first: Answer = withStatus(200)) {
  const received: Array<Received> = []
  let answer = first
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer((request, response) => {
        void textOf(request).then((text) => {
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
      server.listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  return {
    url: `http://127.0.0.1:${address.port}`,
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
