/** An HTTP server of a test's own, over a real socket of 127.0.0.1. */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { Server } from "node:net"
import { Effect, type Scope } from "effect"

export const urlOf = (server: Server): string => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("the server has no port")
  return `http://127.0.0.1:${address.port}`
}

/** Serves until the scope closes; answers the address, without a slash at the end. */
export const serving = (handle: RequestListener): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer(handle)
        await once(server.listen(0, "127.0.0.1"), "listening")
        return server
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    urlOf
  )
