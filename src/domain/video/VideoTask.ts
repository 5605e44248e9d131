/**
 * The life of a video task. Clients see `processing`, `succeeded` and `failed`; `submitting` (hold
 * taken, vendor not yet answered) and `rejected` (no task came of it) stay inside.
 *
 *   submitting -> processing -> succeeded
 *        |             `-----> failed
 *        `--> rejected
 */
import { Schema, Struct } from "effect"
import type { TaskKind } from "../orderIds.ts"

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

type PublicState = NonNullable<ReturnType<typeof publicState>>

export const publicStates = ["processing", "succeeded", "failed"] as const

/** Images have no vendor's task to be rejected by: all that did not come is failed. */
const shownAs = (kind: TaskKind, state: TaskState): PublicState | null =>
  kind === "image" && state === "rejected" ? "failed" : publicState(state)

/** The states of tasks that a client is shown as this one; where it is null, as any. */
export const statesShownAs = (
  kind: TaskKind,
  shown: PublicState | null
): ReadonlyArray<TaskState> =>
  TaskState.literals.filter((state) => {
    const ownEvent = shownAs(kind, state)
    return ownEvent !== null && (shown === null || ownEvent === shown)
  })

/**
 * The number of a state's event. It is read off the task alone, so it means the same on every
 * gateway; the two ends share the last one, since a task has only one of them.
 */
export const eventNumber = (state: PublicState): 1 | 2 => (state === "processing" ? 1 : 2)

export const LAST_EVENT = 2

/**
 * The number of the event a client has seen last, by what it says of it: 0 for none, for anything
 * no gateway has given out, and for the end of a task that has not ended.
 */
export const seenEvent = (lastEventId: string | undefined, state: PublicState): 0 | 1 | 2 => {
  const seenEvents = lastEventId === "1" ? 1 : lastEventId === "2" ? 2 : 0
  return seenEvents <= eventNumber(state) ? seenEvents : 0
}
