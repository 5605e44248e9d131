/** The socket clients connect to, and how it is closed without losing what they asked. */
import { createServer, type Server, type ServerResponse } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, Layer } from "effect"
import { Settings } from "../services/Settings.ts"
import { Shutdown } from "../services/Shutdown.ts"

/** Slow clients are cut: a whole request must arrive within these times. */
const SERVER_OPTIONS = { headersTimeout: 20_000, requestTimeout: 120_000 }

/** For a request that was on its way when the listener closed. */
const GRACE_SECONDS = 1

interface Listening {
  readonly server: Server
  /** Requests whose head has arrived and whose answer is not complete. */
  readonly unanswered: ReadonlySet<ServerResponse>
}

class Listener extends Context.Service<Listener, Listening>()("gateway/http/Listener") {}

export const layerListener = Layer.sync(Listener, () => {
  const server = createServer(SERVER_OPTIONS)
  const unanswered = new Set<ServerResponse>()
  server.on("request", (_, response) => {
    unanswered.add(response)
    response.once("close", () => unanswered.delete(response))
  })
  return { server, unanswered }
})

export const layerHttpServer = (address: { readonly host: string; readonly port: number }) =>
  Layer.unwrap(
    Effect.map(Listener, ({ server }) =>
      NodeHttpServer.layer(() => server, { ...address, disablePreemptiveShutdown: true })
    )
  )

/**
 * Ends the service in order, before anything it stands on is taken down: readiness says so, then
 * nothing more is accepted, then what was accepted is answered. Answers close their connections
 * meanwhile. What is not answered in the time there is, is cut.
 */
export const layerOrderlyEnd = Layer.effectDiscard(
  Effect.gen(function* () {
    const { server, unanswered } = yield* Listener
    const shutdown = yield* Shutdown
    const { drainSeconds } = yield* Settings

    // Node closes the connections that are idle by then, and calls back when none is left.
    const closed = Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
    })
    // A client may keep a connection open on which it never asked anything.
    const answered = Effect.sync(() => unanswered.size === 0).pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (none) => none }),
      Effect.delay(`${GRACE_SECONDS} seconds`)
    )

    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* shutdown.begin
        yield* Effect.sleep(Duration.min(Duration.seconds(drainSeconds), yield* shutdown.timeLeft))
        yield* Effect.raceFirst(closed, answered).pipe(
          Effect.timeout(yield* shutdown.timeLeft),
          Effect.ignore
        )
        server.closeAllConnections()
      })
    )
  })
)
