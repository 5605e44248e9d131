/** The listening socket, and its graceful shutdown, which loses no request. */
import { type IncomingMessage, Server, type ServerResponse, STATUS_CODES } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Context, Duration, Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import { InvalidRequest, MethodNotAllowed } from "../../domain/Errors.ts"
import { Answers, layerAnswers } from "../../runtime/AnswerBudget.ts"
import { CannotListen, cannotListen, codeOf } from "../../runtime/listenFailures.ts"
import { monotonicMillisOf } from "../../runtime/monotonic.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeShares } from "../../runtime/Shares.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { closedConnections } from "../../services/metrics.ts"
import { clientOf } from "./clientAddress.ts"
import { takeTurns } from "./connectionTurns.ts"
import { errorBody, headersOf } from "./errorResponse.ts"

/**
 * The options of the server. Connections of slow clients are closed: a whole request must arrive
 * within the times of the settings.
 */
const serverOptions = ({ headSeconds, requestSeconds }: Settings) => {
  const headersTimeout = Math.min(headSeconds, requestSeconds) * 1000
  return {
    headersTimeout,
    requestTimeout: requestSeconds * 1000,
    // Node does not refuse a request without a `Host` header: the gateway refuses it, with an error
    // body of this API like every other refusal.
    requireHostHeader: false,
    // Upgrades are ignored: such a request is answered as plain HTTP.
    shouldUpgradeCallback: () => false,
    // The interval at which Node checks for slow connections.
    connectionsCheckingInterval: Math.min(5000, headersTimeout / 4)
  }
}

type Refusal = readonly [status: number, message: string]

/**
 * The answers to bytes that are not an HTTP request, by the code of Node's error. Other codes get
 * `notHttp`.
 */
const parseRefusals: ReadonlyMap<string, Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", [431, "The head of this request is too large"]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The chunks of this request are too large"]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "This request did not arrive in the time there is"]]
])
const notHttp: Refusal = [400, "This is not a request in HTTP"]
const connectRefusal: Refusal = [405, "CONNECT is not served: this is no proxy"]

/**
 * Writes the answer directly to the socket, as Node has no response object here, and closes the
 * connection.
 */
const refuse = (socket: Duplex, [status, message]: Refusal, requestId: string) => {
  const error =
    status === 405
      ? new MethodNotAllowed({ message, allow: ["GET", "POST"] })
      : new InvalidRequest({ message })
  const body = JSON.stringify(errorBody(error))
  const headers = {
    "content-type": "application/json",
    "content-length": `${Buffer.byteLength(body)}`,
    "x-request-id": requestId,
    connection: "close",
    ...headersOf(error)
  }
  const answer = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body
  ]
  socket.end(answer.join("\r\n"), () => socket.destroy())
}

/**
 * Closes new connections above the limit of a client address, so that one client, even one without
 * an API key, cannot use up all connections. A close is logged at most once a minute, because all
 * clients may share a proxy's address.
 */
const makeAddressLimit = Effect.gen(function* () {
  const { addressConnections } = yield* Settings
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const clock = yield* Clock.Clock
  const connections = makeShares({ perOwner: addressConnections })
  let nextLogMillis = 0

  const logClosed = (client: string): void => {
    const now = monotonicMillisOf(clock)
    if (now < nextLogMillis) return
    nextLogMillis = now + 60_000
    runFork(
      Effect.logWarning("listener: connection closed, client address is at its limit").pipe(
        Effect.annotateLogs({ address: client, limit: addressConnections })
      )
    )
  }

  /** Returns false for a connection that it has closed. */
  return (socket: Socket): boolean => {
    if (addressConnections === 0) return true
    const client = clientOf(socket.remoteAddress)
    if (!connections.tryReserve(client)) {
      socket.destroy()
      logClosed(client)
      return false
    }
    socket.once("close", () => connections.release(client))
    return true
  }
})

/** The waiting time for requests that were in transit when the listener closed. */
const GRACE_SECONDS = 0.25
/** The maximum number of event-loop turns to wait for a turn without a new connection. */
const MAX_TURNS = 50

type Exchange = readonly [IncomingMessage, ServerResponse]

/**
 * Buffers requests that arrive between the start of listening and the registration of the handler,
 * and then passes them to the handler. Without the buffer they would never be answered.
 */
const bufferEarlyRequests = (server: Server): void => {
  const earlyExchanges: Array<Exchange> = []
  const buffer = (...exchange: Exchange) => earlyExchanges.push(exchange)
  server.on("request", buffer)
  const handOver = (event: string, handle: (...exchange: Exchange) => void): void => {
    if (event !== "request") return
    server.off("newListener", handOver).off("request", buffer)
    queueMicrotask(() => {
      for (const exchange of earlyExchanges) handle(...exchange)
    })
  }
  server.on("newListener", handOver)
}

export class Listener extends Context.Service<Listener>()("gateway/http/Listener", {
  make: Effect.gen(function* () {
    const settings = yield* Settings
    const random = yield* SecureRandom.SecureRandom
    const context = yield* Effect.context<never>()
    const newId = () => `req_${Effect.runSyncWith(context)(random.uuidV7())}`
    const server = new Server(serverOptions(settings))
    server.maxConnections = settings.maxConnections
    const admitConnection = yield* makeAddressLimit
    /** The number of requests whose header has arrived and whose answer is not complete. */
    let unansweredCount = 0
    /**
     * The open responses of each connection, the latest last. There may be several, as a client may
     * pipeline requests.
     */
    const openResponses = new WeakMap<Duplex, Array<ServerResponse>>()
    let acceptedCount = 0
    server.on("clientError", (error, socket) => {
      const latest = openResponses.get(socket)?.at(-1)
      const hasBegun = latest?.headersSent === true && !latest.writableFinished
      if (!socket.writable || hasBegun) {
        socket.destroy()
        return
      }
      refuse(socket, parseRefusals.get(codeOf(error)) ?? notHttp, newId())
    })
    server.on("connect", (_, socket) => refuse(socket, connectRefusal, newId()))
    // Requests with other expectations are handled like all requests: the middleware in
    // `envelope.ts` refuses them.
    server.on("checkExpectation", (...exchange) => server.emit("request", ...exchange))
    server.on("connection", (socket) => {
      acceptedCount++
      if (!admitConnection(socket)) return
      const responses: Array<ServerResponse> = []
      openResponses.set(socket, responses)
      // All responses of the connection are closed here: older versions of Node close only the
      // first one, and the pipelined responses after it would wait forever.
      const closeResponses = () => {
        for (const response of [...responses]) {
          response.destroy()
          response.emit("close")
        }
      }
      socket.once("close", () => queueMicrotask(closeResponses))
    })
    const trackResponse = ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = openResponses.get(socket)
      responses?.push(response)
      unansweredCount++
      response.once("close", () => {
        responses?.splice(responses.indexOf(response), 1)
        unansweredCount--
      })
    }
    // The HTTP server below registers its handler later, so each request is counted before it is
    // handled.
    server.on("request", trackResponse)
    // Node emits this in place of `request` for clients that send `Expect: 100-continue`.
    server.on("checkContinue", trackResponse)
    const stopTurns = takeTurns(server, {
      budget: yield* Answers,
      patienceSeconds: settings.answerStallSeconds,
      onCut: (owner) => {
        const log = Effect.logInfo("listener: connection of a stalled client closed")
        Effect.runForkWith(context)(
          Effect.andThen(Metric.update(closedConnections, 1), Effect.annotateLogs(log, { owner }))
        )
      }
    })
    yield* Effect.addFinalizer(() => Effect.sync(stopTurns))
    bufferEarlyRequests(server)
    return { server, acceptedCount: () => acceptedCount, unansweredCount: () => unansweredCount }
  })
}) {}

export const layerListener = Layer.effect(Listener, Listener.make).pipe(Layer.provide(layerAnswers))

export interface Address {
  readonly host: string
  readonly port: number
  /** Whether other processes may listen on the same address (SO_REUSEPORT). */
  readonly reusePort?: boolean
}

/** The error when the kernel does not let two sockets listen on the port. */
const cannotSharePort = new CannotListen({
  message:
    "GATEWAY_REUSE_PORT is set, but this system cannot share a port as Linux does; give each gateway one of its own"
})

/** How the keys of the gateway's own services begin. */
const OWN_SERVICES = "gateway/"
/** The number of services that requests add to the context of the server before it is copied. */
const SERVICES_OF_REQUEST = 16

/**
 * The context with which a request starts. Every request copies it, and no request needs a service of
 * the gateway from it: handlers have their own.
 */
const ofRequests = <R>({ mapUnsafe }: Context.Context<R>): Context.Context<R> => {
  const others = [...mapUnsafe].filter(([key]) => !key.startsWith(OWN_SERVICES))
  return Context.makeUnsafe(new Map(others), { maxDepth: SERVICES_OF_REQUEST })
}

/** Accepts connections at the address. */
export const layerHttpServer = (address: Address) =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.flatMap(Listener, ({ server }) =>
      NodeHttpServer.make(() => server, { ...address, disablePreemptiveShutdown: true })
    ).pipe(
      Effect.map(({ address, serve }) =>
        HttpServer.make({
          address,
          serve: (handler) => Effect.updateContext(serve(handler), ofRequests)
        })
      ),
      Effect.mapError(({ cause }) =>
        address.reusePort && codeOf(cause) === "ENOTSUP"
          ? cannotSharePort
          : cannotListen(cause, address, "PORT or HOST")
      )
    )
  ).pipe(Layer.merge(NodeHttpServer.layerHttpServices))

/**
 * Shuts down gracefully, before any layer below is closed: readiness turns 503, then the listener
 * closes, then accepted requests are answered. These answers also close their connections.
 * Connections of requests that are still unanswered at the deadline are closed.
 */
export const layerOrderlyEnd = Layer.effectDiscard(
  Effect.gen(function* () {
    const { server, acceptedCount, unansweredCount } = yield* Listener
    const shutdown = yield* Shutdown
    const { drainSeconds } = yield* Settings

    /**
     * Closes the listener, and returns when no connection is left. Closing resets the connections
     * in the backlog, which is not empty in a busy process. So this first waits for a turn of the
     * event loop in which no connection was accepted. An HTTP server's own `close` is not used, as
     * it would also close idle keep-alive connections, on which the next request may be in transit.
     */
    const closeListener = Effect.callback<void>((resume) => {
      const turn = (before: number, turns: number) =>
        setImmediate(() => {
          const current = acceptedCount()
          if (current !== before && turns < MAX_TURNS) turn(current, turns + 1)
          else NetServer.prototype.close.call(server, () => resume(Effect.void))
        })
      turn(-1, 0)
    })
    // Waits until accepted requests are answered. The connections that remain then have no request,
    // or only a part of a request.
    const awaitAnswers = Effect.sync(() => unansweredCount() === 0).pipe(
      Effect.delay("20 millis"),
      Effect.repeat({ until: (isDone) => isDone }),
      Effect.delay(`${GRACE_SECONDS} seconds`)
    )

    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* shutdown.begin
        yield* Effect.sleep(Duration.min(Duration.seconds(drainSeconds), yield* shutdown.timeLeft))
        yield* Effect.raceFirst(closeListener, awaitAnswers).pipe(
          Effect.timeout(yield* shutdown.timeLeft),
          Effect.ignore
        )
        server.closeAllConnections()
        // The port is closed already; this call stops the server's timer for slow requests.
        server.close(() => undefined)
      })
    )
  })
)
