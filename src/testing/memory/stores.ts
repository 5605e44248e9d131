/** Every store of the gateway over one state in memory. */
import { Layer, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { layerCrypto } from "../../crypto.ts"
import { layerVault, MASTER_KEY_BYTES } from "../../services/Vault.ts"
import { layerAccessMemory } from "./Access.ts"
import { layerAdminAuditMemory } from "./AdminAudit.ts"
import { layerCallLogMemory } from "./CallLog.ts"
import { layerCatalogMemory } from "./Catalog.ts"
import { layerChangesMemory } from "./Changes.ts"
import { layerChannelCredentialsMemory } from "./ChannelCredentials.ts"
import { layerLedgerMemory } from "./Ledger.ts"
import { layerMemoryStore } from "./MemoryStore.ts"
import { layerOperationsStoreMemory } from "./OperationsStore.ts"
import { layerOrphansMemory } from "./Orphans.ts"
import { layerRepeatsMemory } from "./Repeats.ts"
import { layerTaskHistoryMemory } from "./TaskHistory.ts"
import { layerTaskRepoMemory } from "./TaskRepo.ts"
import { layerUsageLogMemory } from "./UsageLog.ts"

/** Any key will do: what it protects ends with the process. */
const testingKey = Redacted.make(new Uint8Array(MASTER_KEY_BYTES).fill(7))

const layerOver = (masterKey: Redacted.Redacted<Uint8Array>) =>
  Layer.mergeAll(
    layerLedgerMemory,
    layerTaskRepoMemory,
    layerUsageLogMemory,
    layerRepeatsMemory,
    layerCatalogMemory,
    layerAccessMemory,
    layerOperationsStoreMemory,
    layerTaskHistoryMemory,
    layerOrphansMemory,
    layerAdminAuditMemory
  ).pipe(
    Layer.provideMerge(Layer.provide(layerCallLogMemory, Digest.layerWebCrypto)),
    Layer.provideMerge(layerChannelCredentialsMemory),
    Layer.provideMerge([layerVault(masterKey), layerChangesMemory]),
    Layer.provideMerge(layerCrypto),
    Layer.provideMerge(layerMemoryStore)
  )

/**
 * All stores, empty: what `layerStores` gives over a database, and `Changes` and `MemoryStore` beside
 * it. Each layer this makes has a state of its own. Time is Effect's `Clock`, so a `TestClock` moves
 * deadlines, months and polls.
 */
export const layerStoresMemory = (masterKey: Redacted.Redacted<Uint8Array> = testingKey) =>
  // Its parts are shared constants, which would otherwise be built once for several of these.
  Layer.suspend(() => Layer.fresh(layerOver(masterKey)))

export type StoresMemory = Layer.Success<ReturnType<typeof layerStoresMemory>>
