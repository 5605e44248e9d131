/** The feature of webhooks: endpoints that receive events, and the deliveries to them. */
import { Layer } from "effect"
import { layerOperatorWebhookHandlers } from "./operatorWebhookHandlers.ts"
import { layerWebhookDispatcher } from "./WebhookDispatcher.ts"
import { layerWebhookEndpoints } from "./WebhookEndpointsPostgres.ts"
import { layerWebhookMessages } from "./WebhookMessagesPostgres.ts"
import { layerWebhookHandlers } from "./webhookHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = Layer.mergeAll(layerWebhookEndpoints, layerWebhookMessages)

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = Layer.mergeAll(layerWebhookHandlers, layerOperatorWebhookHandlers)

/** The background jobs of the feature, which need its stores. */
export const layerJobs = layerWebhookDispatcher
