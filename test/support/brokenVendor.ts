/** A vendor that answers exactly what a test says, over a real socket of 127.0.0.1. */
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:net"
import { text } from "node:stream/consumers"
import { Effect, type Scope } from "effect"
import { serving, urlOf } from "./httpServer.ts"

export interface WrittenReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text and bytes are sent as they are, anything else as JSON; nothing is sent when left out. */
  readonly body?: unknown
}

export type Reply =
  | WrittenReply
  /** Reads the whole request and never answers. */
  | "hang"
  /** Answers a status, headers and one byte of a longer body, and no more. */
  | "hang after one byte"
  /** Reads the whole request and resets the connection. */
  | "reset"
  /** Closes the connection in the middle of the body it announced. */
  | "cut"

export interface ReceivedRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  /** Lower-case names; nothing is hidden. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: string
}

export interface BrokenVendor {
  /** Without a slash at the end. */
  readonly url: string
  /** Everything received so far, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<ReceivedRequest>>
  /** Waits until a request was received whole and its reply was written as far as it goes. */
  readonly replied: Effect.Effect<void>
}

const writeReply = (reply: Reply, response: ServerResponse): void => {
  switch (reply) {
    case "hang":
      return
    case "hang after one byte":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      response.write("{")
      return
    case "reset":
      response.socket?.resetAndDestroy()
      return
    case "cut":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" })
      response.write('{"id":"cut', () => response.socket?.destroy())
      return
    default: {
      const { status = 200, headers = { "content-type": "application/json" }, body } = reply
      response.writeHead(status, headers)
      if (body === undefined) response.end()
      else
        response.end(
          typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body)
        )
    }
  }
}

/** Serves until the scope closes; `replyTo` may look at the request, and take its time. */
export const brokenVendor = (
  replyTo: Reply | ((request: ReceivedRequest) => Reply | Promise<Reply>)
): Effect.Effect<BrokenVendor, never, Scope.Scope> =>
  Effect.suspend(() => {
    const received: Array<ReceivedRequest> = []
    const replied = Promise.withResolvers<void>()
    const handle = async (request: IncomingMessage, response: ServerResponse) => {
      const { method = "", url = "", headers } = request
      const seen = { method, target: url, headers, body: await text(request) }
      received.push(seen)
      const reply = typeof replyTo === "function" ? await replyTo(seen) : replyTo
      writeReply(reply, response)
      replied.resolve()
    }
    return Effect.map(
      serving((request, response) => void handle(request, response)),
      (url) => ({
        url,
        requests: Effect.sync(() => [...received]),
        replied: Effect.promise(() => replied.promise)
      })
    )
  })

/** An address where nothing listens (any more). */
export const closedPort: Effect.Effect<string> = Effect.promise(async () => {
  const server = createServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const url = urlOf(server)
  server.close()
  await once(server, "close")
  return url
})
