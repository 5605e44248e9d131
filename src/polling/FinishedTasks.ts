/**
 * Tasks that have ended, kept in memory for those who read them again: they never change, apart from
 * their age. The one that was not read longest goes first when the room is used up.
 */
import { makeBoundedMap } from "../runtime/boundedMap.ts"
import type { Task } from "../services/TaskRepo.ts"

const ROOM_BYTES = 32 * 1024 * 1024
/** Of a task without its texts, roughly, with its place here and the answer that is made of it. */
const BYTES_PER_TASK = 1024
/** A character in the task, and in the answer. */
const BYTES_PER_CHARACTER = 3

const bytesOf = ({ videoUrl, errorMessage }: Task): number =>
  BYTES_PER_TASK + BYTES_PER_CHARACTER * ((videoUrl?.length ?? 0) + (errorMessage?.length ?? 0))

export interface FinishedTasks {
  /** Null for another organisation's task, as for one that is not kept. */
  find(organizationId: string, id: string): Task | null
  /** Keeps what clients may see; any other task is passed over. */
  keep(task: Task): void
}

export const makeFinishedTasks = (roomBytes = ROOM_BYTES): FinishedTasks => {
  const kept = makeBoundedMap(roomBytes, bytesOf)
  return {
    find: (organizationId, id) => kept.get(`${organizationId} ${id}`),
    keep: (task) => {
      if (task.state !== "succeeded" && task.state !== "failed") return
      kept.set(`${task.organizationId} ${task.id}`, task)
    }
  }
}
