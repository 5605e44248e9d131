import { layer } from "@effect/vitest"
import { layerStoresOf, storeKinds } from "../support/ledger.ts"
import { accessSuite } from "./Access.suite.ts"
import { accountsSuite } from "./Accounts.suite.ts"
import { archivesSuite } from "./Archives.suite.ts"
import { budgetsSuite } from "./Budgets.suite.ts"
import { catalogSuite } from "./Catalog.suite.ts"
import { channelCredentialsSuite } from "./ChannelCredentials.suite.ts"
import { channelQueueSuite } from "./ChannelQueue.suite.ts"
import { channelRecordsSuite } from "./ChannelRecords.suite.ts"
import { chargedUnitsSuite } from "./ChargedUnits.suite.ts"
import { filesSuite } from "./Files.suite.ts"
import { repeatsSuite } from "./IdempotencyKeys.suite.ts"
import { journalSuite } from "./Journal.suite.ts"
import { operatorSuite } from "./Operator.suite.ts"
import { operatorsSuite } from "./Operators.suite.ts"
import { orderListsSuite } from "./OrderLists.suite.ts"
import { reconciliationsSuite } from "./Reconciliations.suite.ts"
import { statementsSuite } from "./Statements.suite.ts"
import { storedResponsesSuite } from "./StoredResponses.suite.ts"
import { taskListsSuite } from "./TaskLists.suite.ts"
import { transfersSuite } from "./Transfers.suite.ts"
import { usageSumsSuite } from "./UsageSums.suite.ts"
import { webhooksSuite } from "./Webhooks.suite.ts"

for (const kind of storeKinds) {
  layer(layerStoresOf(kind), { excludeTestServices: true, timeout: "60 seconds" })(
    `the stores (${kind})`,
    (it) => {
      catalogSuite(it)
      channelCredentialsSuite(it)
      channelRecordsSuite(it)
      channelQueueSuite(it)
      accessSuite(it)
      accountsSuite(it)
      journalSuite(it)
      transfersSuite(it)
      budgetsSuite(it)
      usageSumsSuite(it)
      statementsSuite(it)
      reconciliationsSuite(it)
      chargedUnitsSuite(it)
      repeatsSuite(it)
      operatorSuite(it)
      operatorsSuite(it)
      taskListsSuite(it)
      orderListsSuite(it)
      webhooksSuite(it)
      archivesSuite(it)
      filesSuite(it)
      storedResponsesSuite(it)
    }
  )
}
