/** Composes the gateway: all live layers, over the database and the adapters that are provided. */

import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { layerChannelHealth } from "./channels/ChannelHealth.ts"
import { ReferenceApi } from "./contract/ReferenceApi.ts"
import { layerCrypto } from "./crypto.ts"
import * as accounts from "./features/accounts/layer.ts"
import * as archive from "./features/archive/layer.ts"
import * as budgets from "./features/budgets/layer.ts"
import * as catalog from "./features/catalog/layer.ts"
import * as files from "./features/files/layer.ts"
import * as history from "./features/history/layer.ts"
import * as mcp from "./features/mcp/layer.ts"
import * as messages from "./features/messages/layer.ts"
import * as priceLists from "./features/priceLists/layer.ts"
import * as reconciliations from "./features/reconciliations/layer.ts"
import * as responses from "./features/responses/layer.ts"
import * as signIn from "./features/signIn/layer.ts"
import * as statements from "./features/statements/layer.ts"
import * as transfers from "./features/transfers/layer.ts"
import * as usage from "./features/usage/layer.ts"
import * as webhooks from "./features/webhooks/layer.ts"
import { layerMiddlewares, layerOrderHandlers, layerSurroundings } from "./http/layer.ts"
import { layerAdminAuthorization } from "./http/server/access/adminAuthorization.ts"
import { layerKeyRates } from "./http/server/access/keyRates.ts"
import { layerReadLanes } from "./http/server/access/readLanes.ts"
import { layerDocsPage } from "./http/server/docsPage.ts"
import {
  type Address,
  layerHttpServer,
  layerListener,
  layerOrderlyEnd
} from "./http/server/listener.ts"
import { layerMetricsListener } from "./http/server/metricsListener.ts"
import { layerRequestSpans } from "./http/server/requestMetrics.ts"
import { Routes } from "./http/server/routes.ts"
import { layerAuditor } from "./operations/Auditor.ts"
import { layerMonitor } from "./operations/Monitor.ts"
import { layerOrders } from "./orders/Orders.ts"
import { layerQuotes } from "./orders/QuoteAnswers.ts"
import { layerStoredContentMemory } from "./orders/StoredContentMemory.ts"
import { layerConversations } from "./orders/text/responses/conversations.ts"
import { layerQueueJobs } from "./orders/video/queueJobs.ts"
import { layerUsualTimes } from "./polling/CompletionTimes.ts"
import { layerPoller, layerRecovery } from "./polling/Poller.ts"
import { layerTaskSettlement } from "./polling/TaskSettlement.ts"
import { layerCoreStores } from "./postgres/layer.ts"
import { layerSchema } from "./postgres/schema/applySchema.ts"
import { layerChannelCredentials } from "./postgres/stores/ChannelCredentialsPostgres.ts"
import { layerCallLog } from "./postgres/tasks/CallLogPostgres.ts"
import { layerDiscreetTracing } from "./redaction/wordsFromTraces.ts"
import { layerAnswers } from "./runtime/AnswerBudget.ts"
import { layerShutdown } from "./runtime/Shutdown.ts"
import type { Secrets } from "./secrets.ts"
import { layerPollerPulse } from "./services/Operations.ts"
import { layerContentLinks } from "./services/results/ContentLinks.ts"
import { layerReasoningMakers } from "./services/results/ReasoningMakers.ts"
import { layerVault } from "./services/Vault.ts"
import { version } from "./version.ts"

/** All stores. They require a database with the gateway's schema. */
export const layerStores = (secrets: Secrets) =>
  Layer.mergeAll(
    signIn.layerStores.pipe(Layer.provide(layerCoreStores)),
    layerCoreStores,
    accounts.layerStores,
    archive.layerStores,
    budgets.layerStores,
    catalog.layerStores,
    files.layerStores,
    history.layerStores,
    priceLists.layerStores,
    reconciliations.layerStores,
    responses.layerStores,
    statements.layerStores,
    transfers.layerStores,
    usage.layerStores,
    webhooks.layerStores
  ).pipe(
    Layer.provideMerge(layerCallLog),
    Layer.provideMerge(layerChannelCredentials),
    Layer.provideMerge(layerVault(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerContentLinks(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerReasoningMakers(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(mcp.layerOrderQuotes(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerCrypto),
    Layer.provideMerge(layerSchema)
  )

/** The use cases. They require stores and adapters. */
export const layerUseCases = Layer.mergeAll(layerOrders, layerTaskSettlement, layerQuotes).pipe(
  Layer.provide(layerConversations.pipe(Layer.provideMerge(layerStoredContentMemory))),
  Layer.provideMerge([layerUsualTimes, layerChannelHealth]),
  Layer.provideMerge(layerShutdown)
)

const layerApi = HttpApiBuilder.layer(ReferenceApi, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([
    layerOrderHandlers,
    accounts.layerHandlers,
    budgets.layerHandlers,
    catalog.layerHandlers,
    files.layerHandlers,
    history.layerHandlers,
    mcp.layerHandlers(version),
    priceLists.layerHandlers,
    reconciliations.layerHandlers,
    messages.layerHandlers,
    responses.layerHandlers,
    signIn.layerHandlers,
    statements.layerHandlers,
    transfers.layerHandlers,
    usage.layerHandlers,
    webhooks.layerHandlers
  ])
)

const layerRouteTable = Routes.layer(ReferenceApi.groups)

/**
 * Every route of the gateway, without a server to serve them. A measurement may pass other
 * `middlewares`.
 */
export const layerRoutes = (secrets: Secrets, middlewares = layerMiddlewares) =>
  Layer.mergeAll(
    layerApi.pipe(Layer.provide(middlewares)),
    layerDocsPage(ReferenceApi),
    layerSurroundings
  ).pipe(
    Layer.provide(layerAdminAuthorization(secrets.adminToken)),
    Layer.provide([layerReadLanes, layerKeyRates, layerAnswers, layerRouteTable])
  )

/**
 * The settings of the router. Each path has only one spelling: case and slashes are significant. A
 * segment `GENERATIONS`, for example, is matched as the id of a task, not as the segment
 * `generations` of another route.
 */
export const ROUTER = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  // This is longer than any id that a client may reasonably send. An unknown id therefore reaches
  // its route, and gets the 404 with the route's own error code.
  maxParamLength: 1024
}

interface Addresses extends Address {
  /**
   * The port of the separate metrics listener. Null or absent: the metrics are only served on
   * `port`, and only to operators.
   */
  readonly metricsPort?: number | null
}

const layerMetricsOf = ({ host, metricsPort = null }: Addresses) =>
  metricsPort === null ? Layer.empty : layerMetricsListener({ host, port: metricsPort })

/** All background jobs. They require the use cases and the stores. */
export const layerJobs = Layer.mergeAll(
  layerPoller,
  layerQueueJobs,
  layerAuditor,
  archive.layerJobs,
  files.layerJobs,
  responses.layerJobs,
  signIn.layerJobs,
  statements.layerJobs,
  webhooks.layerJobs
)

/** The listening gateway with its background jobs. It requires the use cases and the stores. */
export const layerServer = (secrets: Secrets, address: Addresses, routes = layerRoutes(secrets)) =>
  // `layerOrderlyEnd` is built last, because the layer that is built last is shut down first.
  layerOrderlyEnd.pipe(
    Layer.provideMerge(
      HttpRouter.serve(routes, {
        disableLogger: true,
        disableListenLog: true,
        routerConfig: ROUTER
      }).pipe(Layer.merge([layerJobs, layerMetricsOf(address)]))
    ),
    Layer.provide(layerMonitor.pipe(Layer.provideMerge(layerPollerPulse))),
    Layer.provideMerge(layerHttpServer(address)),
    Layer.provide(layerListener),
    Layer.provideMerge(layerAnswers),
    Layer.provide(layerRecovery),
    Layer.provide([layerDiscreetTracing, layerRequestSpans.pipe(Layer.provide(layerRouteTable))])
  )
