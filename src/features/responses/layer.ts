/** The feature of responses, which clients order in the form of OpenAI's Responses API. */
import { layerResponseRemover } from "./ResponseRemover.ts"
import { layerResponsesHandlers } from "./responsesHandlers.ts"
import { layerStoredResponses } from "./StoredResponsesPostgres.ts"

export { resealResponses } from "./responseRotation.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerStoredResponses

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerResponsesHandlers

/** The background jobs of the feature, which need its stores. */
export const layerJobs = layerResponseRemover
