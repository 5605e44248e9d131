/** The core stores, which the way of an order needs. */
import { Layer } from "effect"
import { layerLedger } from "./ledger/LedgerPostgres.ts"
import { layerUsageLog } from "./ledger/UsageLogPostgres.ts"
import { layerAccess } from "./stores/AccessPostgres.ts"
import { layerCatalog } from "./stores/CatalogPostgres.ts"
import { layerChannelRecords } from "./stores/ChannelRecordsPostgres.ts"
import { layerIdempotencyKeys } from "./stores/IdempotencyKeysPostgres.ts"
import { layerOperationsStore } from "./stores/OperationsStorePostgres.ts"
import { layerTaskRepo } from "./tasks/TaskRepoPostgres.ts"

/** Over a database that has the schema. */
export const layerCoreStores = Layer.mergeAll(
  layerLedger,
  layerTaskRepo,
  layerUsageLog,
  layerIdempotencyKeys,
  layerCatalog,
  layerAccess,
  layerOperationsStore,
  layerChannelRecords
)
