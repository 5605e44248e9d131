/** A vendor on a bare socket, which writes the very bytes a test gives it for each request. */
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { Effect } from "effect"
import type { Written } from "./wire.ts"

export interface VendorRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
}

/** A request that has come whole, and what is left of the bytes; null while it has not. */
const requestIn = (bytes: Buffer): { request: VendorRequest; rest: Buffer } | null => {
  const headEnd = bytes.indexOf("\r\n\r\n")
  if (headEnd === -1) return null
  const head = bytes.toString("latin1", 0, headEnd)
  const [, method = "", target = ""] = /^(\S+) (\S+) /.exec(head) ?? []
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  const end = headEnd + 4 + length
  return bytes.length < end ? null : { request: { method, target }, rest: bytes.subarray(end) }
}

const write = async (socket: Socket, { pieces, end }: Written): Promise<void> => {
  for (const piece of pieces) {
    if (socket.destroyed) return
    socket.write(piece)
    if (pieces.length > 2) await new Promise(setImmediate)
  }
  if (end === "end") socket.end()
  // What was written before is on its way when the connection is reset.
  if (end === "reset") socket.write("", () => socket.resetAndDestroy())
}

const serve = (answer: (request: VendorRequest) => Written) => (socket: Socket) => {
  let pending = Buffer.alloc(0)
  let before = Promise.resolve()
  socket.setNoDelay()
  socket.on("error", () => socket.destroy())
  socket.on("data", (bytes) => {
    pending = Buffer.concat([pending, bytes])
    for (let next = requestIn(pending); next !== null; next = requestIn(pending)) {
      const { request, rest } = next
      pending = Buffer.from(rest)
      before = before.then(() => write(socket, answer(request)))
    }
  })
}

/** Serves until the scope closes; the address has no slash at its end. */
export const scriptedVendor = (answer: (request: VendorRequest) => Written) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const sockets = new Set<Socket>()
      const handle = serve(answer)
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("close", () => sockets.delete(socket))
        handle(socket)
      })
      await once(server.listen(0, "127.0.0.1"), "listening")
      const address = server.address()
      if (address === null || typeof address === "string") throw new Error("There is no port")
      return { server, sockets, url: `http://127.0.0.1:${address.port}` }
    }),
    ({ server, sockets }) =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const socket of sockets) socket.destroy()
      })
  )
