import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Book } from "./Book.ts"
import { Requests } from "./Requests.ts"
import { Tasks } from "./Tasks.ts"

const list = (data: ReadonlyArray<object>) =>
  HttpServerResponse.jsonUnsafe({ object: "list", data })

/** What the simulator tells about itself, under `/_sim`. No vendor has these paths. */
export const layerControls = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const book = yield* Book
    const requests = yield* Requests
    const tasks = yield* Tasks

    yield* router.add(
      "GET",
      "/_sim/book",
      Effect.gen(function* () {
        const { event } = yield* HttpServerRequest.ParsedSearchParams
        const entries = yield* book.entries
        return list(
          event === undefined ? entries : entries.filter((entry) => entry.event === event)
        )
      })
    )
    yield* router.add("GET", "/_sim/polls", Effect.map(tasks.polled, list))
    yield* router.add("GET", "/_sim/requests", Effect.map(requests.all, list))
    yield* router.add(
      "DELETE",
      "/_sim/requests",
      Effect.as(requests.clear, HttpServerResponse.empty())
    )
  })
)
