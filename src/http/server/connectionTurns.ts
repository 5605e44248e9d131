/**
 * Limits the memory of a connection whose client sends requests without reading the answers.
 * Pipelined requests are handled one at a time: each request waits until the answer to the previous
 * request has been sent. When too many requests wait, the socket is paused (backpressure). The
 * connection of a client that does not read its answer for the stall time is closed.
 */
import { IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Effect } from "effect"
import type { AnswerBudget, AnswerCount } from "../../runtime/AnswerBudget.ts"
import { clientOf } from "./clientAddress.ts"

/**
 * The maximum number of pipelined requests of a connection. Above this number its socket is paused.
 */
const MAX_PIPELINED = 16
/**
 * The stall time of an owner's connections (see `AnswerBudget.ts`) is multiplied by this factor while
 * requests wait for memory that the owner's answers occupy, and for one full stall time after a
 * stalled connection of the owner was closed.
 */
const PRESSURE_FACTOR = 1 / 8
/** The number of checks of every connection within the stall time. */
const CHECKS_PER_STALL = 24
const MAX_CHECK_MILLIS = 500

/** One request, from its arrival until its answer is sent. */
interface Turn {
  readonly answer: AnswerCount
  isFirst: boolean
  begin: () => void
}

interface Connection {
  readonly socket: Socket
  readonly client: string
  /** The unanswered requests, in order of arrival; the first one is being handled. */
  readonly turns: Array<Turn>
  /** The number of bytes that the client had read at the last check. */
  readBytes: number
  progressAtMillis: number
}

const turns = new WeakMap<IncomingMessage, Turn>()

/**
 * The count of a request's answer; null where the request belongs to no tracked connection, as in
 * tests.
 */
export const answerOf = (source: object): AnswerCount | null =>
  source instanceof IncomingMessage ? (turns.get(source)?.answer ?? null) : null

/**
 * Waits until all earlier requests of the connection are answered; null when there is no earlier
 * request.
 */
export const turnOf = (source: object): Effect.Effect<void> | null => {
  const turn = source instanceof IncomingMessage ? turns.get(source) : undefined
  return turn === undefined || turn.isFirst
    ? null
    : Effect.callback<void>((resume) => {
        if (turn.isFirst) resume(Effect.void)
        else turn.begin = () => resume(Effect.void)
      })
}

/** Watches all connections of the server, until the returned function is called. */
export const takeTurns = (
  server: Server,
  options: {
    readonly budget: AnswerBudget
    readonly patienceSeconds: number
    readonly onCut: (owner: string) => void
  }
): (() => void) => {
  const { budget, onCut } = options
  const patienceMillis = options.patienceSeconds * 1000
  const connections = new WeakMap<Socket, Connection>()
  /** Connections with an unanswered request. */
  const activeConnections = new Set<Connection>()
  /**
   * The time when a stalled connection of each owner was last closed. An entry exists as long as it
   * shortens the owner's stall time.
   */
  const lastCuts = new Map<string, number>()

  const isFull = ({ turns }: Connection): boolean => turns.length > MAX_PIPELINED

  const accept = (socket: Socket): void => {
    const client = clientOf(socket.remoteAddress)
    const connection = { socket, client, turns: [], readBytes: 0, progressAtMillis: 0 }
    connections.set(socket, connection)
    // Node resumes the socket whenever a request has ended, so the socket of a full connection is
    // paused again.
    socket.on("resume", () => {
      if (isFull(connection)) socket.pause()
    })
  }

  const arrive = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const turn: Turn = {
      answer: budget.open(connection.client),
      isFirst: connection.turns.length === 0,
      begin: () => undefined
    }
    turns.set(request, turn)
    connection.turns.push(turn)
    activeConnections.add(connection)
    if (isFull(connection)) connection.socket.pause()
    response.once("close", () => endTurn(connection, turn))
  }

  const endTurn = (connection: Connection, turn: Turn): void => {
    const wasFull = isFull(connection)
    connection.turns.splice(connection.turns.indexOf(turn), 1)
    turn.answer.close()
    if (wasFull && !isFull(connection)) connection.socket.resume()
    const [nextTurn] = connection.turns
    if (nextTurn === undefined) activeConnections.delete(connection)
    else if (!nextTurn.isFirst) {
      nextTurn.isFirst = true
      nextTurn.begin()
    }
  }

  /**
   * Records and returns whether the client has read something since the last check, or has nothing
   * to read.
   */
  const noteProgress = (connection: Connection, now: number): boolean => {
    const { socket } = connection
    const readBytes = socket.bytesWritten - socket.writableLength
    if (socket.writableLength > 0 && readBytes === connection.readBytes) return false
    connection.readBytes = readBytes
    connection.progressAtMillis = now
    return true
  }

  const cutIfStalled = ({ socket, turns: [first], progressAtMillis }: Connection, now: number) => {
    if (first === undefined) return
    const owner = first.answer.owner()
    const isPressed = first.answer.isPressed() || lastCuts.has(owner)
    const patience = isPressed ? patienceMillis * PRESSURE_FACTOR : patienceMillis
    if (now - progressAtMillis < patience) return
    lastCuts.set(owner, now)
    onCut(owner)
    socket.destroy()
  }

  const checkConnections = (): void => {
    const now = performance.now()
    for (const [owner, cutAtMillis] of lastCuts)
      if (now - cutAtMillis > patienceMillis) lastCuts.delete(owner)
    for (const connection of activeConnections) {
      if (!noteProgress(connection, now)) cutIfStalled(connection, now)
    }
  }

  server.on("connection", accept)
  server.on("request", arrive)
  // Node emits this in place of `request` for clients that send `Expect: 100-continue`.
  server.on("checkContinue", arrive)
  const timer = setInterval(
    checkConnections,
    Math.min(MAX_CHECK_MILLIS, patienceMillis / CHECKS_PER_STALL)
  ).unref()
  return () => clearInterval(timer)
}
