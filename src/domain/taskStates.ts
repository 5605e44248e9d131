/**
 * The states of tasks. Clients see `processing`, `succeeded` and `failed`; `submitting` (the hold is taken,
 * and the vendor has not answered yet) and `rejected` (no task came of it) stay inside.
 *
 *   video  submitting -> processing -> succeeded     image  submitting -> succeeded
 *               |             `-----> failed                    |-----> failed
 *               `--> rejected                                   `-----> rejected
 *
 * A video runs at its vendor and is polled there. Images come with the answer to their one call: they
 * `failed` where that answer could not be read and is charged, and are `rejected` where the hold was
 * given back.
 */
import { Schema } from "effect"
import type { TaskKind } from "./orderIds.ts"

export const TaskState = Schema.Literals([
  "submitting",
  "processing",
  "succeeded",
  "failed",
  "rejected"
])
export type TaskState = typeof TaskState.Type

/**
 * Of each kind of task, the states that may follow each state. `TaskOutcome` is made of this table, and
 * `test/contract/TaskStates.process.test.ts` compares it with the SQL and with what the stores let through.
 */
export const transitions = {
  video: {
    submitting: ["processing", "rejected"],
    processing: ["succeeded", "failed"],
    succeeded: [],
    failed: [],
    rejected: []
  },
  image: {
    submitting: ["succeeded", "failed", "rejected"],
    succeeded: [],
    failed: [],
    rejected: []
  }
} as const satisfies Record<TaskKind, Partial<Record<TaskState, ReadonlyArray<TaskState>>>>

/** One type for each pair of states. */
type Transition<From, State> = State extends TaskState
  ? { readonly from: From; readonly state: State }
  : never

type TransitionsIn<Table extends Partial<Record<TaskState, ReadonlyArray<TaskState>>>> = {
  [From in keyof Table]: Table[From] extends ReadonlyArray<infer State>
    ? Transition<From, State>
    : never
}[keyof Table]

/** A change of state that the table allows to tasks of the kind. */
export type TaskTransition<Kind extends TaskKind = TaskKind> = {
  [Each in Kind]: TransitionsIn<(typeof transitions)[Each]>
}[Kind]

const tables = Object.values<Partial<Record<TaskState, ReadonlyArray<TaskState>>>>(transitions)

const finalStates: ReadonlySet<string> = new Set(
  TaskState.literals.filter((state) => tables.every((table) => (table[state] ?? []).length === 0))
)

/** Whether the table has no transition from the state: the hold of such a task is closed. */
export const isFinal = (state: string): boolean => finalStates.has(state)

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

/** The stored states that the API shows as `shown`; null stands for every public state. */
export const statesShownAs = (
  kind: TaskKind,
  shownState: PublicState | null
): ReadonlyArray<TaskState> =>
  TaskState.literals.filter((state) => {
    const publicName = shownAs(kind, state)
    return publicName !== null && (shownState === null || publicName === shownState)
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
  const lastSeen = lastEventId === "1" ? 1 : lastEventId === "2" ? 2 : 0
  return lastSeen <= eventNumber(state) ? lastSeen : 0
}
