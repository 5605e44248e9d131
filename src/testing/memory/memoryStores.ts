/** All stores of the gateway over one state in memory. */
import { Layer, Redacted } from "effect"
import { layerCrypto } from "../../crypto.ts"
import { layerOrderQuotes } from "../../features/mcp/layer.ts"
import { layerContentLinks } from "../../services/results/ContentLinks.ts"
import { layerReasoningMakers } from "../../services/results/ReasoningMakers.ts"
import { layerVault, MASTER_KEY_BYTES } from "../../services/Vault.ts"
import {
  layerWebhookEndpointsMemory,
  layerWebhookMessagesMemory
} from "../delivery/WebhooksMemory.ts"
import { layerBudgetsMemory } from "../money/BudgetsMemory.ts"
import { layerChargedUnitsMemory } from "../money/ChargedUnitsMemory.ts"
import { layerReconciliationsMemory } from "../money/ReconciliationsMemory.ts"
import { layerStatementsMemory } from "../money/StatementsMemory.ts"
import { layerTransfersMemory } from "../money/TransfersMemory.ts"
import { layerUsageSumsMemory } from "../money/UsageSumsMemory.ts"
import { layerAccountsMemory } from "../operators/AccountsMemory.ts"
import { layerAdminAuditMemory, layerOperatorsMemory } from "../operators/OperatorsMemory.ts"
import { layerOrderListsMemory } from "../operators/OrderListsMemory.ts"
import { layerPriceListsMemory } from "../operators/PriceListsMemory.ts"
import { layerArchivesMemory } from "../results/ArchivesMemory.ts"
import { layerFilesMemory } from "../results/FilesMemory.ts"
import { layerStoredResponsesMemory } from "../results/StoredResponsesMemory.ts"
import { layerAccessMemory } from "./AccessMemory.ts"
import { layerCallLogMemory } from "./CallLogMemory.ts"
import {
  layerCatalogMemory,
  layerChangesMemory,
  layerChannelCredentialsMemory
} from "./CatalogMemory.ts"
import { layerChannelQueueMemory } from "./ChannelQueueMemory.ts"
import { layerChannelRecordsMemory } from "./ChannelRecordsMemory.ts"
import { layerIdempotencyKeysMemory } from "./IdempotencyKeysMemory.ts"
import { layerLedgerMemory } from "./LedgerMemory.ts"
import { layerMemoryStore } from "./MemoryStore.ts"
import { layerOperationsStoreMemory } from "./OperationsStoreMemory.ts"
import { layerOrphansMemory } from "./OrphansMemory.ts"
import { layerTaskHistoryMemory } from "./TaskHistoryMemory.ts"
import { layerTaskRepoMemory } from "./TaskRepoMemory.ts"
import { layerUsageLogMemory } from "./UsageLogMemory.ts"

/**
 * The default master key. Any key is good enough, because the encrypted data only exists in the
 * memory of this process.
 */
const testingKey = Redacted.make(new Uint8Array(MASTER_KEY_BYTES).fill(7))

const layerOver = (masterKey: Redacted.Redacted<Uint8Array>) =>
  Layer.mergeAll(
    layerLedgerMemory,
    layerTaskRepoMemory,
    layerChannelQueueMemory,
    layerUsageLogMemory,
    layerIdempotencyKeysMemory,
    layerCatalogMemory,
    layerAccessMemory,
    layerOperationsStoreMemory,
    layerTaskHistoryMemory,
    layerOrphansMemory,
    layerAdminAuditMemory,
    layerOperatorsMemory,
    layerAccountsMemory,
    layerOrderListsMemory,
    layerTransfersMemory,
    layerBudgetsMemory,
    layerUsageSumsMemory,
    layerStatementsMemory,
    layerReconciliationsMemory,
    Layer.provide(layerPriceListsMemory, layerCatalogMemory),
    layerChargedUnitsMemory,
    layerChannelRecordsMemory,
    layerWebhookEndpointsMemory,
    layerWebhookMessagesMemory,
    layerArchivesMemory,
    layerFilesMemory,
    layerStoredResponsesMemory
  ).pipe(
    Layer.provideMerge(layerCallLogMemory),
    Layer.provideMerge(layerChannelCredentialsMemory),
    Layer.provideMerge([
      layerVault(masterKey),
      layerContentLinks(masterKey),
      layerReasoningMakers(masterKey),
      layerOrderQuotes(masterKey),
      layerChangesMemory
    ]),
    Layer.provideMerge(layerCrypto),
    Layer.provideMerge(layerMemoryStore)
  )

/**
 * All stores, without data: the same services as `layerStores` provides over a database, plus
 * `Changes` and `MemoryStore`. Each layer from this function has its own state. Time is Effect's
 * `Clock`, so a `TestClock` controls deadlines, months and polls.
 */
export const layerStoresMemory = (masterKey: Redacted.Redacted<Uint8Array> = testingKey) =>
  // `Layer.fresh` is needed because the layers of single stores are constants: without it, two
  // layers of this function could share one state.
  Layer.suspend(() => Layer.fresh(layerOver(masterKey)))

export type StoresMemory = Layer.Success<ReturnType<typeof layerStoresMemory>>
