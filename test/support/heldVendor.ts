/** An image vendor that keeps everybody waiting until the test lets it answer. */
import { Deferred, Effect, type Scope } from "effect"
import { serving } from "./httpServer.ts"

export interface HeldVendor {
  /** Without a slash at the end. */
  readonly url: string
  /** Waits for the first request. */
  readonly asked: Effect.Effect<void>
  /** How many requests have come. */
  readonly requestCount: () => number
  /** Answers what waits, and everything after it at once. */
  readonly letGo: Effect.Effect<void>
}

const image = JSON.stringify({ created: 1, data: [{ url: "https://media.test/one.png" }] })

export const heldVendor: Effect.Effect<HeldVendor, never, Scope.Scope> = Effect.gen(function* () {
  const asked = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  let requestCount = 0
  const url = yield* serving((request, response) => {
    request.resume().on("end", () => {
      requestCount += 1
      Deferred.doneUnsafe(asked, Effect.void)
      Effect.runFork(
        Effect.map(Deferred.await(letGo), () => {
          response.writeHead(200, { "content-type": "application/json" }).end(image)
        })
      )
    })
  })
  return {
    url,
    asked: Deferred.await(asked),
    requestCount: () => requestCount,
    letGo: Effect.asVoid(Deferred.succeed(letGo, undefined))
  }
})
