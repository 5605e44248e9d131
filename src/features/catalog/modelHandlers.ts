import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { customerApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { makeModelEntries } from "../../http/handlers/modelEntries.ts"
import { ModelsGroup } from "./ModelsApi.ts"

export const layerModelsHandlers = HttpApiBuilder.group(
  customerApi(ModelsGroup),
  "models",
  Effect.fn(function* (handlers) {
    const entries = yield* makeModelEntries
    return handlers.handleAll({
      list: Effect.fn("models.list")(function* ({ query }) {
        const data = yield* entries.list(yield* CurrentCaller, query.modality)
        return { object: "list" as const, data }
      }),
      read: Effect.fn("models.read")(function* ({ params }) {
        return yield* entries.find(yield* CurrentCaller, params.id)
      })
    })
  })
)
