/** Waiting for the ends of tasks: however many wait here for the same task, it is read for one. */
import { Effect, Fiber, RcMap } from "effect"
import type { TaskNotFound } from "../domain/Errors.ts"
import type { Task } from "../services/TaskRepo.ts"
import { VideoSettlement } from "./VideoSettlement.ts"

interface TaskKey {
  readonly organizationId: string
  readonly id: string
}

/** A read of this length is followed by another one. */
const ONE_READ_SECONDS = 600

/**
 * Makes a function that waits for a task's end, across any trouble of the database. Reading begins
 * with the first that waits and stops when the last one has gone.
 */
export const makeTaskEnds = Effect.gen(function* () {
  const settlement = yield* VideoSettlement

  const untilFinished = ({ organizationId, id }: TaskKey): Effect.Effect<Task, TaskNotFound> =>
    settlement.read(organizationId, id, ONE_READ_SECONDS).pipe(
      Effect.catchDefect((defect) =>
        Effect.logWarning("a task whose end is awaited could not be read", defect).pipe(
          Effect.annotateLogs({ task: id }),
          Effect.andThen(Effect.sleep("1 second")),
          Effect.as(null)
        )
      ),
      Effect.flatMap((task) =>
        task?.finished === true ? Effect.succeed(task) : untilFinished({ organizationId, id })
      )
    )

  const reads = yield* RcMap.make({
    lookup: (key: string) => {
      const [organizationId = "", id = ""] = key.split(" ")
      return Effect.forkScoped(untilFinished({ organizationId, id }))
    }
  })

  return ({ organizationId, id }: TaskKey): Effect.Effect<Task, TaskNotFound> =>
    Effect.scoped(Effect.flatMap(RcMap.get(reads, `${organizationId} ${id}`), Fiber.join))
})
