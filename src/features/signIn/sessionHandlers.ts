import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound } from "../../domain/Errors.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { SessionsGroup } from "./SessionsApi.ts"
import { SignIn } from "./SignIn.ts"
import { sessionView } from "./signInHandlers.ts"

const noSuchSession = new NotFound({ message: "No such session" })

export const layerSessionHandlers = HttpApiBuilder.group(
  operatorApi(SessionsGroup),
  "sessions",
  Effect.fn(function* (handlers) {
    const signIn = yield* SignIn
    return handlers.handleAll({
      listSessions: Effect.fn("sessions.listSessions")(function* ({ query }) {
        if (signIn === null) return { object: "list" as const, data: [], has_more: false }
        const page = yield* signIn.store.list(null, pageOf(query))
        return listView(page, (session) => sessionView(session, signIn.rightsOf(session.person)))
      }),
      endSession: Effect.fn("sessions.endSession")(function* ({ params }) {
        if (signIn === null) return yield* noSuchSession
        yield* signIn.store.end(params.id, null)
        return { id: params.id }
      })
    })
  })
)
