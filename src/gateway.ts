/** The gateway put together: every live layer, over whatever database and adapters it is given. */

import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { layerFileRemover } from "./archive/FileRemover.ts"
import { layerResultCopier } from "./archive/ResultCopier.ts"
import { layerResultRemover } from "./archive/ResultRemover.ts"
import { layerChannelHealth } from "./channels/ChannelHealth.ts"
import { layerCrypto } from "./crypto.ts"
import { layerDiscreetTracing } from "./hiding/wordsFromTraces.ts"
import { GatewayApi } from "./http/api/GatewayApi.ts"
import { layerAccountHandlers } from "./http/handlers/accountHandlers.ts"
import { layerAccountsHandlers } from "./http/handlers/admin/accountHandlers.ts"
import { layerAdminHandlers } from "./http/handlers/admin/adminHandlers.ts"
import { layerBudgetHandlers } from "./http/handlers/admin/budgetHandlers.ts"
import { layerChannelHandlers } from "./http/handlers/admin/channelHandlers.ts"
import { layerHistoryHandlers } from "./http/handlers/admin/historyHandlers.ts"
import { layerMoneyHandlers } from "./http/handlers/admin/moneyHandlers.ts"
import { layerOperatorHandlers } from "./http/handlers/admin/operatorHandlers.ts"
import { layerOperatorWebhookHandlers } from "./http/handlers/admin/operatorWebhookHandlers.ts"
import { layerOrderListsHandlers } from "./http/handlers/admin/orderListHandlers.ts"
import { layerReconciliationHandlers } from "./http/handlers/admin/reconciliationHandlers.ts"
import { layerUsageSumsHandlers } from "./http/handlers/admin/usageSumsHandlers.ts"
import { layerModelsHandlers } from "./http/handlers/modelHandlers.ts"
import { layerOrdersHandlers } from "./http/handlers/money/orderHandlers.ts"
import {
  layerOperatorStatementsHandlers,
  layerStatementsHandlers
} from "./http/handlers/money/statementHandlers.ts"
import { layerOperationsHandlers } from "./http/handlers/operationsHandlers.ts"
import { layerFilesHandlers } from "./http/handlers/orders/fileHandlers.ts"
import { layerImagesHandlers } from "./http/handlers/orders/imageHandlers.ts"
import { layerOpenaiVideosHandlers } from "./http/handlers/orders/openaiVideoHandlers.ts"
import { layerQuotesHandlers } from "./http/handlers/orders/quoteHandlers.ts"
import { layerReservedHandlers } from "./http/handlers/orders/reservedHandlers.ts"
import { layerTextsHandlers } from "./http/handlers/orders/textHandlers.ts"
import { layerVideosHandlers } from "./http/handlers/orders/videoHandlers.ts"
import { layerWebhookHandlers } from "./http/handlers/webhookHandlers.ts"
import {
  layerAdminAuthorization,
  layerAdminRoles
} from "./http/server/access/adminAuthorization.ts"
import { layerAuthorization } from "./http/server/access/authorization.ts"
import { layerReadLanes } from "./http/server/access/readLanes.ts"
import { layerAdminAuditing } from "./http/server/adminAuditing.ts"
import { layerConsolePages } from "./http/server/consolePages.ts"
import { layerDocsPage } from "./http/server/docsPage.ts"
import { layerEdge } from "./http/server/envelope.ts"
import {
  type Address,
  layerHttpServer,
  layerListener,
  layerOrderlyEnd
} from "./http/server/listener.ts"
import { layerMetricsListener } from "./http/server/metricsListener.ts"
import { layerRequestSpans } from "./http/server/requestMetrics.ts"
import { layerRequestRules } from "./http/server/requestRules.ts"
import { layerNoIds } from "./http/server/wrongPaths.ts"
import { layerAuditor } from "./operations/Auditor.ts"
import { layerMonitor } from "./operations/Monitor.ts"
import { layerStatementSealer } from "./operations/StatementSealer.ts"
import { layerOrders } from "./orders/Orders.ts"
import { layerQuotes } from "./orders/QuoteAnswers.ts"
import { layerUsualTimes } from "./polling/CompletionTimes.ts"
import { layerPoller, layerRecovery } from "./polling/Poller.ts"
import { layerVideoSettlement } from "./polling/VideoSettlement.ts"
import { layerWebhookEndpoints } from "./postgres/delivery/WebhookEndpointsPostgres.ts"
import { layerWebhookMessages } from "./postgres/delivery/WebhookMessagesPostgres.ts"
import { layerLedger } from "./postgres/ledger/LedgerPostgres.ts"
import { layerOrderLists } from "./postgres/ledger/OrderListsPostgres.ts"
import { layerUsageLog } from "./postgres/ledger/UsageLogPostgres.ts"
import { layerBudgets } from "./postgres/money/BudgetsPostgres.ts"
import { layerChargedUnits } from "./postgres/money/ChargedUnitsPostgres.ts"
import { layerReconciliations } from "./postgres/money/ReconciliationsPostgres.ts"
import { layerStatements } from "./postgres/money/StatementsPostgres.ts"
import { layerTransfers } from "./postgres/money/TransfersPostgres.ts"
import { layerUsageSums } from "./postgres/money/UsageSumsPostgres.ts"
import { layerArchives } from "./postgres/results/ArchivesPostgres.ts"
import { layerFiles } from "./postgres/results/FilesPostgres.ts"
import { layerSchema } from "./postgres/schema/applySchema.ts"
import { layerAccess } from "./postgres/stores/AccessPostgres.ts"
import { layerAccounts } from "./postgres/stores/AccountsPostgres.ts"
import { layerAdminAudit } from "./postgres/stores/AdminAuditPostgres.ts"
import { layerCatalog } from "./postgres/stores/CatalogPostgres.ts"
import { layerChannelCredentials } from "./postgres/stores/ChannelCredentialsPostgres.ts"
import { layerChannelRecords } from "./postgres/stores/ChannelRecordsPostgres.ts"
import { layerIdempotencyKeys } from "./postgres/stores/IdempotencyKeysPostgres.ts"
import { layerOperationsStore } from "./postgres/stores/OperationsStorePostgres.ts"
import { layerOperators } from "./postgres/stores/OperatorsPostgres.ts"
import { layerCallLog } from "./postgres/tasks/CallLogPostgres.ts"
import { layerOrphans } from "./postgres/tasks/OrphansPostgres.ts"
import { layerTaskHistory } from "./postgres/tasks/TaskHistoryPostgres.ts"
import { layerTaskRepo } from "./postgres/tasks/TaskRepoPostgres.ts"
import { layerAnswers } from "./runtime/AnswerBudget.ts"
import { layerShutdown } from "./runtime/Shutdown.ts"
import type { Secrets } from "./secrets.ts"
import { layerPollerPulse } from "./services/Operations.ts"
import { layerContentLinks } from "./services/results/ContentLinks.ts"
import { layerVault } from "./services/Vault.ts"
import { layerWebhookDispatcher } from "./webhooks/WebhookDispatcher.ts"

/** The stores, over a database that has the schema. */
export const layerStores = (secrets: Secrets) =>
  Layer.mergeAll(
    layerLedger,
    layerTaskRepo,
    layerUsageLog,
    layerIdempotencyKeys,
    layerCatalog,
    layerAccess,
    layerOperationsStore,
    layerTaskHistory,
    layerOrphans,
    layerAdminAudit,
    layerOperators,
    layerAccounts,
    layerOrderLists,
    layerTransfers,
    layerBudgets,
    layerUsageSums,
    layerStatements,
    layerReconciliations,
    layerChargedUnits,
    layerChannelRecords,
    layerWebhookEndpoints,
    layerWebhookMessages,
    layerArchives,
    layerFiles
  ).pipe(
    Layer.provideMerge(layerCallLog),
    Layer.provideMerge(layerChannelCredentials),
    Layer.provideMerge(layerVault(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerContentLinks(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerCrypto),
    Layer.provideMerge(layerSchema)
  )

/** The use cases, over stores and adapters. */
export const layerUseCases = Layer.mergeAll(layerOrders, layerVideoSettlement, layerQuotes).pipe(
  Layer.provideMerge([layerUsualTimes, layerChannelHealth]),
  Layer.provideMerge(layerShutdown)
)

const layerApi = HttpApiBuilder.layer(GatewayApi, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([
    layerModelsHandlers,
    layerVideosHandlers,
    layerOpenaiVideosHandlers,
    layerImagesHandlers,
    layerFilesHandlers,
    layerTextsHandlers,
    layerReservedHandlers,
    layerAccountHandlers,
    layerOrdersHandlers,
    layerAdminHandlers,
    layerAccountsHandlers,
    layerOperationsHandlers,
    layerHistoryHandlers,
    layerQuotesHandlers,
    layerChannelHandlers,
    layerWebhookHandlers,
    layerOperatorWebhookHandlers,
    layerOperatorHandlers,
    layerMoneyHandlers,
    layerUsageSumsHandlers,
    layerBudgetHandlers,
    layerStatementsHandlers,
    layerOperatorStatementsHandlers,
    layerReconciliationHandlers,
    layerOrderListsHandlers
  ]),
  Layer.provide([layerAuthorization, layerRequestRules, layerAdminRoles, layerAdminAuditing])
)

/** Every route of the gateway, without a server to serve them. */
export const layerRoutes = (secrets: Secrets) =>
  Layer.mergeAll(layerApi, layerDocsPage, layerConsolePages, layerNoIds, layerEdge).pipe(
    Layer.provide(layerAdminAuthorization(secrets.adminToken)),
    Layer.provide([layerReadLanes, layerAnswers])
  )

/** Paths have one spelling: `GENERATIONS` is the id of a task, and no word of another route. */
export const ROUTER = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  // Long enough for any id a client may send, so that an unknown one is a 404 with its own code.
  maxParamLength: 1024
}

interface Addresses extends Address {
  /** Null or absent: the metrics are served on `port` alone, to the operator. */
  readonly metricsPort?: number | null
}

const layerMetricsOf = ({ host, metricsPort = null }: Addresses) =>
  metricsPort === null ? Layer.empty : layerMetricsListener({ host, port: metricsPort })

/** The listening gateway with everything that runs beside it, over use cases and stores. */
export const layerServer = (secrets: Secrets, address: Addresses) =>
  // The last to be built is the first to be taken down.
  layerOrderlyEnd.pipe(
    Layer.provideMerge(
      HttpRouter.serve(layerRoutes(secrets), {
        disableLogger: true,
        disableListenLog: true,
        routerConfig: ROUTER
      }).pipe(
        Layer.merge([
          layerPoller,
          layerAuditor,
          layerStatementSealer,
          layerWebhookDispatcher,
          layerResultCopier,
          layerResultRemover,
          layerFileRemover,
          layerMetricsOf(address)
        ])
      )
    ),
    Layer.provide(layerMonitor.pipe(Layer.provideMerge(layerPollerPulse))),
    Layer.provideMerge(layerHttpServer(address)),
    Layer.provide(layerListener),
    Layer.provideMerge(layerAnswers),
    Layer.provide(layerRecovery),
    Layer.provide([layerDiscreetTracing, layerRequestSpans])
  )
