/** The findings of the checks of an installation. */
import type { Effect } from "effect"
import type { GatewayConfig } from "../../config.ts"

export interface Finding {
  /**
   * `wrong` is an error, and `look` is a warning; `unknown` means that the subject could not be
   * checked.
   */
  readonly status: "ok" | "look" | "wrong" | "unknown"
  /** The finding in one sentence, without secrets. */
  readonly says: string
  /** What the operator should do about the finding. */
  readonly advice?: string
}

interface Installation {
  readonly environment: Readonly<Record<string, string | undefined>>
  /**
   * The configuration; null where it does not decode. Checks that need the configuration are then
   * skipped.
   */
  readonly config: GatewayConfig | null
}

/** A check of one subject. A check never fails and changes nothing. */
export interface Check<R = never> {
  readonly name: string
  readonly run: (installation: Installation) => Effect.Effect<ReadonlyArray<Finding>, never, R>
}

export const okFinding = (says: string): Finding => ({ status: "ok", says })
export const errorFinding = (says: string, advice: string): Finding => ({
  status: "wrong",
  says,
  advice
})
export const warningFinding = (says: string, advice: string): Finding => ({
  status: "look",
  says,
  advice
})
export const unknownFinding = (says: string): Finding => ({ status: "unknown", says })
