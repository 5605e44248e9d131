/** Endpoints that are told of events, and the deliveries to them. */
import { Layer } from "effect"
import { layerOperatorWebhookHandlers } from "./operatorWebhookHandlers.ts"
import { layerWebhookDispatcher } from "./WebhookDispatcher.ts"
import { layerWebhookEndpoints } from "./WebhookEndpointsPostgres.ts"
import { layerWebhookMessages } from "./WebhookMessagesPostgres.ts"
import { layerWebhookHandlers } from "./webhookHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerWebhookEndpoints, layerWebhookMessages)

/** Its routes, over its ports. */
export const layerHandlers = Layer.mergeAll(layerWebhookHandlers, layerOperatorWebhookHandlers)

/** What runs in the background, over its ports. */
export const layerJobs = layerWebhookDispatcher
