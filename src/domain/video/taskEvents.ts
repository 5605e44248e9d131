/** The events of a video task: one for each state a client can see, numbered by its place in a task's life. */
import type { publicState } from "./VideoTask.ts"

type PublicState = NonNullable<ReturnType<typeof publicState>>

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
  const seen = lastEventId === "1" ? 1 : lastEventId === "2" ? 2 : 0
  return seen <= eventNumber(state) ? seen : 0
}
