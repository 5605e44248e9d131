/** How a call to a vendor fails, as plain values that tests compare. */
import type { VendorFailure } from "../../src/domain/VendorOutcome.ts"

/** A failure without its wording where the wording is ours. */
export type Failure =
  | {
      readonly _tag: "VendorRefused"
      readonly effectiveStatus: number
      readonly status: number
      readonly body: unknown
      readonly message: string
      readonly retryAfterSeconds: number | null
    }
  | { readonly _tag: "VendorUnreachable" }
  | {
      readonly _tag: "VendorLost"
      readonly reason: "timeout" | "connection_lost" | "broken_answer"
      readonly status: number | null
      readonly retryAfterSeconds: number | null
    }

export const failureOf = (failure: VendorFailure): Failure => {
  switch (failure._tag) {
    case "VendorRefused": {
      const { _tag, effectiveStatus, status, body, message, retryAfterSeconds } = failure
      return { _tag, effectiveStatus, status, body, message, retryAfterSeconds }
    }
    case "VendorUnreachable":
      return { _tag: failure._tag }
    case "VendorLost": {
      const { _tag, reason, status, retryAfterSeconds } = failure
      return { _tag, reason, status, retryAfterSeconds }
    }
  }
}

/** Of an error in an answer of success only its words are told. */
export const refused = (
  status: number,
  body: unknown,
  more: {
    readonly message?: string
    readonly effectiveStatus?: number
    readonly retryAfterSeconds?: number
  } = {}
): Failure => ({
  _tag: "VendorRefused",
  effectiveStatus: more.effectiveStatus ?? status,
  status,
  body: status < 300 ? null : body,
  message: more.message ?? `The vendor answered HTTP ${status}`,
  retryAfterSeconds: more.retryAfterSeconds ?? null
})

export const lost = (
  reason: "timeout" | "connection_lost" | "broken_answer",
  status: number | null = null
): Failure => ({ _tag: "VendorLost", reason, status, retryAfterSeconds: null })
