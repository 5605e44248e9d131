/**
 * Named places on the money's way where a test may stop, fail or kill the process. In production
 * passing one does nothing.
 */
import { Context, Effect } from "effect"

export type Failpoint =
  | "video.ordered"
  | "video.held"
  | "video.refused"
  | "video.returned"
  | "video.accepted"
  | "video.recorded"
  | "video.claimed"
  | "video.verdict"
  | "video.settled"
  | "sweep.found"
  | "image.ordered"
  | "image.held"
  | "image.refused"
  | "image.returned"
  | "image.made"
  | "image.captured"
  | "text.ordered"
  | "text.held"
  | "text.refused"
  | "text.returned"
  | "text.made"
  | "text.captured"

export const Failpoints = Context.Reference<{
  readonly pass: (failpoint: Failpoint) => Effect.Effect<void>
}>("gateway/services/Failpoints", { defaultValue: () => ({ pass: () => Effect.void }) })
