/** Whole gateways on one database, as processes of the world: without sockets, with all jobs. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Exit, Fiber, Layer, Logger, Redacted, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { layerVendorLimits } from "../../src/adapters/wire/limits.ts"
import { layerJobs, layerRoutes, layerStores, layerUseCases, ROUTER } from "../../src/gateway.ts"
import { layerMonitor } from "../../src/operations/Monitor.ts"
import { layerRecovery } from "../../src/polling/Poller.ts"
import { layerDistribution } from "../../src/postgres/citus/Distribution.ts"
import { layerChanges } from "../../src/postgres/client/ChangesPostgres.ts"
import { type Failpoint, Failpoints } from "../../src/runtime/Failpoints.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { layerPollerPulse } from "../../src/services/Operations.ts"
import { layerStoredDocuments } from "../../src/services/StoredDocuments.ts"
import type { Gateway } from "../chaos/gateways.ts"
import { layerSimulatedBucket } from "./bucket.ts"
import type { Database } from "./database.ts"
import { type Handler, makeHandler, type Network } from "./network.ts"
import { layerSimulatedWeb, layerSimulatedWire } from "./outside.ts"
import { time } from "./realm.ts"
import { Actor, type World } from "./world.ts"

export const ADMIN_TOKEN = "admin_simulation"
const secrets = {
  masterKey: Redacted.make(new Uint8Array(32).fill(7)),
  adminToken: Redacted.make(ADMIN_TOKEN)
}

/** The delays between the attempts of a webhook. */
export const RETRIES_SECONDS: ReadonlyArray<number> = [1, 1, 2, 3, 5, 8, 13]

/** Deadlines short enough that every order of a world ends in seconds. */
const settings = {
  ...defaultSettings,
  webhookAllowPrivate: true,
  webhookRetrySeconds: [...RETRIES_SECONDS],
  // Jobs that take whole seconds end between two polls.
  askIntervalSeconds: 1.5,
  pollerSeconds: 1,
  // Longer than a request and its answer are on their way.
  leaseSeconds: 2,
  submitDeadlineSeconds: 3,
  // Time for three polls over the slowest network.
  imageDeadlineSeconds: 15,
  textDeadlineSeconds: 3,
  textStreamDeadlineSeconds: 3,
  taskDeadlineSeconds: 15,
  unknownGraceSeconds: 2
}

class Requests extends Context.Service<Requests, { readonly handle: Handler }>()(
  "simulation/Requests"
) {}

/**
 * Only with a lifetime does the pool look whether a connection still lives before it lends it. One that
 * breaks between its handshake and the pool would be lent for ever, and worlds often have such a one.
 */
const CONNECTION_TTL = "1 hour"

/** The driver that also serves a real server, over sessions of the simulated database. */
export const layerSimulatedDatabase = (database: Database, actor: Actor, maxConnections: number) =>
  PgClient.layer({
    stream: () => database.open(actor),
    username: "postgres",
    database: "postgres",
    connectionTTL: CONNECTION_TTL,
    maxConnections
  })

/** The stores of a gateway of the world. */
export const layerSimulatedStores = (database: Database, actor: Actor) =>
  layerStores(secrets).pipe(
    Layer.provideMerge(
      layerChanges.pipe(
        Layer.provideMerge(layerDistribution),
        Layer.provideMerge(layerSimulatedDatabase(database, actor, 4))
      )
    ),
    Layer.provide(layerStoredDocuments)
  )

/** The failpoints that the gateways of a world have passed. */
export class Passes {
  count = 0
  /** Who passed the last one. */
  lastClient = ""
  private readonly countOf = new Map<Failpoint, number>()

  of(failpoint: Failpoint): number {
    return this.countOf.get(failpoint) ?? 0
  }

  /** What happens at a failpoint has a scheduling point of its own. */
  layerOf(actor: Actor) {
    return Layer.succeed(Failpoints, {
      pass: (failpoint) =>
        Effect.suspend(() => {
          this.count += 1
          this.lastClient = actor.name
          this.countOf.set(failpoint, this.of(failpoint) + 1)
          return Effect.yieldNow
        })
    })
  }
}

const layerGateway = (
  {
    database,
    network,
    passes,
    isAlone,
    isArchived
  }: Pick<GatewayOptions, "database" | "network" | "passes" | "isAlone" | "isArchived">,
  actor: Actor
) =>
  Layer.effect(
    Requests,
    Effect.map(
      Effect.flatMap(HttpRouter.toHttpEffect(layerRoutes(secrets)), makeHandler),
      (handle) => ({ handle })
    )
  ).pipe(
    Layer.merge(layerJobs),
    Layer.provide(layerMonitor.pipe(Layer.provideMerge(layerPollerPulse))),
    Layer.provide(Layer.succeed(HttpRouter.RouterConfig, ROUTER)),
    Layer.provide(HttpServer.layerServices),
    Layer.provide(layerRecovery),
    Layer.provideMerge(layerUseCases),
    Layer.provide([
      layerAdapters.pipe(Layer.provide([layerSimulatedWire(network, actor), layerVendorLimits])),
      layerSimulatedWeb(network, actor)
    ]),
    Layer.provideMerge(layerSimulatedStores(database, actor)),
    Layer.provide(
      Layer.succeed(Settings, { ...settings, soleGateway: isAlone, hasArchive: isArchived })
    ),
    Layer.provide(isArchived ? layerSimulatedBucket(network, actor) : Layer.empty),
    Layer.provide(passes.layerOf(actor))
  )

/** The clock of a machine whose wall clock is ahead of the database's. */
const clockAhead = (millis: number): Clock.Clock => {
  const clock = Clock.Clock.defaultValue()
  const currentTimeMillisUnsafe = () => clock.currentTimeMillisUnsafe() + millis
  const currentTimeNanosUnsafe = () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n
  return {
    currentTimeMillisUnsafe,
    currentTimeMillis: Effect.sync(currentTimeMillisUnsafe),
    currentTimeNanosUnsafe,
    currentTimeNanos: Effect.sync(currentTimeNanosUnsafe),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}

const LogLine = Schema.fromJsonString(
  Schema.Struct({ level: Schema.String, message: Schema.Unknown })
)
const decodeLogLine = Schema.decodeUnknownSync(LogLine)

const layerLogs = (world: World, actor: Actor) =>
  Logger.layer([
    Logger.map(Logger.formatJson, (line) => {
      const { level, message } = decodeLogLine(line)
      world.note(actor, `log ${level} ${JSON.stringify(message)}`)
    })
  ])

/** A gateway of the world; where it ends, its machine starts it again. */
export interface SimulatedGateway extends Gateway {
  readonly host: string
  /** Starts the process where none runs. */
  readonly start: () => void
  /** Drops the process as it is. */
  readonly drop: () => void
  /** Lets the process stand still for a time. */
  readonly freeze: (millis: number) => void
  /** Whether it serves, its machine runs it, and it is not shutting down. */
  readonly isWell: () => boolean
  /** When it began to serve, in milliseconds since 1970. */
  readonly servedFrom: ReadonlyArray<number>
}

interface GatewayOptions {
  readonly name: string
  readonly world: World
  readonly database: Database
  readonly network: Network
  readonly passes: Passes
  /** By how much its wall clock is ahead. */
  readonly skewMillis: number
  /** Whether it is the only one, and knows that. */
  readonly isAlone: boolean
  /** Whether it has an archive. */
  readonly isArchived: boolean
  readonly restartMillis: () => number
}

export const makeSimulatedGateway = (options: GatewayOptions): SimulatedGateway => {
  const { name, world, database, network } = options
  const host = `${name}.test`
  const url = `http://${host}`
  const machine = new Actor(`${name}'s machine`)
  let process: {
    readonly actor: Actor
    readonly fiber: Fiber.Fiber<void, unknown>
    isStopping: boolean
  } | null = null
  const servedFrom: Array<number> = []
  let gaveUp = 0

  const serve = Effect.fnUntraced(function* (actor: Actor) {
    const context = yield* Layer.buildWithMemoMap(
      layerGateway(options, actor).pipe(Layer.provide(layerLogs(world, actor))),
      Layer.makeMemoMapUnsafe(),
      yield* Effect.scope
    )
    network.listen(host, actor, Context.get(context, Requests).handle)
    servedFrom.push(time.nowMillis)
    world.note(actor, "listens")
    return yield* Effect.never
  })

  const start = () => {
    if (process !== null) return
    const actor = new Actor(name)
    const fiber = Effect.scoped(serve(actor)).pipe(
      Effect.provideService(Clock.Clock, clockAhead(options.skewMillis)),
      world.runAs(actor),
      Effect.runFork
    )
    process = { actor, fiber, isStopping: false }
    fiber.addObserver((exit) => {
      world.note(actor, Exit.hasInterrupts(exit) ? "ends as it was told" : `ends ${exit._tag}`)
      if (!network.isListening(host)) gaveUp += 1
      end(actor)
    })
  }

  const end = (actor: Actor) => {
    if (process?.actor !== actor) return
    process = null
    actor.isDead = true
    world.note(machine, "the process has ended")
    network.close(host)
    network.cutAll(actor)
    database.cutAll(actor)
    world.scheduleAfter(machine, options.restartMillis(), start)
  }

  const drop = () => {
    if (process !== null) end(process.actor)
  }
  const freeze = (millis: number) => {
    if (process !== null) world.pause(process.actor, millis)
  }
  const isServing = () => network.isListening(host)
  return {
    name,
    host,
    start,
    drop,
    freeze,
    servedFrom,
    isWell: () => isServing() && process !== null && !process.isStopping && !process.actor.isPaused,
    url: Effect.as(
      Effect.repeat(Effect.delay(Effect.sync(isServing), "20 millis"), {
        until: (isReady) => isReady
      }),
      url
    ),
    urlNow: () => (isServing() ? url : null),
    awake: isServing,
    kill: Effect.sync(drop),
    pause: (seconds) => Effect.sync(() => freeze(seconds * 1000)),
    stop: Effect.suspend(() => {
      if (process === null) return Effect.succeed(true)
      process.isStopping = true
      return Effect.as(Fiber.interrupt(process.fiber), true)
    }),
    starts: () => ({ served: servedFrom.length, gaveUp })
  }
}
