/**
 * Test doubles for programs that use the gateway: stores in memory, scripted vendors, the
 * simulator, and a whole gateway on top of them. Each double passes the test suite of its live
 * layer.
 */

// A gateway

export { whileTimePasses } from "./clock.ts"
export {
  type Answer,
  type CallOptions,
  type CatalogJson,
  type Customer,
  type CustomerOptions,
  type GatewayOptions,
  layerGatewaySimulated,
  layerGatewayTesting,
  type SimulatedGatewayOptions,
  TestingGateway,
  type TestingServices
} from "./testGateway.ts"

// Vendors

export { layerAdaptersScripted, type ScriptedOptions, ScriptedVendors } from "./ScriptedVendors.ts"
export { layerSimulatorTesting, simulatedCatalog } from "./testSimulator.ts"
export {
  type AcceptedVideo,
  type ImageScript,
  type ReceivedImages,
  type ReceivedText,
  type ReceivedVideo,
  type ScriptOf as Scripted,
  type TextScript,
  type VideoScript,
  vendor
} from "./vendorScripts.ts"

// Stores: all of them together, or single ones that share a `layerMemoryStore`

export { layerAccessMemory } from "./memory/AccessMemory.ts"
export { layerCallLogMemory } from "./memory/CallLogMemory.ts"
export {
  layerCatalogMemory,
  layerChangesMemory,
  layerChannelCredentialsMemory
} from "./memory/CatalogMemory.ts"
export { layerChannelRecordsMemory } from "./memory/ChannelRecordsMemory.ts"
export { layerIdempotencyKeysMemory } from "./memory/IdempotencyKeysMemory.ts"
export { layerLedgerMemory } from "./memory/LedgerMemory.ts"
export { layerMemoryStore, type MemoryState, MemoryStore } from "./memory/MemoryStore.ts"
export { layerStoresMemory, type StoresMemory } from "./memory/memoryStores.ts"
export { layerOperationsStoreMemory } from "./memory/OperationsStoreMemory.ts"
export { layerOrphansMemory } from "./memory/OrphansMemory.ts"
export { layerTaskHistoryMemory } from "./memory/TaskHistoryMemory.ts"
export { layerTaskRepoMemory } from "./memory/TaskRepoMemory.ts"
export { layerUsageLogMemory } from "./memory/UsageLogMemory.ts"
export { layerBudgetsMemory } from "./money/BudgetsMemory.ts"
export { layerChargedUnitsMemory } from "./money/ChargedUnitsMemory.ts"
export { layerReconciliationsMemory } from "./money/ReconciliationsMemory.ts"
export { layerStatementsMemory } from "./money/StatementsMemory.ts"
export { layerTransfersMemory } from "./money/TransfersMemory.ts"
export { layerUsageSumsMemory } from "./money/UsageSumsMemory.ts"
export { layerAccountsMemory } from "./operators/AccountsMemory.ts"
export { layerAdminAuditMemory, layerOperatorsMemory } from "./operators/OperatorsMemory.ts"
export { layerOrderListsMemory } from "./operators/OrderListsMemory.ts"
export { layerPriceListsMemory } from "./operators/PriceListsMemory.ts"
export { layerFilesMemory } from "./results/FilesMemory.ts"
export { layerStoredResponsesMemory } from "./results/StoredResponsesMemory.ts"

// Services that the doubles replace, services built on them, and errors for doubles of your own

export { InsufficientBalance, Overloaded } from "../domain/Errors.ts"
export { VendorLost, VendorRefused, VendorUnreachable } from "../domain/VendorOutcome.ts"
export { Orders } from "../orders/Orders.ts"
export { TaskSettlement } from "../polling/TaskSettlement.ts"
export { Access } from "../services/Access.ts"
export { Catalog } from "../services/Catalog.ts"
export { ChannelCredentials } from "../services/channels/ChannelCredentials.ts"
export { type Capture, type HoldRequest, Ledger, type Release } from "../services/Ledger.ts"
export {
  type Adapters,
  type ImageAdapter,
  ProtocolAdapter,
  type TextAdapter,
  type VideoAdapter
} from "../services/ProtocolAdapter.ts"
export { TaskRepo } from "../services/TaskRepo.ts"
export { UsageLog } from "../services/UsageLog.ts"
export { Simulator } from "../simulator/Simulator.ts"
