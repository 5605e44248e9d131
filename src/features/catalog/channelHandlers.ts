import { Effect, identity } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChannelHealth } from "../../channels/ChannelHealth.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { cutPage, unknownCursor } from "../../runtime/Page.ts"
import { Catalog, noSuchChannel } from "../../services/Catalog.ts"
import { type ChannelCheckView, ChannelsGroup, type ChannelView } from "./ChannelsApi.ts"
import { makeChannelReports } from "./channelReports.ts"
import { makeAccountTest, makeChannelTest } from "./channelTest.ts"

export const layerChannelHandlers = HttpApiBuilder.group(
  operatorApi(ChannelsGroup),
  "channels",
  Effect.fn(function* (handlers) {
    const catalog = yield* Catalog
    const health = yield* ChannelHealth
    const readReports = yield* makeChannelReports
    const testChannel = yield* makeChannelTest
    const testAccount = yield* makeAccountTest

    const readReport = Effect.fnUntraced(function* (channelId: string) {
      const report = (yield* readReports()).find(({ id }) => id === channelId)
      return report ?? (yield* noSuchChannel())
    })

    return handlers.handleAll({
      listChannels: Effect.fn("channels.list")(function* ({ query }) {
        const { after, limit } = pageOf(query)
        const reports = yield* readReports()
        if (after !== null && !reports.some(({ id }) => id === after)) return yield* unknownCursor
        const behindCursor = reports.filter(({ id }) => after === null || id > after)
        return listView(cutPage(behindCursor, limit), identity<ChannelView>)
      }),
      testChannel: Effect.fn("channels.test")(function* ({ params }) {
        const page = { data: yield* testChannel(params.id), hasMore: false }
        return listView(page, identity<ChannelCheckView>)
      }),
      testAccount: ({ payload }) => testAccount(payload),
      drainChannel: Effect.fn("channels.drain")(function* ({ params }) {
        yield* catalog.enable(params.id, false, (yield* CurrentOperator).name)
        return yield* readReport(params.id)
      }),
      enableChannel: Effect.fn("channels.enable")(function* ({ params }) {
        yield* catalog.enable(params.id, true, (yield* CurrentOperator).name)
        yield* health.endCooldowns(params.id)
        return yield* readReport(params.id)
      })
    })
  })
)
