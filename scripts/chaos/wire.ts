/** A proxy between the gateways and PostgreSQL, whose connections can be cut. */
import { once } from "node:events"
import { createConnection, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import type { Manner } from "./schedule.ts"

interface Link {
  readonly client: Socket
  readonly server: Socket
  /**
   * Cuts the connection in the middle of the next bytes of a query or of a result; null forwards
   * all.
   */
  cut: "in_question" | "in_answer" | null
}

export interface Wire {
  readonly port: number
  /** Applies a fault to up to `count` connections, the newest first, and returns their number. */
  hurt(options: {
    readonly manner: Manner
    readonly count: number
    readonly seconds: number
    readonly thenCut: boolean
  }): Effect.Effect<number>
}

const reset = ({ client, server }: Link): void => {
  client.resetAndDestroy()
  server.resetAndDestroy()
}

/** Forwards the first half of the bytes, then resets the connection. */
const passHalf = (link: Link, to: Socket, bytes: Buffer): void => {
  to.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => reset(link))
}

/** Listens on a free port of 127.0.0.1, and connects each client to `targetPort`. */
export const makeWire = Effect.fnUntraced(function* (
  targetPort: number
): Effect.fn.Return<Wire, never, Scope.Scope> {
  const links = new Set<Link>()

  const connect = (client: Socket): void => {
    const server = createConnection({ host: "127.0.0.1", port: targetPort })
    const link: Link = { client, server, cut: null }
    links.add(link)
    for (const socket of [client, server]) {
      socket.setNoDelay(true)
      socket.on("error", () => undefined)
      socket.on("close", () => {
        links.delete(link)
        client.destroy()
        server.destroy()
      })
    }
    client.on("data", (bytes) => {
      if (link.cut === "in_question") passHalf(link, server, bytes)
      else server.write(bytes)
    })
    server.on("data", (bytes) => {
      if (link.cut === "in_answer") passHalf(link, client, bytes)
      else client.write(bytes)
    })
  }

  const silence = Effect.fnUntraced(function* (link: Link, seconds: number, thenCut: boolean) {
    link.client.pause()
    link.server.pause()
    yield* Effect.sleep(`${seconds} seconds`)
    if (thenCut) reset(link)
    link.client.resume()
    link.server.resume()
  })

  const hurt: Wire["hurt"] = Effect.fnUntraced(function* ({ manner, count, seconds, thenCut }) {
    const chosen = [...links].slice(-count)
    switch (manner) {
      case "at_once":
        for (const link of chosen) reset(link)
        break
      case "in_question":
      case "in_answer":
        for (const link of chosen) link.cut = manner
        break
      case "silence":
        yield* Effect.forEach(chosen, (link) => silence(link, seconds, thenCut), {
          concurrency: "unbounded",
          discard: true
        })
    }
    return chosen.length
  })

  const listener = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(connect).listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        for (const link of links) reset(link)
        server.close()
      })
  )
  const address = listener.address()
  if (address === null || typeof address === "string") {
    return yield* Effect.die(new Error("the wire has no port"))
  }
  return { port: address.port, hurt }
})
