/**
 * The turns of reads. A list, which reads more than one thing by its id, may keep the database and the
 * event loop busy for milliseconds, and a thousand look-ups at once do the same: few of each run at a
 * time, and an order never stands behind more.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RateLimited } from "../../../domain/Errors.ts"
import { CurrentTurn, makeFairLane } from "../../../runtime/FairLane.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { HeldOpen, LookUp, TakesLinks } from "../../api/middlewares.ts"
import { errorResponse } from "../errorResponse.ts"

/**
 * Which turns a route takes. Every GET is a list unless it says that it is none. Routes that wait for a
 * task or pass a vendor's file on would keep their place meanwhile: of those only the look-up of the task
 * itself takes a turn.
 */
export const readOf = ({
  method,
  annotations
}: HttpApiEndpoint.Top): "list" | "look-up" | "task" | null => {
  if (method !== "GET") return null
  if (Context.getOrUndefined(annotations, LookUp) === undefined) return "list"
  const isWaiting =
    Context.getOrUndefined(annotations, HeldOpen) !== undefined ||
    Context.getOrUndefined(annotations, TakesLinks) !== undefined
  return isWaiting ? "task" : "look-up"
}

export class ReadLanes extends Context.Service<ReadLanes>()("gateway/http/ReadLanes", {
  make: Effect.gen(function* () {
    const { listsInFlight, organizationLists, organizationListQueue } = yield* Settings
    const bounds = {
      together: listsInFlight,
      each: Math.min(organizationLists, listsInFlight),
      waiting: organizationListQueue
    }
    const lanes = { list: makeFairLane(bounds), "look-up": makeFairLane(bounds) }
    const refusals = makeFairLane({ ...bounds, each: 1 })
    const full = new RateLimited({
      message: `This organisation has ${organizationListQueue} reads waiting at this gateway; send this one again when others are answered`,
      retryAfterSeconds: 1
    })
    return {
      /** Waits for the owner's turn to be refused: whoever is, sends the next request at once. */
      beforeRefusal: (owner: string): Effect.Effect<void> => refusals.inTurn(owner, Effect.void),
      /** Runs the handler of a read in its turn, and each piece of an answer that comes in pieces. */
      inTurn: <E, R>(
        endpoint: HttpApiEndpoint.Top,
        owner: string,
        handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) => {
        const read = readOf(endpoint)
        if (read === null) return handler
        if (read === "task") {
          const inTurn: typeof CurrentTurn.Service = (work) => lanes["look-up"].inTurn(owner, work)
          return Effect.provideService(handler, CurrentTurn, inTurn)
        }
        const lane = lanes[read]
        if (!lane.hasRoom(owner)) return Effect.succeed(errorResponse(full))
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
