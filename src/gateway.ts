/** The gateway put together: every live layer, over whatever database and adapters it is given. */

import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { layerChannelHealth } from "./channels/ChannelHealth.ts"
import { GatewayApi } from "./contract/GatewayApi.ts"
import { layerCrypto } from "./crypto.ts"
import { layerAccounts } from "./features/accounts/AccountsPostgres.ts"
import { layerAdminAudit } from "./features/accounts/AdminAuditPostgres.ts"
import { layerAccountsHandlers } from "./features/accounts/accountHandlers.ts"
import { layerOperators } from "./features/accounts/OperatorsPostgres.ts"
import { layerOperatorHandlers } from "./features/accounts/operatorHandlers.ts"
import { layerArchives } from "./features/archive/ArchivesPostgres.ts"
import { layerResultCopier } from "./features/archive/ResultCopier.ts"
import { layerResultRemover } from "./features/archive/ResultRemover.ts"
import { layerBudgets } from "./features/budgets/BudgetsPostgres.ts"
import { layerBudgetHandlers } from "./features/budgets/budgetHandlers.ts"
import { layerAdminHandlers } from "./features/catalog/adminHandlers.ts"
import { layerChargedUnits } from "./features/catalog/ChargedUnitsPostgres.ts"
import { layerChannelHandlers } from "./features/catalog/channelHandlers.ts"
import { layerModelsHandlers } from "./features/catalog/modelHandlers.ts"
import { layerFileRemover } from "./features/files/FileRemover.ts"
import { layerFiles } from "./features/files/FilesPostgres.ts"
import { layerFilesHandlers } from "./features/files/fileHandlers.ts"
import { layerHistoryHandlers } from "./features/history/historyHandlers.ts"
import { layerOrphans } from "./features/history/OrphansPostgres.ts"
import { layerTaskHistory } from "./features/history/TaskHistoryPostgres.ts"
import { layerReconciliations } from "./features/reconciliations/ReconciliationsPostgres.ts"
import { layerReconciliationHandlers } from "./features/reconciliations/reconciliationHandlers.ts"
import { layerStatementSealer } from "./features/statements/StatementSealer.ts"
import { layerStatements } from "./features/statements/StatementsPostgres.ts"
import {
  layerOperatorStatementsHandlers,
  layerStatementsHandlers
} from "./features/statements/statementHandlers.ts"
import { layerMoneyHandlers } from "./features/transfers/moneyHandlers.ts"
import { layerTransfers } from "./features/transfers/TransfersPostgres.ts"
import { layerAccountHandlers } from "./features/usage/accountHandlers.ts"
import { layerOrderLists } from "./features/usage/OrderListsPostgres.ts"
import { layerOrdersHandlers } from "./features/usage/orderHandlers.ts"
import { layerOrderListsHandlers } from "./features/usage/orderListHandlers.ts"
import { layerUsageSums } from "./features/usage/UsageSumsPostgres.ts"
import { layerUsageSumsHandlers } from "./features/usage/usageSumsHandlers.ts"
import { layerOperatorWebhookHandlers } from "./features/webhooks/operatorWebhookHandlers.ts"
import { layerWebhookDispatcher } from "./features/webhooks/WebhookDispatcher.ts"
import { layerWebhookEndpoints } from "./features/webhooks/WebhookEndpointsPostgres.ts"
import { layerWebhookMessages } from "./features/webhooks/WebhookMessagesPostgres.ts"
import { layerWebhookHandlers } from "./features/webhooks/webhookHandlers.ts"
import { layerOperationsHandlers } from "./http/handlers/operationsHandlers.ts"
import { layerImagesHandlers } from "./http/handlers/orders/imageHandlers.ts"
import { layerOpenaiVideosHandlers } from "./http/handlers/orders/openaiVideoHandlers.ts"
import { layerQuotesHandlers } from "./http/handlers/orders/quoteHandlers.ts"
import { layerReservedHandlers } from "./http/handlers/orders/reservedHandlers.ts"
import { layerTextsHandlers } from "./http/handlers/orders/textHandlers.ts"
import { layerVideosHandlers } from "./http/handlers/orders/videoHandlers.ts"
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
import { Routes } from "./http/server/routes.ts"
import { layerNoIds } from "./http/server/wrongPaths.ts"
import { layerAuditor } from "./operations/Auditor.ts"
import { layerMonitor } from "./operations/Monitor.ts"
import { layerOrders } from "./orders/Orders.ts"
import { layerQuotes } from "./orders/QuoteAnswers.ts"
import { layerUsualTimes } from "./polling/CompletionTimes.ts"
import { layerPoller, layerRecovery } from "./polling/Poller.ts"
import { layerVideoSettlement } from "./polling/VideoSettlement.ts"
import { layerLedger } from "./postgres/ledger/LedgerPostgres.ts"
import { layerUsageLog } from "./postgres/ledger/UsageLogPostgres.ts"
import { layerSchema } from "./postgres/schema/applySchema.ts"
import { layerAccess } from "./postgres/stores/AccessPostgres.ts"
import { layerCatalog } from "./postgres/stores/CatalogPostgres.ts"
import { layerChannelCredentials } from "./postgres/stores/ChannelCredentialsPostgres.ts"
import { layerChannelRecords } from "./postgres/stores/ChannelRecordsPostgres.ts"
import { layerIdempotencyKeys } from "./postgres/stores/IdempotencyKeysPostgres.ts"
import { layerOperationsStore } from "./postgres/stores/OperationsStorePostgres.ts"
import { layerCallLog } from "./postgres/tasks/CallLogPostgres.ts"
import { layerTaskRepo } from "./postgres/tasks/TaskRepoPostgres.ts"
import { layerDiscreetTracing } from "./redaction/wordsFromTraces.ts"
import { layerAnswers } from "./runtime/AnswerBudget.ts"
import { layerShutdown } from "./runtime/Shutdown.ts"
import type { Secrets } from "./secrets.ts"
import { layerPollerPulse } from "./services/Operations.ts"
import { layerContentLinks } from "./services/results/ContentLinks.ts"
import { layerVault } from "./services/Vault.ts"

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

const layerRouteTable = Routes.layer(GatewayApi.groups)

/** Every route of the gateway, without a server to serve them. */
export const layerRoutes = (secrets: Secrets) =>
  Layer.mergeAll(
    layerApi,
    layerDocsPage(GatewayApi),
    layerConsolePages,
    layerNoIds,
    layerEdge
  ).pipe(
    Layer.provide(layerAdminAuthorization(secrets.adminToken)),
    Layer.provide([layerReadLanes, layerAnswers, layerRouteTable])
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
    Layer.provide([layerDiscreetTracing, layerRequestSpans.pipe(Layer.provide(layerRouteTable))])
  )
