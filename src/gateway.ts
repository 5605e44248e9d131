/** The gateway put together: every live layer, over whatever database and adapters it is given. */

import { Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { layerCrypto } from "./crypto.ts"
import { layerAdminAuditing } from "./http/adminAuditing.ts"
import { layerAdmission } from "./http/admission.ts"
import { GatewayApi } from "./http/api/Api.ts"
import { layerAdminAuthorization, layerAuthorization } from "./http/authorization.ts"
import { layerBodies } from "./http/bodies.ts"
import { layerEdge } from "./http/edge.ts"
import { layerAccountHandlers } from "./http/handlers/account.ts"
import { layerAdminHandlers } from "./http/handlers/admin.ts"
import { layerHistoryHandlers } from "./http/handlers/history.ts"
import { layerImagesHandlers } from "./http/handlers/images.ts"
import { layerModelsHandlers } from "./http/handlers/models.ts"
import { layerOperationsHandlers } from "./http/handlers/operations.ts"
import { layerQuotesHandlers } from "./http/handlers/quotes.ts"
import { layerReservedHandlers } from "./http/handlers/reserved.ts"
import { layerTextsHandlers } from "./http/handlers/texts.ts"
import { layerVideosHandlers } from "./http/handlers/videos.ts"
import { layerLeanServer } from "./http/leanServer.ts"
import { layerHttpServer, layerListener, layerOrderlyEnd } from "./http/listener.ts"
import { layerMetricsListener } from "./http/metricsListener.ts"
import { layerReference } from "./http/reference.ts"
import { layerRequestRules } from "./http/requestRules.ts"
import { layerShortWay } from "./http/shortWay.ts"
import { layerAuditor } from "./operations/Auditor.ts"
import { layerMonitor } from "./operations/Monitor.ts"
import { layerAccess } from "./postgres/Access.ts"
import { layerAdminAudit } from "./postgres/AdminAudit.ts"
import { layerCallLog } from "./postgres/CallLog.ts"
import { layerCatalog } from "./postgres/Catalog.ts"
import { layerChannelCredentials } from "./postgres/ChannelCredentials.ts"
import { layerLedger } from "./postgres/Ledger.ts"
import { layerMigrations } from "./postgres/migrations/index.ts"
import { layerOperationsStore } from "./postgres/OperationsStore.ts"
import { layerOrphans } from "./postgres/Orphans.ts"
import { layerRepeats } from "./postgres/Repeats.ts"
import { layerTaskHistory } from "./postgres/TaskHistory.ts"
import { layerTaskRepo } from "./postgres/TaskRepo.ts"
import { layerUsageLog } from "./postgres/UsageLog.ts"
import type { Secrets } from "./secrets.ts"
import { layerDiscreetTracing } from "./services/discreetTracing.ts"
import { layerImages } from "./services/Images.ts"
import { layerOrdering } from "./services/Ordering.ts"
import { layerPollerPulse } from "./services/PollerPulse.ts"
import { layerQuotes } from "./services/Quotes.ts"
import { layerShutdown } from "./services/Shutdown.ts"
import { layerTexts } from "./services/Texts.ts"
import { layerUsualTimes } from "./services/UsualTimes.ts"
import { layerVault } from "./services/Vault.ts"
import { layerVideoSettlement } from "./services/VideoSettlement.ts"
import { layerVideoTasks } from "./services/VideoTasks.ts"
import { layerPoller, layerRecovery } from "./settlement/Poller.ts"

/** The stores, over a database that is migrated first. */
export const layerStores = (secrets: Secrets) =>
  Layer.mergeAll(
    layerLedger,
    layerTaskRepo,
    layerUsageLog,
    layerRepeats,
    layerCatalog,
    layerAccess,
    layerOperationsStore,
    layerTaskHistory,
    layerOrphans,
    layerAdminAudit
  ).pipe(
    Layer.provideMerge(layerCallLog),
    Layer.provideMerge(layerChannelCredentials),
    Layer.provideMerge(layerVault(secrets.masterKey, secrets.previousMasterKey)),
    Layer.provideMerge(layerCrypto),
    Layer.provideMerge(layerMigrations)
  )

/** The use cases, over stores and adapters. */
export const layerUseCases = Layer.mergeAll(
  layerVideoTasks,
  layerVideoSettlement,
  layerImages,
  layerTexts,
  layerQuotes
).pipe(Layer.provideMerge([layerOrdering, layerUsualTimes]), Layer.provideMerge(layerShutdown))

const layerApi = HttpApiBuilder.layer(GatewayApi).pipe(
  Layer.provide([
    layerModelsHandlers,
    layerVideosHandlers,
    layerImagesHandlers,
    layerTextsHandlers,
    layerReservedHandlers,
    layerAccountHandlers,
    layerAdminHandlers,
    layerOperationsHandlers,
    layerHistoryHandlers,
    layerQuotesHandlers
  ]),
  Layer.provide([layerAuthorization, layerRequestRules, layerAdminAuditing])
)

/** What every request passes, whichever way it comes. */
export const layerEntrance = Layer.merge(layerAdmission, layerBodies)

/** Every route of the gateway, without a server to serve them. */
export const layerRoutes = (secrets: Secrets) =>
  Layer.mergeAll(layerApi, layerReference, layerEdge).pipe(
    Layer.provide(layerAdminAuthorization(secrets.adminToken))
  )

/** Long enough for any id a client may send, so that an unknown one is a 404 with its own code. */
export const ROUTER = { maxParamLength: 1024 }

interface Address {
  readonly host: string
  readonly port: number
  /** Null or absent: the metrics are served on `port` alone, to the operator. */
  readonly metricsPort?: number | null
}

const layerMetricsOf = ({ host, metricsPort = null }: Address) =>
  metricsPort === null ? Layer.empty : layerMetricsListener({ host, port: metricsPort })

/** The listening gateway with everything that runs beside it, over use cases and stores. */
export const layerServer = (secrets: Secrets, address: Address) =>
  // The last to be built is the first to be taken down.
  layerOrderlyEnd.pipe(
    Layer.provideMerge(
      HttpRouter.serve(layerRoutes(secrets), {
        disableLogger: true,
        disableListenLog: true,
        routerConfig: ROUTER
      }).pipe(Layer.merge([layerShortWay, layerPoller, layerAuditor, layerMetricsOf(address)]))
    ),
    Layer.provide(layerEntrance),
    Layer.provide(layerMonitor.pipe(Layer.provideMerge(layerPollerPulse))),
    Layer.provideMerge(layerLeanServer.pipe(Layer.provideMerge(layerHttpServer(address)))),
    Layer.provide(layerListener),
    Layer.provide(layerRecovery),
    Layer.provide(layerDiscreetTracing)
  )
