/** The core stores, which every order needs. */
import { Layer } from "effect"
import { layerLedger } from "./ledger/LedgerPostgres.ts"
import { layerUsageLog } from "./ledger/UsageLogPostgres.ts"
import { layerAccess } from "./stores/AccessPostgres.ts"
import { layerCatalog } from "./stores/CatalogPostgres.ts"
import { layerChannelRecords } from "./stores/ChannelRecordsPostgres.ts"
import { layerIdempotencyKeys } from "./stores/IdempotencyKeysPostgres.ts"
import { layerOperationsStore } from "./stores/OperationsStorePostgres.ts"
import { layerChannelQueue } from "./tasks/ChannelQueuePostgres.ts"
import { layerTaskRepo } from "./tasks/TaskRepoPostgres.ts"

/** The stores; the database must have the schema already. */
export const layerCoreStores = Layer.mergeAll(
  layerLedger,
  layerTaskRepo,
  layerChannelQueue,
  layerUsageLog,
  layerIdempotencyKeys,
  layerCatalog,
  layerAccess,
  layerOperationsStore,
  layerChannelRecords
)
