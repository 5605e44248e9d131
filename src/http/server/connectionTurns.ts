/**
 * What a connection may have in memory, whatever its client sends and does not read. One of its requests
 * is handled at a time: further ones wait until the answer before theirs has left the process, and
 * beyond a few nothing is read from the connection. A client that takes nothing of its answer is cut.
 */
import { IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Effect } from "effect"
import type { AnswerBudget, AnswerCount } from "../../runtime/AnswerBudget.ts"
import { clientOf } from "./clientAddress.ts"

/** While more than this wait on a connection, nothing is read from it. */
const MAX_WAITING = 16
/** While others wait for room, or after another of its owner was cut, a client has this part of the time. */
const PRESSED_PATIENCE = 1 / 8
/** How often connections are looked at within the time that a client may take nothing. */
const LOOKS = 24
const MAX_LOOK_MILLIS = 500

/** One request, from its arrival until its answer has left. */
interface Turn {
  readonly answer: AnswerCount
  isFirst: boolean
  begin: () => void
}

interface Connection {
  readonly socket: Socket
  /** The first is being handled. */
  readonly turns: Array<Turn>
  /** Bytes that the client has taken, as of the last look. */
  takenBytes: number
  takenAtMillis: number
}

const turns = new WeakMap<IncomingMessage, Turn>()

/** The count of a request's answer; null of a request that came over no connection of ours. */
export const answerOf = (source: object): AnswerCount | null =>
  source instanceof IncomingMessage ? (turns.get(source)?.answer ?? null) : null

/** Waits until all earlier requests of the connection are answered; null where there are none. */
export const turnOf = (source: object): Effect.Effect<void> | null => {
  const turn = source instanceof IncomingMessage ? turns.get(source) : undefined
  return turn === undefined || turn.isFirst
    ? null
    : Effect.callback<void>((resume) => {
        if (turn.isFirst) resume(Effect.void)
        else turn.begin = () => resume(Effect.void)
      })
}

/** Takes care of all connections of the server; answers what ends it. */
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
  /** Those with a request that is not answered. */
  const busy = new Set<Connection>()
  /** When a client of each owner was last cut: of those that were within the time. */
  const cuts = new Map<string, number>()

  const isFull = ({ turns }: Connection): boolean => turns.length > MAX_WAITING

  const accept = (socket: Socket): void => {
    const connection = { socket, turns: [], takenBytes: 0, takenAtMillis: 0 }
    connections.set(socket, connection)
    // Node reads on whenever a request is over.
    socket.on("resume", () => {
      if (isFull(connection)) socket.pause()
    })
  }

  const arrive = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const turn: Turn = {
      answer: budget.open(clientOf(request.socket.remoteAddress)),
      isFirst: connection.turns.length === 0,
      begin: () => undefined
    }
    turns.set(request, turn)
    connection.turns.push(turn)
    busy.add(connection)
    if (isFull(connection)) connection.socket.pause()
    response.once("close", () => leave(connection, turn))
  }

  const leave = (connection: Connection, turn: Turn): void => {
    const wasFull = isFull(connection)
    connection.turns.splice(connection.turns.indexOf(turn), 1)
    turn.answer.close()
    if (wasFull && !isFull(connection)) connection.socket.resume()
    const [next] = connection.turns
    if (next === undefined) busy.delete(connection)
    else if (!next.isFirst) {
      next.isFirst = true
      next.begin()
    }
  }

  const look = (): void => {
    const now = performance.now()
    for (const [owner, cutAt] of cuts) if (now - cutAt > patienceMillis) cuts.delete(owner)
    for (const connection of busy) {
      const { socket, turns } = connection
      const takenBytes = socket.bytesWritten - socket.writableLength
      if (socket.writableLength === 0 || takenBytes !== connection.takenBytes) {
        connection.takenBytes = takenBytes
        connection.takenAtMillis = now
        continue
      }
      const [first] = turns
      if (first === undefined) continue
      const owner = first.answer.owner()
      const isPressed = first.answer.isPressed() || cuts.has(owner)
      const patience = isPressed ? patienceMillis * PRESSED_PATIENCE : patienceMillis
      if (now - connection.takenAtMillis < patience) continue
      cuts.set(owner, now)
      onCut(owner)
      socket.destroy()
    }
  }

  server.on("connection", accept)
  server.on("request", arrive)
  // Of a request whose client waits for a word before it sends the body.
  server.on("checkContinue", arrive)
  const timer = setInterval(look, Math.min(MAX_LOOK_MILLIS, patienceMillis / LOOKS)).unref()
  return () => clearInterval(timer)
}
