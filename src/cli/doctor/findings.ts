/** Findings of the checks of an installation. */
import type { Effect } from "effect"
import type { GatewayConfig } from "../../config.ts"

export interface Finding {
  /** `look` is a warning; `unknown` could not be checked. */
  readonly status: "ok" | "look" | "wrong" | "unknown"
  /** One sentence, without secrets. */
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

interface Installation {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Null where it does not decode; checks that need it are skipped. */
  readonly config: GatewayConfig | null
}

/** A check of one subject. It never fails and changes nothing. */
export interface Check<R = never> {
  readonly name: string
  readonly look: (installation: Installation) => Effect.Effect<ReadonlyArray<Finding>, never, R>
}

export const ok = (says: string): Finding => ({ status: "ok", says })
export const wrong = (says: string, advice: string): Finding => ({ status: "wrong", says, advice })
export const warning = (says: string, advice: string): Finding => ({
  status: "look",
  says,
  advice
})
export const unknown = (says: string): Finding => ({ status: "unknown", says })
