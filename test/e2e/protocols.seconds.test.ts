import { orderTable } from "../support/protocolTable/orderTable.ts"
import { thirdGeneration, unifiedTasks } from "../support/protocolTable/seconds.ts"

orderTable("tasks billed by seconds", "embedded", [...unifiedTasks, ...thirdGeneration])
