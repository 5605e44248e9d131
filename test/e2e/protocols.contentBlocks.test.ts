import { contentBlocks } from "../support/protocolTable/contentBlocks.ts"
import { orderTable } from "../support/protocolTable/orderTable.ts"

orderTable("content blocks", "embedded", contentBlocks)
