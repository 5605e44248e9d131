/** The receivers of webhooks, of organisations and of the operators, with their secrets sealed at rest. */
import { Context, type Effect, type Redacted, Schema } from "effect"
import { InvalidRequest, NotFound } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

/** Stands for the operators where an organisation's id would. */
export const OPERATORS = "operators"

/** The receiver of an organisation that has no address of its own: each order may name one. */
export const callbacksOf = (organizationId: string): string => `callback_${organizationId}`

export const WebhookEndpoint = Schema.Struct({
  organizationId: Schema.String,
  id: Schema.String,
  name: Schema.String,
  /** Empty for callbacks. */
  url: Schema.String,
  eventTypes: Schema.Array(Schema.String),
  /** How its secret ends. */
  secretHint: Schema.String,
  createdAt: Schema.Date,
  updatedAt: Schema.Date,
  /** Since the first failure after the last success; null while it works. */
  failingSince: Schema.NullOr(Schema.Date),
  /** Null while it is told. */
  disabledAt: Schema.NullOr(Schema.Date),
  disabledReason: Schema.NullOr(Schema.String)
})
export type WebhookEndpoint = typeof WebhookEndpoint.Type

export interface NewEndpoint {
  readonly name: string
  readonly url: string
  readonly eventTypes: ReadonlyArray<string>
}

/** What is absent stays as it is. */
export interface EndpointChange extends Partial<NewEndpoint> {
  readonly enabled?: boolean
}

/** The secret is readable here and never again. */
export interface WithSecret {
  readonly endpoint: WebhookEndpoint
  readonly secret: Redacted.Redacted
}

export const noSuchEndpoint = (id: string) =>
  new NotFound({ message: `No webhook endpoint is called ${JSON.stringify(id)}` })

/** Of one organisation, or of the operators. */
export const MAX_ENDPOINTS = 50

export const tooManyEndpoints = new InvalidRequest({
  message: `There may be ${MAX_ENDPOINTS} webhook endpoints at most: delete one that is not needed`,
  param: null
})

/** How long a secret that was replaced may go on signing. */
export const OLD_SECRET_HOURS = 24

export class WebhookEndpoints extends Context.Service<
  WebhookEndpoints,
  {
    create(owner: string, endpoint: NewEndpoint): Effect.Effect<WithSecret, InvalidRequest>
    /** Newest first, without the one of callbacks. */
    list(owner: string, page: PageRequest): Effect.Effect<Page<WebhookEndpoint>, InvalidRequest>
    /** A null owner is any. */
    find(owner: string | null, id: string): Effect.Effect<WebhookEndpoint, NotFound>
    /** Callbacks cannot be changed or removed. */
    change(
      owner: string,
      id: string,
      change: EndpointChange
    ): Effect.Effect<WebhookEndpoint, NotFound>
    /** Removes its messages as well. */
    remove(owner: string, id: string): Effect.Effect<void, NotFound>
    /** A new secret; where the old one is kept, both sign for `OLD_SECRET_HOURS`. */
    rotate(owner: string, id: string, keepOld: boolean): Effect.Effect<WithSecret, NotFound>
    /** The receiver of an organisation's callbacks, which it has from the first time on. */
    callbacks(organizationId: string): Effect.Effect<WebhookEndpoint>
    /** What its messages are signed with, the present one first; none where they cannot be opened. */
    secrets(id: string): Effect.Effect<ReadonlyArray<Redacted.Redacted>>
  }
>()("gateway/features/webhooks/WebhookEndpoints") {}
