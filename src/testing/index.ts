/**
 * Doubles for programs that use the gateway: stores in memory, vendors that follow a script, the
 * simulator, and a whole gateway on them. Each double passes the suite its live layer passes.
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
} from "./gateway.ts"

// Vendors

export { layerAdaptersScripted, type ScriptedOptions, ScriptedVendors } from "./ScriptedVendors.ts"
export { layerSimulatorTesting, simulatedCatalog } from "./simulator.ts"
export {
  type AcceptedVideo,
  type ImageScript,
  type ReceivedImages,
  type ReceivedText,
  type ReceivedVideo,
  type Scripted,
  type TextScript,
  type VideoScript,
  vendor
} from "./vendorScripts.ts"

// Stores: all of them together, or one by one over a `layerMemoryStore` that they share

export { layerAccessMemory } from "./memory/Access.ts"
export { layerAdminAuditMemory } from "./memory/AdminAudit.ts"
export { layerCallLogMemory } from "./memory/CallLog.ts"
export { layerCatalogMemory } from "./memory/Catalog.ts"
export { layerChangesMemory } from "./memory/Changes.ts"
export { layerChannelCredentialsMemory } from "./memory/ChannelCredentials.ts"
export { layerLedgerMemory } from "./memory/Ledger.ts"
export { layerMemoryStore, type MemoryState, MemoryStore } from "./memory/MemoryStore.ts"
export { layerOperationsStoreMemory } from "./memory/OperationsStore.ts"
export { layerOrphansMemory } from "./memory/Orphans.ts"
export { layerRepeatsMemory } from "./memory/Repeats.ts"
export { layerStoresMemory, type StoresMemory } from "./memory/stores.ts"
export { layerTaskHistoryMemory } from "./memory/TaskHistory.ts"
export { layerTaskRepoMemory } from "./memory/TaskRepo.ts"
export { layerUsageLogMemory } from "./memory/UsageLog.ts"

// What the doubles stand in for, what stands on them, and what a double of one's own answers with

export { InsufficientBalance, Overloaded } from "../domain/Errors.ts"
export { VendorLost, VendorRefused, VendorUnreachable } from "../domain/VendorOutcome.ts"
export { Access } from "../services/Access.ts"
export { Catalog } from "../services/Catalog.ts"
export { ChannelCredentials } from "../services/ChannelCredentials.ts"
export { Images } from "../services/Images.ts"
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
export { VideoSettlement } from "../services/VideoSettlement.ts"
export { VideoTasks } from "../services/VideoTasks.ts"
export { Simulator } from "../simulator/Simulator.ts"
