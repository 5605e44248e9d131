/** A chat vendor that streams what a test tells it to, when it tells it to. */
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import { Effect, type Scope } from "effect"
import { serving } from "./httpServer.ts"

export interface HeldStream {
  /** Without a slash at the end. */
  readonly url: string
  /** Writes to the stream of the latest request, and waits for one. */
  write(text: string): Effect.Effect<void>
  /** Ends it in good form. */
  readonly end: Effect.Effect<void>
  /** Waits until the latest request's connection is given up, or its answer taken to the end. */
  readonly closed: Effect.Effect<void>
  /** The other end of the latest request's connection. */
  readonly clientPort: Effect.Effect<number | undefined>
}

export const chunkOf = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

export const finished = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`

export const done = "data: [DONE]\n\n"

const usageOf = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output
})

/** A count without words. */
export const countOf = (input: number, output: number): string =>
  `data: ${JSON.stringify({ choices: [], usage: usageOf(input, output) })}\n\n`

/** A word with what was counted up to it. */
export const chunkCounting = (content: string, input: number, output: number): string =>
  chunkOf(content).replace("{", `{"usage":${JSON.stringify(usageOf(input, output))},`)

/** What a vendor that counts says at the end. */
export const counted = (input: number, output: number): string => `${countOf(input, output)}${done}`

export const heldStream: Effect.Effect<HeldStream, never, Scope.Scope> = Effect.gen(function* () {
  let latest = Promise.withResolvers<ServerResponse>()
  const url = yield* serving((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      latest.resolve(response)
    })
  })
  return {
    url,
    write: (text) =>
      Effect.promise(async () => {
        const response = await latest.promise
        if (!response.write(text)) await once(response, "drain")
      }),
    end: Effect.promise(async () => {
      const response = await latest.promise
      latest = Promise.withResolvers()
      response.end()
    }),
    closed: Effect.promise(async () => {
      const response = await latest.promise
      if (!response.closed) await once(response, "close")
    }),
    clientPort: Effect.promise(async () => (await latest.promise).req.socket.remotePort)
  }
})
