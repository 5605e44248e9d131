import { cloud } from "../support/protocolTable/cloud.ts"
import { contentBlocks } from "../support/protocolTable/contentBlocks.ts"
import { orderTable } from "../support/protocolTable/orderTable.ts"
import { thirdGeneration, unifiedTasks } from "../support/protocolTable/seconds.ts"

const subjects = [...contentBlocks, ...unifiedTasks, ...thirdGeneration, ...cloud]
const slice = new Set(["a text", "a video"])

orderTable(
  "every protocol",
  "postgres",
  subjects.map((subject) => ({
    ...subject,
    forms: subject.forms.filter(({ says }) => slice.has(says))
  }))
)
