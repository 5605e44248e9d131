/**
 * The life of a video task. Clients see `processing`, `succeeded` and `failed`; `submitting` (hold
 * taken, vendor not yet answered) and `rejected` (no task came of it) stay inside.
 *
 *   submitting -> processing -> succeeded
 *        |             `-----> failed
 *        `--> rejected
 */
import { Schema, Struct } from "effect"

/** Allowed transitions; a state that leads nowhere is final and has a closed hold. */
export const transitions = {
  submitting: ["processing", "rejected"],
  processing: ["succeeded", "failed"],
  succeeded: [],
  failed: [],
  rejected: []
} as const satisfies Record<string, ReadonlyArray<string>>

export const TaskState = Schema.Literals(Struct.keys(transitions))
export type TaskState = typeof TaskState.Type

/** What the API shows; null where the client must not see a task at all. */
export const publicState = (state: TaskState): "processing" | "succeeded" | "failed" | null => {
  switch (state) {
    case "submitting":
      return "processing"
    case "rejected":
      return null
    default:
      return state
  }
}
