/** The documents that come with the gateway. */
import { falDocument } from "./documents/fal.ts"
import { replicateDocument } from "./documents/replicate.ts"
import type { QueueDocument } from "./QueueDocument.ts"

export const builtInDocuments: ReadonlyArray<QueueDocument> = [falDocument, replicateDocument]
