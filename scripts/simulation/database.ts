/**
 * PostgreSQL within this process, for many sessions. Each session speaks the wire protocol with the
 * driver of its gateway over a stream in memory. The embedded database has one session of its own,
 * so the transactions of all sessions take turns: locking is not simulated.
 */
import { createHash } from "node:crypto"
import { Duplex } from "node:stream"
import type { PGlite } from "@electric-sql/pglite"
import type { Generator } from "./generator.ts"
import { time } from "./realm.ts"
import type { Actor, World } from "./world.ts"

// Types of messages, as the protocol numbers them.
const BIND = 0x42
const CLOSE = 0x43
const DESCRIBE = 0x44
const PARSE = 0x50
const QUERY = 0x51
const SYNC = 0x53
const TERMINATE = 0x58
const READY = 0x5a
const ERROR = 0x45
/** The kind of a message that is about a prepared statement, and not about a portal. */
const OF_STATEMENT = 0x53
/** The state of a session without a transaction. */
const IDLE = 0x49

const HEAD_BYTES = 5

const message = (type: string, ...parts: ReadonlyArray<Buffer>): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(HEAD_BYTES)
  head.write(type, "latin1")
  head.writeUInt32BE(body.length + HEAD_BYTES - 1, 1)
  return Buffer.concat([head, body])
}
const text = (value: string) => Buffer.from(`${value}\0`)
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const textAt = (bytes: Buffer, start: number) =>
  bytes.toString("utf8", start, bytes.indexOf(0, start))

const PARSE_COMPLETE = message("1")
const CLOSE_COMPLETE = message("3")

/** What a server answers to the first message of a session without a password. */
const greeting = (id: number): Buffer =>
  Buffer.concat([
    message("R", number(0)),
    message("S", text("server_version"), text("18.0")),
    message("S", text("client_encoding"), text("UTF8")),
    message("S", text("DateStyle"), text("ISO, MDY")),
    message("S", text("TimeZone"), text("UTC")),
    message("S", text("integer_datetimes"), text("on")),
    message("S", text("standard_conforming_strings"), text("on")),
    message("K", number(id), number(id)),
    message("Z", Buffer.from("I"))
  ])

const sessionQuery = (statement: string) => message("Q", text(statement))

/** A statement that fails as any write does while the disk is full. */
const DISK_FULL = sessionQuery(
  "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'No space left on device'; END $$"
)

/** Statements that write, also by a function of the schema. */
const writes =
  /\b(?:INSERT|UPDATE|DELETE|move_funds|accept_tasks|end_attempt|settle_orders|transfer)\b/i

/** The SQLSTATE of the error in the messages of an answer; null where there is none. */
const errorCodeIn = (answer: Buffer): string | null => {
  for (let at = 0; at < answer.length; at += 1 + answer.readUInt32BE(at + 1)) {
    if (answer[at] !== ERROR) continue
    const fields = answer.toString("utf8", at + HEAD_BYTES, at + 1 + answer.readUInt32BE(at + 1))
    return (
      fields
        .split("\0")
        .find((field) => field.startsWith("C"))
        ?.slice(1) ?? ""
    )
  }
  return null
}

/** Statements by which an order goes on, and by which it waits for a place. */
const moves = /\b(?:move_funds|accept_tasks|end_attempt|UPDATE tasks)\b/
const queueMoves =
  /\b(?:take_place|claim_waiting_order|(?:INTO|UPDATE|DELETE FROM) (?:waiting_orders|channel_places))\b/

const digestOf = (...pieces: ReadonlyArray<Uint8Array>): string => {
  const hash = createHash("sha1")
  for (const piece of pieces) hash.update(piece)
  return hash.digest("base64url").slice(0, 12)
}

/** Characters of a statement that the log has. */
const MOST_SHOWN = 160

/** The longest time in which a transaction may be idle, as the gateway asks of its sessions. */
const MOST_IDLE_MILLIS = 10_000

/** The longest time that a statement is on its way. */
const MOST_LATE_MILLIS = 120

/** The messages that a driver sends up to a synchronisation, and that the server answers together. */
type Unit = ReadonlyArray<Buffer>

interface Waiting {
  readonly session: Session
  readonly unit: Unit
  /** When it arrives, and after all that the session has sent before. */
  readonly atMillis: number
}

/** Where a statement is cut: before it, at a commit that fails, or after a commit. */
export type CutMoment = "before" | "in commit" | "after commit"

/** A prepared database, which serves one world after the other. */
export interface PreparedDatabase {
  readonly pglite: PGlite
  /** The texts of the statements that are prepared in it, by their names. */
  readonly statements: Map<string, string>
}

/** A connection from a process to the database. */
export class Session extends Duplex {
  readonly actor: Actor
  readonly id: number
  private readonly database: Database
  private unread: Buffer = Buffer.alloc(0)
  private isGreeted = false
  private unit: Array<Buffer> = []
  /** The names of statements in the database by the driver's names. */
  private readonly names = new Map<string, string>()

  constructor(database: Database, actor: Actor, id: number) {
    super({ autoDestroy: true })
    this.database = database
    this.actor = actor
    this.id = id
  }

  override _read(): void {
    // Answers are pushed as they come.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.unread = Buffer.concat([this.unread, chunk])
    while (this.takeMessage()) {
      // Takes one message after the other.
    }
    done()
  }

  private takeMessage(): boolean {
    const lengthAt = this.isGreeted ? 1 : 0
    if (this.unread.length < lengthAt + 4) return false
    const end = lengthAt + this.unread.readUInt32BE(lengthAt)
    if (this.unread.length < end) return false
    const bytes = this.unread.subarray(0, end)
    this.unread = this.unread.subarray(end)
    if (!this.isGreeted) {
      this.isGreeted = true
      this.database.answer(this, greeting(this.id))
    } else if (bytes[0] === TERMINATE) this.destroy()
    else {
      this.unit.push(this.renamed(bytes))
      if (bytes[0] === SYNC || bytes[0] === QUERY) {
        this.database.submit(this, this.unit)
        this.unit = []
      }
    }
    return true
  }

  /**
   * Names a prepared statement by its text, so that all sessions share it: planning would take most
   * of the time of a world. A session that forgets a statement leaves it to the others.
   */
  private renamed(bytes: Buffer): Buffer {
    if (bytes[0] === PARSE) {
      const name = textAt(bytes, HEAD_BYTES)
      if (name === "") return bytes
      const rest = bytes.subarray(bytes.indexOf(0, HEAD_BYTES))
      const sharedName = digestOf(rest)
      this.names.set(name, sharedName)
      return message("P", Buffer.from(sharedName), rest)
    }
    if (bytes[0] === BIND) {
      const nameAt = bytes.indexOf(0, HEAD_BYTES) + 1
      const name = this.names.get(textAt(bytes, nameAt))
      if (name === undefined) return bytes
      const rest = bytes.subarray(bytes.indexOf(0, nameAt))
      return message("B", bytes.subarray(HEAD_BYTES, nameAt), Buffer.from(name), rest)
    }
    if (bytes[0] === DESCRIBE && bytes[HEAD_BYTES] === OF_STATEMENT) {
      const name = this.names.get(textAt(bytes, HEAD_BYTES + 1))
      return name === undefined ? bytes : message("D", Buffer.from("S"), text(name))
    }
    return bytes
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.database.leave(this)
    done(error)
  }

  /** Ends the session as a connection ends that is lost. */
  cut(): void {
    if (this.destroyed) return
    const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })
    this.destroy(this.actor.isDead ? undefined : lost)
  }
}

export class Database {
  statementCount = 0
  /** The statements by which an order goes on, and those by which one waits for its place. */
  moveCount = 0
  queueCount = 0
  /** The statements that failed, one line each, but for those that found the disk full. */
  readonly failures: Array<string> = []
  /** While set, no process reaches the database. */
  isAway = false
  /** While set, nothing can be written. */
  isFull = false
  /** The gateway whose wire is silent, and until when; null where all wires carry. */
  silence: { readonly actor: string; readonly untilMillis: number } | null = null
  /** Whose statement was the last one. */
  lastClient = ""
  /** The next statement of the actor that is cut; null for none. */
  nextCut: { readonly actor: string; readonly moment: CutMoment } | null = null
  private readonly world: World
  private readonly actor: Actor
  private readonly prepared: PreparedDatabase
  private readonly sessions = new Set<Session>()
  private sessionCount = 0
  /** The session with an open transaction. */
  private owner: Session | null = null
  /** Cancels the end of the owner for being idle. */
  private idleTimer: number | null = null
  private waiting: ReadonlyArray<Waiting> = []
  private readonly dice: Generator
  /** The probability that a statement is on its way for a time. */
  lateness: number

  constructor(
    prepared: PreparedDatabase,
    world: World,
    actor: Actor,
    { dice, lateness }: { readonly dice: Generator; readonly lateness: number }
  ) {
    this.prepared = prepared
    this.world = world
    this.actor = actor
    this.dice = dice
    this.lateness = lateness
  }

  open(actor: Actor): Session {
    this.sessionCount += 1
    const session = new Session(this, actor, this.sessionCount)
    this.sessions.add(session)
    if (this.isAway) this.world.schedule(this.actor, () => session.cut())
    return session
  }

  submit(session: Session, unit: Unit): void {
    const lateMillis = this.dice.isHit(this.lateness) ? this.dice.between(1, MOST_LATE_MILLIS) : 0
    const last = this.waiting.findLast((entry) => entry.session === session)
    const atMillis = Math.max(
      time.nowMillis + lateMillis,
      last?.atMillis ?? 0,
      this.silentUntilMillis(session)
    )
    this.waiting = [...this.waiting, { session, unit, atMillis }]
    const serve = () => this.serve()
    if (atMillis === time.nowMillis) this.world.schedule(this.actor, serve)
    else this.world.scheduleAfter(this.actor, atMillis - time.nowMillis, serve)
  }

  answer(session: Session, bytes: Buffer): void {
    const arrive = () => {
      if (!session.destroyed) session.push(bytes)
    }
    const lateMillis = this.silentUntilMillis(session) - time.nowMillis
    if (lateMillis <= 0) this.world.schedule(this.actor, arrive)
    else this.world.scheduleAfter(this.actor, lateMillis, arrive)
  }

  /** When the wire of a session carries again; before now where it does. */
  private silentUntilMillis({ actor }: Session): number {
    return this.silence?.actor === actor.name ? this.silence.untilMillis : 0
  }

  /** Ends the sessions of a process, or all of them. */
  cutAll(actor: Actor | null): void {
    for (const session of this.sessions) {
      if (actor === null || session.actor === actor) session.cut()
    }
  }

  /** Serves the oldest unit of a session that need not wait for a transaction of another one. */
  private serve(): void {
    const next = this.waiting.find(
      ({ session, atMillis }) =>
        atMillis <= time.nowMillis && (this.owner === null || this.owner === session)
    )
    if (next === undefined) return
    this.waiting = this.waiting.filter((entry) => entry !== next)
    const { session, unit } = next
    if (session.destroyed) return
    this.statementCount += 1
    const statement = this.statementOf(unit)
    const cut = this.takeCut(session, statement)
    if (cut === "before" || cut === "in commit") {
      // What leaves with an open transaction rolls it back.
      session.cut()
      return
    }
    const shown = statement.slice(0, MOST_SHOWN).replaceAll(/\s+/g, " ")
    const isRefused = this.isFull && writes.test(statement)
    const bytes = isRefused ? this.send(DISK_FULL) : this.execute(unit)
    const code = isRefused ? null : errorCodeIn(bytes)
    if (code !== null) this.failures.push(`${session.actor.name} ${code} ${shown}`)
    this.world.note(
      session.actor,
      `sql ${session.id} ${shown} ${digestOf(...unit)} ${digestOf(bytes)}`
    )
    this.lastClient = session.actor.name
    if (moves.test(statement)) this.moveCount += 1
    if (queueMoves.test(statement)) this.queueCount += 1
    const isIdle = bytes.at(-6) === READY && bytes.at(-1) === IDLE
    this.own(isIdle ? null : session)
    if (isIdle) this.serveOthers()
    if (cut === null) this.answer(session, bytes)
    else session.cut()
  }

  /** Sets the session with an open transaction, which ends where it is idle for too long. */
  private own(session: Session | null): void {
    this.owner = session
    if (this.idleTimer !== null) time.cancel(this.idleTimer)
    this.idleTimer = session === null ? null : time.set(MOST_IDLE_MILLIS, () => session.cut())
  }

  /** Whether this statement is the one that is cut. A statement alone commits by itself. */
  private takeCut(session: Session, statement: string): CutMoment | null {
    if (this.nextCut?.actor !== session.actor.name) return null
    const { moment } = this.nextCut
    const isCommit = statement === "COMMIT"
    const isHit =
      moment === "before" || isCommit || (moment === "after commit" && this.owner === null)
    if (!isHit) return null
    this.nextCut = null
    this.world.note(session.actor, `cut ${moment} ${statement.slice(0, MOST_SHOWN)}`)
    return moment
  }

  /** Runs messages, within this call: PGlite has answered them when it returns its promise. */
  private send(bytes: Buffer): Buffer {
    const answers: Array<Buffer> = []
    // PostgreSQL's timer of its time-outs has no effect here, but it outlives a world.
    time.withoutTimers(() => {
      void this.prepared.pglite.execProtocolRawStream(bytes, {
        syncToFs: false,
        onRawData: (answer) => answers.push(Buffer.from(answer))
      })
    })
    return Buffer.concat(answers)
  }

  /**
   * Runs a unit. Its statement is prepared only where no session has prepared it before, and none is
   * closed, because the others have it still.
   */
  private execute(unit: Unit): Buffer {
    const { statements } = this.prepared
    const [first, ...rest] = unit
    if (first?.[0] === CLOSE && first[HEAD_BYTES] === OF_STATEMENT) {
      return Buffer.concat([CLOSE_COMPLETE, this.execute(rest)])
    }
    const name = first?.[0] === PARSE ? textAt(first, HEAD_BYTES) : ""
    if (statements.has(name)) {
      return Buffer.concat([PARSE_COMPLETE, this.send(Buffer.concat(rest))])
    }
    const bytes = this.send(Buffer.concat(unit))
    if (name !== "" && bytes[0] === PARSE_COMPLETE[0]) statements.set(name, this.statementOf(unit))
    return bytes
  }

  private statementOf(unit: Unit): string {
    for (const bytes of unit) {
      if (bytes[0] === QUERY) return textAt(bytes, HEAD_BYTES)
      const secondTextAt = bytes.indexOf(0, HEAD_BYTES) + 1
      if (bytes[0] === PARSE) return textAt(bytes, secondTextAt)
      if (bytes[0] === BIND) return this.prepared.statements.get(textAt(bytes, secondTextAt)) ?? ""
    }
    return ""
  }

  private serveOthers(): void {
    for (const _ of this.waiting) this.world.schedule(this.actor, () => this.serve())
  }

  leave(session: Session): void {
    this.sessions.delete(session)
    this.waiting = this.waiting.filter((entry) => entry.session !== session)
    if (this.owner !== session) return
    this.send(sessionQuery("ROLLBACK"))
    this.own(null)
    this.serveOthers()
  }
}
