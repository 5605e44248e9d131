/**
 * Concurrency limits of reads. One list, or a thousand concurrent look-ups, may keep the database
 * and the event loop busy for milliseconds. Only a few lists and a few look-ups run at a time, so
 * that orders do not queue behind them.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RateLimited } from "../../../domain/Errors.ts"
import { CurrentTurn, makeFairLane } from "../../../runtime/FairLane.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { HeldOpen, LookUp, TakesLinks } from "../../api/middlewares.ts"
import { errorResponse } from "../errorResponse.ts"

/** Remembers what follows from the annotations of an endpoint, which every request needs. */
export const byEndpoint = <A>(read: (endpoint: HttpApiEndpoint.Top) => A) => {
  const cache = new WeakMap<HttpApiEndpoint.Top, { readonly value: A }>()
  return (endpoint: HttpApiEndpoint.Top): A => {
    const entry = cache.get(endpoint) ?? { value: read(endpoint) }
    cache.set(endpoint, entry)
    return entry.value
  }
}

/**
 * The lane that a route goes through. Every GET is a list unless it is annotated as a `LookUp`. A
 * route that waits for a task or streams a vendor's file would hold its permit for too long, so
 * only its look-up of the task goes through a lane.
 */
export const readOf = byEndpoint(({ method, annotations }): "list" | "look-up" | "task" | null => {
  if (method !== "GET") return null
  if (Context.getOrUndefined(annotations, LookUp) === undefined) return "list"
  const isWaiting =
    Context.getOrUndefined(annotations, HeldOpen) !== undefined ||
    Context.getOrUndefined(annotations, TakesLinks) !== undefined
  return isWaiting ? "task" : "look-up"
})

export class ReadLanes extends Context.Service<ReadLanes>()("gateway/http/ReadLanes", {
  make: Effect.gen(function* () {
    const { listsInFlight, organizationLists, organizationListQueue } = yield* Settings
    const limits = {
      total: listsInFlight,
      perOwner: Math.min(organizationLists, listsInFlight),
      maxWaiting: organizationListQueue
    }
    const lanes = { list: yield* makeFairLane(limits), "look-up": yield* makeFairLane(limits) }
    const refusals = yield* makeFairLane({ ...limits, perOwner: 1 })
    const queueFull = new RateLimited({
      message: `This organisation has ${organizationListQueue} reads waiting at this gateway; send this one again when others are answered`,
      retryAfterSeconds: 1
    })
    /** Runs the look-ups of tasks in their lane; concurrent ones share their statements. */
    const withTaskTurns = <A, E, R>(owner: string, read: Effect.Effect<A, E, R>) => {
      const inTurn: typeof CurrentTurn.Service = (work) =>
        lanes["look-up"].inTurn(owner, work, { sharesPermit: true })
      return Effect.provideService(read, CurrentTurn, inTurn)
    }
    return {
      /**
       * Delays a refusal until its owner's turn in a fair lane, as a refused client often retries
       * immediately.
       */
      beforeRefusal: (owner: string): Effect.Effect<void> => refusals.inTurn(owner, Effect.void),
      withTaskTurns,
      /** Runs a read that is no route of its own in the lane of its kind. */
      inLane: <A, E, R>(
        kind: keyof typeof lanes,
        owner: string,
        read: Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | RateLimited, R> =>
        lanes[kind].hasRoom(owner) ? lanes[kind].inTurn(owner, read) : Effect.fail(queueFull),
      /**
       * Runs the handler of a read in its lane, and also the production of each chunk of a streamed
       * answer.
       */
      inTurn: <E, R>(
        endpoint: HttpApiEndpoint.Top,
        owner: string,
        handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) => {
        const read = readOf(endpoint)
        if (read === null) return handler
        if (read === "task") return withTaskTurns(owner, handler)
        const lane = lanes[read]
        if (!lane.hasRoom(owner)) return Effect.succeed(errorResponse(queueFull))
        return Effect.map(lane.inTurn(owner, handler), (response) => {
          const { body } = response
          if (body._tag !== "Stream") return response
          const pieces = Stream.transformPull(body.stream, (pull) =>
            Effect.succeed(lane.inTurn(owner, pull))
          )
          return HttpServerResponse.setBody(
            response,
            HttpBody.stream(pieces, body.contentType, body.contentLength)
          )
        })
      }
    }
  })
}) {}

export const layerReadLanes = Layer.effect(ReadLanes, ReadLanes.make)
