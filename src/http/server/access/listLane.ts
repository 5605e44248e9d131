/**
 * The turns of lists. Whatever reads more than one thing by its id may keep the database and the event
 * loop busy for milliseconds, so few of them run at a time, and an order never stands behind more.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { HttpBody, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RateLimited } from "../../../domain/Errors.ts"
import { makeFairLane } from "../../../runtime/FairLane.ts"
import { Settings } from "../../../runtime/Settings.ts"
import { LookUp } from "../../api/middlewares.ts"
import { errorResponse } from "../errorResponse.ts"

/** Every GET is a list unless it says that it is none. */
export const isList = ({ method, annotations }: HttpApiEndpoint.Top): boolean =>
  method === "GET" && Context.getOrUndefined(annotations, LookUp) === undefined

export class ListLane extends Context.Service<ListLane>()("gateway/http/ListLane", {
  make: Effect.gen(function* () {
    const { listsInFlight, organizationLists, organizationListQueue } = yield* Settings
    const lane = makeFairLane({
      together: listsInFlight,
      each: Math.min(organizationLists, listsInFlight),
      waiting: organizationListQueue
    })
    const full = new RateLimited({
      message: `This organisation has ${organizationListQueue} lists waiting at this gateway; send this one again when others are answered`,
      retryAfterSeconds: 1
    })
    return {
      count: lane.count,
      /** Runs the handler of a list in its turn, and each piece of an answer that comes in pieces. */
      inTurn: Effect.fnUntraced(function* <E, R>(
        owner: string,
        handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
      ) {
        if (!lane.hasRoom(owner)) return errorResponse(full)
        const response = yield* lane.inTurn(owner, handler)
        const { body } = response
        return body._tag !== "Stream"
          ? response
          : HttpServerResponse.setBody(
              response,
              HttpBody.stream(
                Stream.transformPull(body.stream, (pull) =>
                  Effect.succeed(lane.inTurn(owner, pull))
                ),
                body.contentType,
                body.contentLength
              )
            )
      })
    }
  })
}) {}

export const layerListLane = Layer.effect(ListLane, ListLane.make)
