/** What a look at an installation found. */
import type { Effect } from "effect"
import type { GatewayConfig } from "../../config.ts"

export interface Finding {
  /** `look` is worth a look and breaks nothing; `unknown` could not be looked at. */
  readonly status: "ok" | "look" | "wrong" | "unknown"
  /** One sentence, without secrets. */
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

interface Installation {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Null where it does not decode: what needs it is not looked at. */
  readonly config: GatewayConfig | null
}

/** One look at one thing. It never fails, and changes nothing. */
export interface Check<R = never> {
  readonly name: string
  readonly look: (installation: Installation) => Effect.Effect<ReadonlyArray<Finding>, never, R>
}

export const ok = (says: string): Finding => ({ status: "ok", says })
export const wrong = (says: string, advice: string): Finding => ({ status: "wrong", says, advice })
export const worthALook = (says: string, advice: string): Finding => ({
  status: "look",
  says,
  advice
})
export const unknown = (says: string): Finding => ({ status: "unknown", says })
