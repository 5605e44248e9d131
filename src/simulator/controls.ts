import { Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Accounts } from "./Accounts.ts"
import { Book } from "./Book.ts"
import { Requests } from "./Requests.ts"
import { Tasks } from "./Tasks.ts"

const list = (data: ReadonlyArray<object>) =>
  HttpServerResponse.jsonUnsafe({ object: "list", data })

/**
 * A fault of an account. Its switches apply to every order of the account, and `sim:refuse` to
 * every request.
 */
const FaultBody = Schema.Struct({
  switches: Schema.String,
  seconds: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThan(0))).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(null))
  )
})

/** The simulator's control API for tests, under `/_sim`. No vendor has these paths. */
export const layerControls = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const book = yield* Book
    const requests = yield* Requests
    const tasks = yield* Tasks
    const accounts = yield* Accounts

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
    yield* router.add(
      "PUT",
      "/_sim/accounts/:key",
      Effect.gen(function* () {
        const { key } = yield* HttpRouter.schemaPathParams(Schema.Struct({ key: Schema.String }))
        const { switches, seconds } = yield* HttpServerRequest.schemaBodyJson(FaultBody)
        yield* accounts.setFault(key, switches, seconds)
        return HttpServerResponse.empty()
      }).pipe(
        Effect.catch((error) =>
          Effect.succeed(HttpServerResponse.text(`${error.message}\n`, { status: 400 }))
        )
      )
    )
    yield* router.add("GET", "/_sim/polls", Effect.map(tasks.pollHistory, list))
    yield* router.add("POST", "/_sim/release", Effect.as(tasks.release, HttpServerResponse.empty()))
    yield* router.add("GET", "/_sim/requests", Effect.map(requests.all, list))
    yield* router.add(
      "DELETE",
      "/_sim/requests",
      Effect.as(requests.clear, HttpServerResponse.empty())
    )
  })
)
