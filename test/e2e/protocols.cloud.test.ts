import { cloud } from "../support/protocolTable/cloud.ts"
import { orderTable } from "../support/protocolTable/orderTable.ts"

orderTable("cloud tasks", "embedded", cloud)
