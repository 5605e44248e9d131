/** What the contract of the errors asks of a gateway, however it is reached and whatever it stands on. */
import { Context, type Deferred, type Effect, type Scope } from "effect"
import { defaultSettings, type Settings } from "../../../src/runtime/Settings.ts"
import type { CallOptions, HttpAnswer } from "../../support/http.ts"
import type { Customer, CustomerOptions } from "../../support/operator.ts"

/** What the vendor of the `told` models does with the orders that come next. */
export type VendorDoes =
  | { readonly does: "deliver" }
  | {
      readonly does: "refuse"
      readonly status: number
      readonly body: unknown
      /** Where in the body it stands is the protocol's matter. */
      readonly message: string
      /** The field that the body names as the cause. */
      readonly param?: string
      readonly retryAfterSeconds?: number
      /** False where the body is none by which the vendor is known to refuse at that status. */
      readonly isKnown?: boolean
    }
  /** HTTP 200 with a body that is no answer. */
  | { readonly does: "mumble"; readonly body: unknown }
  /** Takes the request and closes the connection. */
  | { readonly does: "hang up" }
  /** Takes the request and never answers. */
  | { readonly does: "keep silent" }
  /** Says that it was asked, waits, and delivers. */
  | {
      readonly does: "hold"
      readonly asked: () => void
      readonly letGo: Deferred.Deferred<void>
    }

export class Surface extends Context.Service<
  Surface,
  {
    call(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
    admin(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
    customer(amount: string, options?: CustomerOptions): Effect.Effect<Customer>
    /** Dies unless every invariant of the books holds. */
    readonly verify: Effect.Effect<void>
    readonly adminToken: string
    /** Has enough for every order, and never any of them open. */
    readonly rich: Customer
    vendor(does: VendorDoes): Effect.Effect<void>
    /** Orders that have reached a vendor, whatever became of them. */
    readonly vendorCalls: Effect.Effect<number>
    /** New orders of the organisation are stopped until the scope closes. */
    stopSpending(organizationId: string): Effect.Effect<void, never, Scope.Scope>
    /** Runs the effect while what is stored cannot be reached. */
    withoutStore<A>(effect: Effect.Effect<A>): Effect.Effect<A>
    /** Milliseconds since 1970 by the gateway's clock. */
    readonly now: Effect.Effect<number>
  }
>()("test/Surface") {}

export const TEXT_TIMEOUT_SECONDS = 1.25

/** Small enough to be reached by a handful of requests. */
export const smallSettings: Settings = {
  ...defaultSettings,
  askIntervalSeconds: 30,
  maxAskIntervalSeconds: 30,
  holdPatienceSeconds: 1,
  auditSeconds: 3600,
  organizationInFlight: 2,
  organizationWaits: 1,
  channelInFlight: 1,
  maxMediaBodyBytes: 32_000,
  maxBodyBytes: 16_000,
  bodyBudgetBytes: 24_000,
  // The vendor fails on purpose, and the next order is sent to it all the same.
  breakerCalls: 1_000_000
}
