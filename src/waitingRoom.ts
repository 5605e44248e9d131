/** A server at the gateway's address while another process migrates the database. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Console, Effect, Layer } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Overloaded } from "./domain/Errors.ts"
import { errorResponse } from "./http/server/errorResponse.ts"
import type { Address } from "./http/server/listener.ts"
import { pathOf } from "./http/server/routes.ts"
import { cannotListen } from "./runtime/listenFailures.ts"
import type { Check, ReadinessReport } from "./services/Operations.ts"

const pending: Check = { status: "pending" }

const report: ReadinessReport = {
  status: "not_ready",
  checks: {
    store: pending,
    migrations: {
      status: "failing",
      detail: "The database has not all migrations of this gateway"
    },
    poller: pending,
    audit: pending,
    deadlines: pending,
    shutdown: { status: "ok" }
  }
}

const RETRY_SECONDS = 2

/**
 * Creates a new response for each request, because the code that sends a response may change it.
 */
const answerTo = (path: string) => {
  if (path === "/healthz") return HttpServerResponse.jsonUnsafe({ status: "ok" })
  if (path === "/readyz") {
    const headers = { "cache-control": "no-store" }
    return HttpServerResponse.jsonUnsafe(report, { status: 503, headers })
  }
  return errorResponse(
    new Overloaded({
      message: "The gateway waits for its database to be migrated",
      retryAfterSeconds: RETRY_SECONDS
    })
  )
}

/**
 * Serves at the address until `ready` has ended: `/healthz` reports that the process is alive,
 * `/readyz` that it is not ready, and every other request gets 503 `overloaded`. Afterwards the
 * port is free for the gateway.
 */
export const layerWaitingRoom = <E, R>(address: Address, ready: Effect.Effect<void, E, R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* NodeHttpServer.make(createServer, address).pipe(
        Effect.mapError(({ cause }) => cannotListen(cause, address, "PORT or HOST"))
      )
      yield* server.serve(
        Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => answerTo(pathOf(url)))
      )
      yield* Console.log(
        `media-gateway waits for migrations of its database at ${HttpServer.formatAddress(server.address)}`
      )
      yield* ready
    }).pipe(Effect.scoped)
  )
