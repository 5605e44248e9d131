/**
 * Checks the webhooks: one message for each end of a task and each endpoint, and no other messages.
 */
import type { Books, Task } from "../books.ts"
import type { Witness } from "../witness.ts"
import { kindOfTask } from "./orders.ts"
import { groupBy, open, type Verdict } from "./verdict.ts"

/** The event of the end of a task; null where it has none, as its client was refused. */
const eventOf = (task: Pick<Task, "id" | "state">): string | null => {
  const kind = kindOfTask(task)
  if (task.state === "succeeded") return `${kind}.completed`
  if (task.state === "failed") return `${kind}.failed`
  return task.state === "rejected" && kind === "image" ? "image.failed" : null
}

const judgeDeliveries = ({ deliveries }: Books, { webhooks }: Witness): Verdict => {
  const docket = open("W4", "what counts as delivered was taken by its receiver")
  const takenIds = new Set(webhooks.flatMap(({ id, isTaken }) => (isTaken ? [id] : [])))
  for (const { id } of deliveries) {
    docket.look(takenIds.has(id) ? null : `${id} counts as delivered`)
  }
  return docket.verdict
}

/** The event that has to be told of a task; null where nobody is to be told. */
const toldOf = (task: Task, { untold }: Witness): string | null =>
  untold.has(task.organization_id) ? null : eventOf(task)

export const judgeWebhooks = (books: Books, witness: Witness): ReadonlyArray<Verdict> => {
  const delivered = open("W1", "every ended task was told to the endpoint of its organisation")
  const once = open("W2", "what was told of one task has one id, however often it came")
  const committed = open("W3", "nothing was told but ends that stand in the database")

  const byTask = groupBy(witness.webhooks, ({ taskId }) => taskId)
  for (const task of books.tasks) {
    const { id, organization_id, state } = task
    const event = toldOf(task, witness)
    if (event === null) continue
    const messages = byTask.get(id) ?? []
    const such = messages.filter(
      ({ type, organizationId }) => type === event && organizationId === organization_id
    )
    delivered.look(such.length > 0 ? null : `${id} ended as ${state}, and nobody was told`)
    const ids = new Set(such.map((message) => message.id))
    if (such.length > 0)
      once.look(ids.size === 1 ? null : `${id} was told as ${[...ids].join(" ")}`)
  }
  const tasks = new Map(books.tasks.map((task) => [task.id, task]))
  for (const { id, taskId, type, organizationId } of witness.webhooks) {
    const task = tasks.get(taskId)
    const isTrue = task?.organization_id === organizationId && eventOf(task) === type
    committed.look(isTrue ? null : `${id} told ${type} of ${taskId}, which is ${task?.state}`)
  }
  return [delivered.verdict, once.verdict, committed.verdict, judgeDeliveries(books, witness)]
}
