/** The socket clients connect to, and how it is closed without losing what they asked. */
import { type IncomingMessage, Server, type ServerResponse, STATUS_CODES } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Clock, Context, Duration, Effect, Layer, Metric, Predicate, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import { InvalidRequest, MethodNotAllowed } from "../../domain/Errors.ts"
import { Answers, layerAnswers } from "../../runtime/AnswerBudget.ts"
import { monotonicMillisOf } from "../../runtime/monotonic.ts"
import { Settings } from "../../runtime/Settings.ts"
import { makeShares } from "../../runtime/Shares.ts"
import { Shutdown } from "../../runtime/Shutdown.ts"
import { connectionsCut } from "../../services/metrics.ts"
import { clientOf } from "./clientAddress.ts"
import { takeTurns } from "./connectionTurns.ts"
import { errorBody, headersOf } from "./errorResponse.ts"

/** Slow clients are cut: a whole request must arrive within the settings' times. */
const serverOptions = ({ headSeconds, requestSeconds }: Settings) => {
  const headersTimeout = Math.min(headSeconds, requestSeconds) * 1000
  return {
    headersTimeout,
    requestTimeout: requestSeconds * 1000,
    // A request without it is refused in our own words, as every other one is.
    requireHostHeader: false,
    // No other protocol is served: such a request is read and answered as any other is.
    shouldUpgradeCallback: () => false,
    // Node looks for slow ones only so often.
    connectionsCheckingInterval: Math.min(5000, headersTimeout / 4)
  }
}

/** What Node calls an error; empty where it has no name for it. */
const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : ""

type Refusal = readonly [status: number, message: string]

/** Answers to what never became a request, by the code of Node's error; `noHttp` to any other. */
const unreadable: ReadonlyMap<string, Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", [431, "The head of this request is too large"]],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", [413, "The chunks of this request are too large"]],
  ["ERR_HTTP_REQUEST_TIMEOUT", [408, "This request did not arrive in the time there is"]]
])
const noHttp: Refusal = [400, "This is not a request in HTTP"]
const noTunnel: Refusal = [405, "CONNECT is not served: this is no proxy"]

/** Answers in bytes, as there is no response to write to, and closes the connection. */
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
 * Closes what one client address opens beyond its bound, so that a client without a key leaves places to
 * the others. Told at most once a minute: an operator may have a proxy whose address all clients share.
 */
const makeAddressBound = Effect.gen(function* () {
  const { addressConnections } = yield* Settings
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const clock = yield* Clock.Clock
  const connections = makeShares({ perOwner: addressConnections })
  let quietUntil = 0

  const tell = (client: string): void => {
    const now = monotonicMillisOf(clock)
    if (now < quietUntil) return
    quietUntil = now + 60_000
    run(
      Effect.logWarning("connections of a client address are closed, as it has too many").pipe(
        Effect.annotateLogs({ address: client, bound: addressConnections })
      )
    )
  }

  /** False for a connection that has no place. */
  return (socket: Socket): boolean => {
    if (addressConnections === 0) return true
    const client = clientOf(socket.remoteAddress)
    if (!connections.tryReserve(client)) {
      socket.destroy()
      tell(client)
      return false
    }
    socket.once("close", () => connections.release(client))
    return true
  }
})

/** For a request that was on its way when the listener closed. */
const GRACE_SECONDS = 0.25
/** Under load there is always one more, so the wait for a quiet turn ends at some time. */
const MAX_TURNS = 50

export class CannotSharePort extends Schema.TaggedError<CannotSharePort>()("CannotSharePort", {
  message: Schema.String
}) {}

type Asked = readonly [IncomingMessage, ServerResponse]

/**
 * The socket listens a moment before its handler is there, and what is asked in between would never be
 * answered: the handler gets it when it comes.
 */
const keepEarly = (server: Server): void => {
  const early: Array<Asked> = []
  const keep = (...asked: Asked) => early.push(asked)
  server.on("request", keep)
  const handOver = (event: string, handle: (...asked: Asked) => void): void => {
    if (event !== "request") return
    server.off("newListener", handOver).off("request", keep)
    queueMicrotask(() => {
      for (const asked of early) handle(...asked)
    })
  }
  server.on("newListener", handOver)
}

export class Listener extends Context.Service<Listener>()("gateway/http/Listener", {
  make: Effect.gen(function* () {
    const settings = yield* Settings
    const random = yield* SecureRandom.SecureRandom
    const newId = () => `req_${Effect.runSync(random.uuidV7())}`
    const server = new Server(serverOptions(settings))
    server.maxConnections = settings.maxConnections
    const hasPlace = yield* makeAddressBound
    /** Requests whose head has arrived and whose answer is not complete. */
    let unanswered = 0
    /** Those under way of each connection, the latest last: a client may ask before it is answered. */
    const underWay = new WeakMap<Duplex, Array<ServerResponse>>()
    /** How many connections were accepted so far. */
    let accepted = 0
    server.on("clientError", (error, socket) => {
      const answer = underWay.get(socket)?.at(-1)
      const begun = answer?.headersSent === true && !answer.writableFinished
      if (!socket.writable || begun) {
        socket.destroy()
        return
      }
      refuse(socket, unreadable.get(codeOf(error)) ?? noHttp, newId())
    })
    server.on("connect", (_, socket) => refuse(socket, noTunnel, newId()))
    // Other expectations than 100-continue are refused as every other request is.
    server.on("checkExpectation", (...asked) => server.emit("request", ...asked))
    server.on("connection", (socket) => {
      accepted++
      if (!hasPlace(socket)) return
      const responses: Array<ServerResponse> = []
      underWay.set(socket, responses)
      // Older versions of Node tell only the one whose turn it is, and those behind it wait for ever.
      const tellTheOthers = () => {
        for (const response of [...responses]) {
          response.destroy()
          response.emit("close")
        }
      }
      socket.once("close", () => queueMicrotask(tellTheOthers))
    })
    const arrived = ({ socket }: IncomingMessage, response: ServerResponse) => {
      const responses = underWay.get(socket)
      responses?.push(response)
      unanswered++
      response.once("close", () => {
        responses?.splice(responses.indexOf(response), 1)
        unanswered--
      })
    }
    // Before the handler, which the HTTP server below adds behind them.
    server.on("request", arrived)
    // Of a request whose client waits for a word before it sends the body.
    server.on("checkContinue", arrived)
    const context = yield* Effect.context<never>()
    const stopTurns = takeTurns(server, {
      budget: yield* Answers,
      patienceSeconds: settings.answerStallSeconds,
      onCut: (owner) => {
        const log = Effect.logInfo("connection cut: its client took nothing of an answer")
        Effect.runForkWith(context)(
          Effect.andThen(Metric.update(connectionsCut, 1), Effect.annotateLogs(log, { owner }))
        )
      }
    })
    yield* Effect.addFinalizer(() => Effect.sync(stopTurns))
    keepEarly(server)
    return { server, accepted: () => accepted, unanswered: () => unanswered }
  })
}) {}

export const layerListener = Layer.effect(Listener, Listener.make).pipe(Layer.provide(layerAnswers))

export interface Address {
  readonly host: string
  readonly port: number
  /** Whether other processes may listen there too; the system then shares connections out. */
  readonly reusePort?: boolean
}

const cannotSharePort = new CannotSharePort({
  message:
    "GATEWAY_REUSE_PORT is set, but this system cannot share a port as Linux does; give each gateway one of its own"
})

/** Accepts connections at the address, for the server behind them. */
export const layerHttpServer = (address: Address) =>
  Layer.effect(
    HttpServer.HttpServer,
    Effect.flatMap(Listener, ({ server }) =>
      NodeHttpServer.make(() => server, { ...address, disablePreemptiveShutdown: true })
    ).pipe(
      Effect.mapError((error) =>
        address.reusePort && codeOf(error.cause) === "ENOTSUP" ? cannotSharePort : error
      )
    )
  ).pipe(Layer.merge(NodeHttpServer.layerHttpServices))

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
    // What is left then are connections without a request, or with only a part of one.
    const answered = Effect.sync(() => unanswered() === 0).pipe(
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
