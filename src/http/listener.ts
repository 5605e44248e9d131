/** The socket clients connect to, and how it is closed without losing what they asked. */
import { createServer, type Server, type ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, Layer } from "effect"
import { Settings } from "../services/Settings.ts"
import { Shutdown } from "../services/Shutdown.ts"

/** Slow clients are cut: a whole request must arrive within these times. */
const SERVER_OPTIONS = { headersTimeout: 20_000, requestTimeout: 120_000 }

/** For a request that was on its way when the listener closed. */
const GRACE_SECONDS = 0.25
/** Under load there is always one more, so the wait for a quiet turn ends at some time. */
const MAX_TURNS = 50

interface Listening {
  readonly server: Server
  /** How many connections were accepted so far. */
  readonly accepted: () => number
  /** Requests whose head has arrived and whose answer is not complete. */
  readonly unanswered: ReadonlySet<ServerResponse>
}

class Listener extends Context.Service<Listener, Listening>()("gateway/http/Listener") {}

export const layerListener = Layer.sync(Listener, () => {
  const server = createServer(SERVER_OPTIONS)
  const unanswered = new Set<ServerResponse>()
  let accepted = 0
  server.on("connection", () => {
    accepted++
  })
  server.on("request", (_, response) => {
    unanswered.add(response)
    response.once("close", () => unanswered.delete(response))
  })
  return { server, accepted: () => accepted, unanswered }
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
    const { server, accepted, unanswered } = yield* Listener
    const shutdown = yield* Shutdown
    const { drainSeconds } = yield* Settings

    /**
     * Stops accepting, and returns when no connection is left. Closing resets what waits to be
     * accepted, and a busy process comes here with a backlog: so it closes at the end of a turn of the
     * event loop that brought nothing new. An HTTP server's own `close` would also cut connections
     * that are idle, on which the next request may be on its way.
     */
    const closed = Effect.callback<void>((resume) => {
      const turn = (before: number, turns: number) =>
        setImmediate(() => {
          const now = accepted()
          if (now !== before && turns < MAX_TURNS) turn(now, turns + 1)
          else NetServer.prototype.close.call(server, () => resume(Effect.void))
        })
      turn(-1, 0)
    })
    // Then what is left are connections on which nobody asks anything, or not the whole of it.
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
        // The port is closed; this ends the server's own watch over slow requests.
        server.close(() => undefined)
      })
    )
  })
)
