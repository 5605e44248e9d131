/** A wire that can be cut: forwards TCP connections on 127.0.0.1 until it is told otherwise. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

/**
 * Where a connection is cut. `request`: the request never arrives. `work`: it arrives whole, and
 * both sides lose each other at once. `answer`: half of the answer's first piece comes through.
 */
export type CutAt = "request" | "work" | "answer"

export interface TcpProxy {
  readonly port: number
  /** Connections that are open on the clients' side. */
  readonly connections: () => number
  /** From the clients' side, how many connections have been opened since the start. */
  readonly opened: () => number
  /** Resets every connection. New ones are served. */
  readonly cutAll: () => void
  /**
   * Keeps connections open and forwards nothing more on them, in either direction, for ever: those
   * that are open and, until `pass`, new ones. With a text only those that send it, from that
   * request on.
   */
  readonly swallow: (text?: string) => void
  /** How many connections have been swallowed, of those that are still open. */
  readonly swallowed: () => number
  /** Serves new connections again. */
  readonly pass: () => void
  /** Cuts the connection of the next request that contains `text`, once; answers when it has. */
  readonly cutOnce: (at: CutAt, text: string) => Effect.Effect<void>
}

interface Line {
  readonly client: Socket
  readonly server: Socket | null
  swallowed: boolean
  /** The next bytes from the server are cut in half, and the line with them. */
  cutAnswer: (() => void) | null
}

interface Order {
  readonly at: CutAt
  readonly text: string
  readonly done: () => void
}

const reset = (line: Line) => {
  line.client.resetAndDestroy()
  line.server?.resetAndDestroy()
}

/** Listens on a port of its own and forwards to `target` on 127.0.0.1. */
export const startTcpProxy = (target: number): Effect.Effect<TcpProxy, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => open(target)),
      ({ close }) => Effect.promise(close)
    ),
    ({ proxy }) => proxy
  )

const open = async (target: number) => {
  const lines = new Set<Line>()
  const orders = new Set<Order>()
  /** Swallowed are connections that send it; all when it is empty. */
  let swallowing: string | null = null
  let opened = 0

  const fromClient = (line: Line, chunk: Buffer) => {
    if (swallowing !== null && chunk.includes(swallowing)) line.swallowed = true
    if (line.swallowed || line.server === null) return
    const order = [...orders].find(({ text }) => chunk.includes(text))
    if (order === undefined) {
      line.server.write(chunk)
      return
    }
    orders.delete(order)
    const cut = () => {
      reset(line)
      order.done()
    }
    switch (order.at) {
      case "request":
        cut()
        break
      case "work":
        // The server's side ends after the request has been handed over, not instead of it.
        line.server.write(chunk, () => {
          line.client.resetAndDestroy()
          line.server?.end()
          order.done()
        })
        break
      case "answer":
        line.cutAnswer = cut
        line.server.write(chunk)
        break
    }
  }

  const fromServer = (line: Line, chunk: Buffer) => {
    if (line.swallowed) return
    const { cutAnswer } = line
    if (cutAnswer === null) {
      line.client.write(chunk)
      return
    }
    line.cutAnswer = null
    line.client.write(chunk.subarray(0, Math.floor(chunk.length / 2)), cutAnswer)
  }

  const listener = createServer((client) => {
    opened += 1
    const swallowed = swallowing === ""
    const server = swallowed ? null : connect({ host: "127.0.0.1", port: target, noDelay: true })
    const line: Line = { client, server, swallowed, cutAnswer: null }
    lines.add(line)
    client.setNoDelay(true)
    client.on("data", (chunk) => fromClient(line, Buffer.from(chunk)))
    server?.on("data", (chunk) => fromServer(line, Buffer.from(chunk)))
    // An end that is not forwarded is part of swallowing.
    client.on("close", () => {
      lines.delete(line)
      server?.destroy()
    })
    server?.on("close", () => {
      if (!line.swallowed) client.destroy()
    })
    for (const socket of [client, server]) socket?.on("error", () => undefined)
  })
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("no port for the proxy")

  const proxy: TcpProxy = {
    port: address.port,
    connections: () => lines.size,
    opened: () => opened,
    cutAll: () => lines.forEach(reset),
    swallow: (text = "") => {
      swallowing = text
      if (text === "") for (const line of lines) line.swallowed = true
    },
    swallowed: () => [...lines].filter((line) => line.swallowed).length,
    pass: () => {
      swallowing = null
    },
    cutOnce: (at, text) =>
      Effect.callback<void>((resume) => {
        const order: Order = { at, text, done: () => resume(Effect.void) }
        orders.add(order)
        return Effect.sync(() => orders.delete(order))
      })
  }
  const close = async () => {
    const closed = once(listener, "close")
    listener.close()
    lines.forEach(reset)
    await closed
  }
  return { proxy, close }
}
