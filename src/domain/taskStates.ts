/**
 * The states of tasks. Clients see `processing`, `succeeded` and `failed`. Three states are internal:
 * `waiting` (for a place at its channel), `submitting` (the hold is taken and the vendor has not
 * answered yet) and `rejected` (no task was created).
 *
 *   video  submitting -> processing -> succeeded     image, speech  submitting -> succeeded
 *           ^  |  |           `-----> failed                            |-----> failed
 *           |  |  `--> rejected                                         `-----> rejected
 *           v  `--> failed
 *          waiting -> failed
 *
 * A video that has waited was answered with its id, so it is `failed` and not `rejected` where its
 * vendor refuses it. A video runs at its vendor and is polled there. Images and speech arrive in the answer to a single
 * call: the task is `failed` if that answer could not be read and is charged, and `rejected` if the
 * hold was released.
 */
import { Schema } from "effect"
import type { TaskKind } from "./orderIds.ts"

export const TaskState = Schema.Literals([
  "waiting",
  "submitting",
  "processing",
  "succeeded",
  "failed",
  "rejected"
])
export type TaskState = typeof TaskState.Type

const unpolled = {
  submitting: ["succeeded", "failed", "rejected"],
  succeeded: [],
  failed: [],
  rejected: []
} as const

/**
 * The allowed state transitions of each kind of task. `TaskOutcome` is derived from this table, and
 * `test/contract/TaskStates.process.test.ts` compares the table with the SQL and with what the
 * stores accept.
 */
export const transitions = {
  video: {
    waiting: ["submitting", "failed"],
    submitting: ["waiting", "processing", "failed", "rejected"],
    processing: ["succeeded", "failed"],
    succeeded: [],
    failed: [],
    rejected: []
  },
  image: unpolled,
  speech: unpolled
} as const satisfies Record<TaskKind, Partial<Record<TaskState, ReadonlyArray<TaskState>>>>

/** A union with one type for each pair of states. */
type Transition<From, State> = State extends TaskState
  ? { readonly from: From; readonly state: State }
  : never

type TransitionsIn<Table extends Partial<Record<TaskState, ReadonlyArray<TaskState>>>> = {
  [From in keyof Table]: Table[From] extends ReadonlyArray<infer State>
    ? Transition<From, State>
    : never
}[keyof Table]

/** A state transition that the table allows for tasks of the kind. */
export type TaskTransition<Kind extends TaskKind = TaskKind> = {
  [Each in Kind]: TransitionsIn<(typeof transitions)[Each]>
}[Kind]

const tables = Object.values<Partial<Record<TaskState, ReadonlyArray<TaskState>>>>(transitions)

const finalStates: ReadonlySet<string> = new Set(
  TaskState.literals.filter((state) => tables.every((table) => (table[state] ?? []).length === 0))
)

/**
 * Whether a state is final, that is, has no transition in the table: the hold of such a task is
 * closed.
 */
export const isFinal = (state: string): boolean => finalStates.has(state)

/** The state shown by the API; null if the client must not see the task at all. */
export const publicState = (state: TaskState): "processing" | "succeeded" | "failed" | null => {
  switch (state) {
    case "waiting":
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

/**
 * The shown state of a task by its kind. Only a video has a task at the vendor that could be
 * rejected: every other task without a result has failed.
 */
const shownAs = (kind: TaskKind, state: TaskState): PublicState | null =>
  kind !== "video" && state === "rejected" ? "failed" : publicState(state)

/** The stored states that the API shows as `shownState`; null stands for every public state. */
export const statesShownAs = (
  kind: TaskKind,
  shownState: PublicState | null
): ReadonlyArray<TaskState> =>
  TaskState.literals.filter((state) => {
    const publicName = shownAs(kind, state)
    return publicName !== null && (shownState === null || publicName === shownState)
  })

/**
 * The number of the event of a state. The number depends on the task alone, so it is the same on
 * every gateway instance. The two final states share the last number, because a task reaches only
 * one of them.
 */
export const eventNumber = (state: PublicState): 1 | 2 => (state === "processing" ? 1 : 2)

export const LAST_EVENT = 2

/**
 * The number of the last event that a client has seen, from its `Last-Event-ID`. The number is 0 if
 * the client sent no id, an id that no gateway issues, or the id of the final event of a task that
 * has not ended.
 */
export const seenEvent = (lastEventId: string | undefined, state: PublicState): 0 | 1 | 2 => {
  const lastSeen = lastEventId === "1" ? 1 : lastEventId === "2" ? 2 : 0
  return lastSeen <= eventNumber(state) ? lastSeen : 0
}
