/** An image vendor that keeps everybody waiting until the test lets it answer. */
import { once } from "node:events"
import { createServer } from "node:http"
import { Deferred, Effect, type Scope } from "effect"

export interface HeldVendor {
  /** Without a slash at the end. */
  readonly url: string
  /** Waits for the first request. */
  readonly asked: Effect.Effect<void>
  /** Answers what waits, and everything after it at once. */
  readonly letGo: Effect.Effect<void>
}

const image = JSON.stringify({ created: 1, data: [{ url: "https://media.test/one.png" }] })

export const heldVendor: Effect.Effect<HeldVendor, never, Scope.Scope> = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  const server = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const listening = createServer((request, response) => {
        request.resume().on("end", () => {
          Deferred.doneUnsafe(asked, Effect.void)
          Effect.runFork(
            Effect.map(Deferred.await(letGo), () => {
              response.writeHead(200, { "content-type": "application/json" }).end(image)
            })
          )
        })
      })
      await once(listening.listen(0, "127.0.0.1"), "listening")
      return listening
    }),
    (listening) =>
      Effect.callback<void>((resume) => {
        listening.close(() => resume(Effect.void))
        listening.closeAllConnections()
      })
  )
  const address = server.address()
  if (address === null || typeof address === "string") {
    return yield* Effect.die(new Error("The server has no port"))
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked: Deferred.await(asked),
    letGo: Effect.asVoid(Deferred.succeed(letGo, undefined))
  }
})
