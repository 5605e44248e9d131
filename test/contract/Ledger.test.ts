import { Layer } from "effect"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { layerStoresOf, storeKinds } from "../support/ledger.ts"
import { ledgerSuite } from "./Ledger.suite.ts"

/** An order may be overdue as soon as it is held. */
const hasty = Layer.succeed(Settings, { ...defaultSettings, imageDeadlineSeconds: 0 })

for (const kind of storeKinds) {
  ledgerSuite(`the ledger (${kind})`, layerStoresOf(kind).pipe(Layer.provide(hasty)))
}
