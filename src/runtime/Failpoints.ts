/**
 * Named steps of a paid order at which a test may stop, fail or kill the process. In production, a
 * failpoint does nothing.
 */
import { Context, Effect } from "effect"

export type OrderStep =
  | "placed"
  | "held"
  | "reassigned"
  | "refused"
  | "returned"
  | "made"
  | "finished"

export type Failpoint =
  | `${"video" | "image" | "speech" | "text"}.${OrderStep}`
  | "video.joined"
  | "video.waiting"
  | "video.dispatched"
  | "video.started"
  | "video.claimed"
  | `${"video" | "image"}.cancelled`
  | "video.verdict"
  | "video.settled"
  | "sweep.found"
  | `file.${"placed" | "stored"}`
  | "response.stored"

export const Failpoints = Context.Reference<{
  readonly pass: (failpoint: Failpoint) => Effect.Effect<void>
}>("gateway/runtime/Failpoints", { defaultValue: () => ({ pass: () => Effect.void }) })
