import { layerStoresOf, storeKinds } from "../support/ledger.ts"
import { ledgerSuite } from "./Ledger.suite.ts"

for (const kind of storeKinds) ledgerSuite(`the ledger (${kind})`, layerStoresOf(kind))
