import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelHealth } from "../../channels/ChannelHealth.ts"
import { MADE } from "../../domain/channelEnds.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { Catalog, noSuchChannel } from "../../services/Catalog.ts"
import type { ChannelCheckView, ChannelView } from "./ChannelsApi.ts"
import { ChannelsGroup } from "./ChannelsApi.ts"
import {
  type ChannelReport,
  type ModelResting,
  makeChannelReports,
  type Resting
} from "./channelReports.ts"
import { type ChannelCheck, makeChannelTest } from "./channelTest.ts"

const restView = (rest: Resting) => ({
  since: rest.since.toISOString(),
  until: rest.until.toISOString(),
  reason: rest.reason,
  status: rest.status
})

const modelRestView = ({ model, ...rest }: ModelResting) => ({ model, ...restView(rest) })

const DRIFT_DIGITS = 4

const channelView = (report: ChannelReport): ChannelView => {
  const { calls, channel, lastFailure } = report
  return {
    id: report.id,
    name: channel?.name ?? null,
    state: report.state,
    rest: report.rest && modelRestView(report.rest),
    model_rests: report.modelRests.map(modelRestView),
    slowed_organizations: report.slowedOrganizations.map(({ organizationId, ...rest }) => ({
      organization_id: organizationId,
      ...modelRestView(rest)
    })),
    open_tasks: report.openTasks,
    calls: [...calls.values()].reduce((sum, count) => sum + count, 0),
    failures: Object.fromEntries([...calls].filter(([end]) => end !== MADE)),
    latency_ms: report.took,
    completion_lag_ms: report.lag,
    drift: [...report.drift].map(([model, ratio]) => ({
      model,
      ratio: Number(ratio.toFixed(DRIFT_DIGITS))
    })),
    last_failure: lastFailure && {
      at: lastFailure.at.toISOString(),
      reason: lastFailure.reason,
      status: lastFailure.status,
      message: lastFailure.message
    },
    keys: report.keys.map(({ rest, ...key }) => ({ ...key, rest: rest && restView(rest) }))
  }
}

const checkView = (check: ChannelCheck): ChannelCheckView => ({
  protocol: check.protocol,
  key: check.keyName,
  reachable: check.isReachable,
  tls: check.isSecure,
  credential_accepted: check.isAccepted,
  duration_ms: check.tookMillis,
  message: check.message
})

export const layerChannelHandlers = HttpApiBuilder.group(
  operatorApi(ChannelsGroup),
  "channels",
  Effect.fn(function* (handlers) {
    const catalog = yield* Catalog
    const health = yield* ChannelHealth
    const reports = yield* makeChannelReports
    const test = yield* makeChannelTest

    const viewOf = Effect.fnUntraced(function* (channelId: string) {
      const report = (yield* reports).find(({ id }) => id === channelId)
      return report === undefined ? yield* noSuchChannel() : channelView(report)
    })

    return handlers.handleAll({
      listChannels: Effect.fn("channels.list")(function* ({ query }) {
        const { after, limit } = pageOf(query)
        const all = yield* reports
        if (after !== null && !all.some(({ id }) => id === after)) return yield* unknownCursor
        const rest = all.filter(({ id }) => after === null || id > after)
        return listView(cutPage(rest.slice(0, limit + 1), limit), channelView)
      }),
      testChannel: Effect.fn("channels.test")(function* ({ params }) {
        return listView({ data: yield* test(params.id), hasMore: false }, checkView)
      }),
      drainChannel: Effect.fn("channels.drain")(function* ({ params }) {
        yield* catalog.enable(params.id, false, (yield* CurrentOperator).name)
        return yield* viewOf(params.id)
      }),
      enableChannel: Effect.fn("channels.enable")(function* ({ params }) {
        yield* catalog.enable(params.id, true, (yield* CurrentOperator).name)
        yield* health.enabled(params.id)
        return yield* viewOf(params.id)
      })
    })
  })
)
