/**
 * Tasks that have ended, kept in memory for those who read them again: they never change, apart from
 * their age. The one that was not read longest goes first when the room is used up.
 */
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
  const kept = new Map<string, Task>()
  let used = 0
  const nameOf = (organizationId: string, id: string) => `${organizationId} ${id}`

  const drop = (name: string, task: Task) => {
    used -= bytesOf(task)
    kept.delete(name)
  }

  return {
    find: (organizationId, id) => {
      const name = nameOf(organizationId, id)
      const task = kept.get(name)
      if (task === undefined) return null
      // A map keeps the order of insertion, so its first key is the one not read longest.
      kept.delete(name)
      kept.set(name, task)
      return task
    },
    keep: (task) => {
      if ((task.state !== "succeeded" && task.state !== "failed") || bytesOf(task) > roomBytes) {
        return
      }
      const name = nameOf(task.organizationId, task.id)
      const known = kept.get(name)
      if (known !== undefined) drop(name, known)
      kept.set(name, task)
      used += bytesOf(task)
      for (const [oldest, itsTask] of kept) {
        if (used <= roomBytes) break
        drop(oldest, itsTask)
      }
    }
  }
}
