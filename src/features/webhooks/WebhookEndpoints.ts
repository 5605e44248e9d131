/** Webhook endpoints of organisations and of operators. Their secrets are sealed at rest. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

/** The value that operators have in place of an organisation's id. */
export const OPERATORS = "operators"

export const WebhookEndpoint = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  name: Schema.String,
  /** Empty for the endpoint of callbacks. */
  url: Schema.String,
  eventTypes: Schema.Array(Schema.String),
  /** The last characters of the endpoint's secret. */
  secretHint: Schema.String,
  createdAt: Schema.Date,
  updatedAt: Schema.Date,
  /** The first failure after the last success; null while attempts succeed. */
  failingSince: Schema.NullOr(Schema.Date),
  /** Null while the endpoint is enabled. */
  disabledAt: Schema.NullOr(Schema.Date),
  disabledReason: Schema.NullOr(Schema.String)
})
export type WebhookEndpoint = typeof WebhookEndpoint.Type

export interface NewEndpoint {
  readonly name: string
  readonly url: string
  readonly eventTypes: ReadonlyArray<string>
}

/** A change of an endpoint: absent fields are not changed. */
export interface EndpointChange extends Partial<NewEndpoint> {
  readonly enabled?: boolean
}

/** An endpoint with its new secret, which no other call returns in readable form. */
export interface WithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: Redacted.Redacted
}

export const noSuchEndpoint = (id: string) =>
  new NotFound({ message: `No webhook endpoint is called ${JSON.stringify(id)}` })

/** The maximum number of endpoints of one organisation, or of the operators. */
export const MAX_ENDPOINTS = 50

export const tooManyEndpoints = new InvalidRequest({
  message: `There may be ${MAX_ENDPOINTS} webhook endpoints at most: delete one that is not needed`,
  param: null
})

/** How long a replaced secret still signs messages, in addition to the new one. */
export const OLD_SECRET_HOURS = 24

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    /**
     * Creates an endpoint; a repeat creates another one. Fails where the owner has `MAX_ENDPOINTS`
     * already.
     */
    create(owner: string, endpoint: NewEndpoint): Effect.Effect<WithSecret, InvalidRequest>
    /**
     * Lists endpoints newest first, without the endpoint of callbacks. Fails with `InvalidRequest`
     * where `page.after` is not one of these endpoints.
     */
    list(owner: string, page: PageRequest): Effect.Effect<Page<WebhookEndpoint>, InvalidRequest>
    /** Finds an endpoint of the owner; a null owner matches all. Fails with `NotFound`. */
    find(owner: string | null, id: string): Effect.Effect<WebhookEndpoint, NotFound>
    /**
     * Changes an endpoint. Fails with `NotFound` for another owner's endpoint and for the endpoint
     * of callbacks.
     */
    change(
      owner: string,
      id: string,
      change: EndpointChange
    ): Effect.Effect<WebhookEndpoint, NotFound>
    /** Deletes an endpoint and its messages. Fails like `change`; a repeat fails too. */
    remove(owner: string, id: string): Effect.Effect<void, NotFound>
    /**
     * Replaces the secret; each repeat creates another secret. With `keepsOld`, messages are also
     * signed with the previous secret for `OLD_SECRET_HOURS`. Fails with `NotFound`.
     */
    rotate(owner: string, id: string, keepsOld: boolean): Effect.Effect<WithSecret, NotFound>
    /** The organisation's endpoint of callbacks. The first call creates it; a repeat finds it. */
    callbacks(organizationId: string): Effect.Effect<WebhookEndpoint>
    /** The active secrets, newest first, without secrets that the vault cannot open. */
    secrets(id: string): Effect.Effect<ReadonlyArray<Redacted.Redacted>>
  }
>()("gateway/features/webhooks/WebhookEndpoints") {}
