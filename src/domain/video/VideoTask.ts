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

const taskId = /^vt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True for text that can be a task's id: `vt_` and a UUIDv7. */
export const isTaskId = (text: string): boolean => taskId.test(text)

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
