/**
 * The network of a simulated world: requests between its processes, without sockets. Bodies arrive
 * whole, so a stream is read when it has ended.
 */
import { Data, Effect, Layer, type Scope } from "effect"
import {
  FetchHttpClient,
  HttpEffect,
  type HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import type { Generator } from "./generator.ts"
import type { Actor, World } from "./world.ts"

export type Handler = (request: Request) => Promise<Response>

/** The connection was refused, or it broke before the whole answer had arrived. */
export class ConnectionBroken extends Data.TaggedError("ConnectionBroken")<{
  /** Whether the request may have arrived. */
  readonly isSent: boolean
}> {}

export interface Delivery {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer>
}

/** What goes wrong with a request; null for nothing. */
export type Mishap = "refused" | "request lost" | "answer lost" | null

interface Exchange {
  readonly server: Actor
  readonly cut: () => void
}

/** The handler of an application, whose fibers are those of the surrounding one. */
export const makeHandler = Effect.fnUntraced(function* <E>(
  app: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    E,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
) {
  const toHandler = HttpEffect.toWebHandlerWith<
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >(yield* Effect.context<never>())
  return toHandler(app)
})

export class Network {
  requestCount = 0
  /** The answers that left their server. */
  answerCount = 0
  /** The requests to cancel something. */
  cancelCount = 0
  /** Who sent the last request. */
  lastClient = ""
  /** Decides what goes wrong with a request from a process to a host. */
  mishapOf: (client: Actor, host: string, method: string) => Mishap = () => null
  private readonly world: World
  private readonly dice: Generator
  private readonly mostLatencyMillis: number
  private readonly servers = new Map<string, { readonly actor: Actor; readonly handle: Handler }>()
  private readonly exchanges = new Set<Exchange>()
  private readonly cuts = new WeakMap<Request, () => void>()

  /** Each way of an exchange takes up to `mostLatencyMillis`. */
  constructor(world: World, dice: Generator, mostLatencyMillis: number) {
    this.world = world
    this.dice = dice
    this.mostLatencyMillis = mostLatencyMillis
  }

  /** Runs a task of an actor when what was sent to it has arrived. */
  private arrive(actor: Actor, run: () => void): void {
    const millis = this.dice.isHit(0.5) ? 0 : this.dice.between(0, this.mostLatencyMillis)
    if (millis === 0) this.world.schedule(actor, run)
    else this.world.scheduleAfter(actor, millis, run)
  }

  listen(host: string, actor: Actor, handle: Handler): void {
    this.servers.set(host, { actor, handle })
  }

  close(host: string): void {
    this.servers.delete(host)
  }

  isListening(host: string): boolean {
    return this.servers.get(host)?.actor.isDead === false
  }

  /** Cuts all connections to a process. */
  cutAll(server: Actor): void {
    for (const exchange of this.exchanges) if (exchange.server === server) exchange.cut()
  }

  /** Cuts the connection of a request that a server is handling. */
  cut(request: Request): void {
    this.cuts.get(request)?.()
  }

  /** Sends a request; rejects with `ConnectionBroken`, or with the reason of its signal. */
  send(client: Actor, request: Request): Promise<Delivery> {
    this.requestCount += 1
    this.lastClient = client.name
    const { host, pathname } = new URL(request.url)
    if (pathname.endsWith("/cancel")) this.cancelCount += 1
    const server = this.servers.get(host)
    const mishap = this.mishapOf(client, host, request.method)
    const name = `${request.method} ${host}${pathname}`
    return new Promise((resolve, reject) => {
      const finish = (event: string, settle: () => void) =>
        this.arrive(client, () => {
          this.world.note(client, `${event} ${name}`)
          settle()
        })
      const breakOff = (isSent: boolean) =>
        finish("cut", () => reject(new ConnectionBroken({ isSent })))
      if (server === undefined || server.actor.isDead || mishap === "refused") {
        return breakOff(false)
      }
      if (mishap === "request lost") return breakOff(true)
      const abort = () => end(() => reject(request.signal.reason))
      /** Ends the exchange once. Its listener would keep the world in memory as long as the signal. */
      const end = (settle: () => void) => {
        if (!this.exchanges.delete(exchange)) return
        request.signal.removeEventListener("abort", abort)
        settle()
      }
      const exchange: Exchange = { server: server.actor, cut: () => end(() => breakOff(true)) }
      this.exchanges.add(exchange)
      const arrived = new Request(request)
      this.cuts.set(arrived, exchange.cut)
      request.signal.addEventListener("abort", abort)
      const handle = async () => {
        this.world.note(server.actor, `received ${name}`)
        const response = await server.handle(arrived)
        const body = new Uint8Array(await response.arrayBuffer())
        const { status, headers } = response
        this.answerCount += 1
        end(() =>
          mishap === "answer lost"
            ? breakOff(true)
            : finish(`got ${status} ${body.length}`, () => resolve({ status, headers, body }))
        )
      }
      this.arrive(server.actor, () => {
        handle().catch(exchange.cut)
      })
    })
  }

  /** The `fetch` of a process. */
  fetchOf(client: Actor): typeof globalThis.fetch {
    return async (input, init) => {
      const { status, headers, body } = await this.send(client, new Request(input, init))
      return new Response(body.length === 0 ? null : body, { status, headers })
    }
  }
}

/** The HTTP client of a process. */
export const layerClient = (network: Network, client: Actor) =>
  FetchHttpClient.layer.pipe(
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, network.fetchOf(client)))
  )
