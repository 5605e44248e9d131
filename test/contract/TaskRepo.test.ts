import { Layer } from "effect"
import { layerStoresOf, storeKinds } from "../support/ledger.ts"
import { layerEager } from "../support/tasks.ts"
import { taskRepoSuite } from "./TaskRepo.suite.ts"

for (const kind of storeKinds) {
  taskRepoSuite(`claims of tasks (${kind})`, Layer.provide(layerStoresOf(kind), layerEager))
}
