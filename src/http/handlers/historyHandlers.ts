import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminAudit } from "../../services/AdminAudit.ts"
import { Orphans } from "../../services/Orphans.ts"
import { TaskHistory } from "../../services/TaskHistory.ts"
import { GatewayApi } from "../api/GatewayApi.ts"
import { ResolutionBody } from "../api/HistoryApi.ts"
import { strictly } from "../api/shared.ts"
import { bodyOf } from "../server/requestRules.ts"
import { listView, pageOf } from "./respond.ts"
import { orphanView, timelineView } from "./timeline.ts"

const asResolution = bodyOf(ResolutionBody, strictly)

export const layerHistoryHandlers = HttpApiBuilder.group(
  GatewayApi,
  "history",
  Effect.fn(function* (handlers) {
    const history = yield* TaskHistory
    const orphans = yield* Orphans
    const audit = yield* AdminAudit
    const written = handlers.handleRaw(
      "resolveOrphan",
      Effect.fn("history.resolveOrphan")(function* ({ params }) {
        const { note } = yield* asResolution
        return orphanView(yield* orphans.resolve(params.id, note))
      })
    )
    return written.handleAll({
      readTask: Effect.fn("history.readTask")(function* ({ params }) {
        return timelineView(yield* history.find(params.id))
      }),
      listOrphans: Effect.fn("history.listOrphans")(function* ({ query }) {
        return listView(yield* orphans.list(query.resolved === "true", pageOf(query)), orphanView)
      }),
      listAudit: Effect.fn("history.listAudit")(function* ({ query }) {
        return listView(yield* audit.list(pageOf(query)), (entry) => ({
          id: entry.id,
          at: entry.at.toISOString(),
          action: entry.action,
          subject_id: entry.subjectId,
          fields: entry.fields,
          request_id: entry.requestId,
          status: entry.status
        }))
      })
    })
  })
)
