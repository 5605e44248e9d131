/** Video tasks in memory. */

import { Clock, Effect, Layer, Option, Schema } from "effect"
import { TaskNotFound } from "../../domain/Errors.ts"
import { isTaskId } from "../../domain/orderIds.ts"
import { kindOf, VideoQuote } from "../../domain/video/VideoQuote.ts"
import { transitions } from "../../domain/video/VideoTask.ts"
import { Settings } from "../../runtime/Settings.ts"
import { type ClaimedTask, type Task, TaskRepo } from "../../services/TaskRepo.ts"
import {
  addOrphan,
  type Books,
  findOrphan,
  MemoryStore,
  replaceOrphan,
  type StoredHold,
  type StoredTask
} from "./MemoryStore.ts"

const decodeQuote = Schema.decodeUnknownSync(VideoQuote)

const secondsBetween = (from: number, to: number): number => (to - from) / 1000

/** A task with its hold, which keeps the job and the price. */
interface Row {
  readonly hold: StoredHold
  readonly task: StoredTask
}

const toTask = ({ hold, task }: Row, now: number): Task => ({
  organizationId: hold.request.organizationId,
  id: task.id,
  model: task.ordered.model,
  channelId: hold.request.job.channelId,
  state: task.state,
  finished: transitions[task.state].length === 0,
  videoUrl: task.videoUrl,
  completionTokens: task.completionTokens,
  errorCode: task.errorCode,
  errorMessage: task.errorMessage,
  ageSeconds: secondsBetween(task.createdAt, now),
  sinceAskedSeconds: task.askedAt === null ? null : secondsBetween(task.askedAt, now),
  kind: kindOf(task.ordered.model, decodeQuote(hold.request.quote))
})

const toClaimed = ({ hold, task }: Row, upstreamId: string, now: number): ClaimedTask => ({
  organizationId: hold.request.organizationId,
  id: task.id,
  keyId: task.ordered.keyId,
  model: task.ordered.model,
  channelId: hold.request.job.channelId,
  protocol: hold.request.job.protocol,
  listedProtocol: task.ordered.listedProtocol,
  upstreamModel: hold.request.job.upstreamModel,
  upstreamId,
  ageSeconds: secondsBetween(task.createdAt, now),
  sinceAskedSeconds: secondsBetween(task.askedAt ?? task.createdAt, now),
  lease: task.lease,
  unknownForSeconds: task.unknownSince === null ? null : secondsBetween(task.unknownSince, now),
  pastDeadline: task.deadline <= now,
  quote: decodeQuote(hold.request.quote)
})

const rowsOf = ({ tasks, holds }: Books): ReadonlyArray<Row> =>
  [...tasks.values()].flatMap((task) => {
    const hold = holds.get(task.id)
    return hold === undefined ? [] : [{ hold, task }]
  })

export const layerTaskRepoMemory = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const { askIntervalSeconds, leaseSeconds } = yield* Settings

    const findRow = (organizationId: string, id: string): Row | undefined => {
      const books = store.organizations.get(organizationId)
      const [task, hold] = [books?.tasks.get(id), books?.holds.get(id)]
      return task === undefined || hold === undefined ? undefined : { task, hold }
    }

    const rowsIn = (state: StoredTask["state"]): ReadonlyArray<Row> =>
      [...store.organizations.values()].flatMap(rowsOf).filter(({ task }) => task.state === state)

    /** Of a paused channel only tasks past their deadline may be asked for. */
    const mayBeAsked = ({ task, hold }: Row, now: number): boolean =>
      task.deadline <= now || (store.pauses.get(hold.request.job.channelId) ?? now) <= now

    const take = (row: Row, now: number): ReadonlyArray<ClaimedTask> => {
      const { task } = row
      if (task.upstreamId === null) return []
      task.lease += 1n
      const claimed = toClaimed(row, task.upstreamId, now)
      task.askedAt = now
      task.nextPollAt = now + leaseSeconds * 1000
      return [claimed]
    }

    const find: TaskRepo["Service"]["find"] = Effect.fn("TaskRepo.find")(
      function* (organizationId, id) {
        const now = yield* Clock.currentTimeMillis
        const row = isTaskId(id) ? findRow(organizationId, id) : undefined
        return row === undefined
          ? yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
          : toTask(row, now)
      }
    )

    const accept: TaskRepo["Service"]["accept"] = Effect.fn("TaskRepo.accept")(
      function* (organizationId, id, upstreamId, firstPollSeconds) {
        const now = yield* Clock.currentTimeMillis
        const task = findRow(organizationId, id)?.task
        if (task === undefined) return yield* Effect.die(new Error(`no task is called ${id}`))
        if (task.state === "submitting") {
          task.state = "processing"
          task.upstreamId = upstreamId
          task.askedAt = now
          task.acceptedAt = now
          task.nextPollAt = now + firstPollSeconds * 1000
        }
        return task.upstreamId === upstreamId
      }
    )

    const acceptedLate: TaskRepo["Service"]["acceptedLate"] = Effect.fn("TaskRepo.acceptedLate")(
      function* (organizationId, id, upstreamId) {
        const now = yield* Clock.currentTimeMillis
        const orphan = findOrphan(store, organizationId, id)
        const hold = store.organizations.get(organizationId)?.holds.get(id)
        if (orphan !== undefined) {
          replaceOrphan(store, orphan, { ...orphan, upstreamId: orphan.upstreamId ?? upstreamId })
        } else if (hold !== undefined) {
          addOrphan(store, hold, { upstreamId, reason: "accepted_late" }, now)
        }
      }
    )

    const claim: TaskRepo["Service"]["claim"] = Effect.fn("TaskRepo.claim")(
      function* (organizationId, id) {
        const now = yield* Clock.currentTimeMillis
        const row = findRow(organizationId, id)
        if (row === undefined || row.task.state !== "processing") return Option.none()
        const askedAt = row.task.askedAt ?? Number.NEGATIVE_INFINITY
        return askedAt <= now - askIntervalSeconds * 1000 && mayBeAsked(row, now)
          ? Option.fromNullishOr(take(row, now)[0])
          : Option.none()
      }
    )

    const claimDue: TaskRepo["Service"]["claimDue"] = Effect.fn("TaskRepo.claimDue")(function* ({
      limit,
      perChannel,
      asked
    }) {
      const now = yield* Clock.currentTimeMillis
      const dueAt = ({ task }: Row): number => task.nextPollAt ?? now
      const due = rowsIn("processing")
        .filter((row) => dueAt(row) <= now && mayBeAsked(row, now))
        .toSorted((a, b) => dueAt(a) - dueAt(b))
      const turns = [...Map.groupBy(due, ({ hold }) => hold.request.job.channelId)].flatMap(
        ([channelId, rows]) =>
          rows
            .slice(0, Math.max(0, perChannel - (asked.get(channelId) ?? 0)))
            .map((row, turn) => ({ row, turn }))
      )
      return turns
        .toSorted((a, b) => a.turn - b.turn || dueAt(a.row) - dueAt(b.row))
        .slice(0, limit)
        .flatMap(({ row }) => take(row, now))
    })

    const putBack: TaskRepo["Service"]["putBack"] = Effect.fn("TaskRepo.putBack")(function* (
      { organizationId, id, lease },
      { nextPollSeconds, known, askedSecondsAgo = 0 }
    ) {
      const now = yield* Clock.currentTimeMillis
      const task = findRow(organizationId, id)?.task
      if (task?.state !== "processing" || task.lease !== lease) return false
      task.askedAt = now - askedSecondsAgo * 1000
      task.nextPollAt = Math.min(now + nextPollSeconds * 1000, task.deadline)
      if (known === true) task.unknownSince = null
      if (known === false) task.unknownSince ??= now
      return true
    })

    const pause: TaskRepo["Service"]["pause"] = Effect.fn("TaskRepo.pause")((channelId, seconds) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const until = Math.max(store.pauses.get(channelId) ?? 0, now + seconds * 1000)
        store.pauses.set(channelId, until)
      })
    )

    const takeOver = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const { task } of rowsIn("processing")) task.nextPollAt = now
    })

    const abandoned: TaskRepo["Service"]["abandoned"] = Effect.fn("TaskRepo.abandoned")((scope) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        rowsIn("submitting")
          .filter(({ task }) => scope === "all" || task.submitDeadline <= now)
          .map(({ hold, task }) => ({ organizationId: hold.request.organizationId, id: task.id }))
      )
    )

    const overdue: TaskRepo["Service"]["overdue"] = Effect.fn("TaskRepo.overdue")(
      (seconds, limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          rowsIn("processing")
            .filter(({ task }) => task.deadline <= now - seconds * 1000)
            .toSorted((a, b) => a.task.deadline - b.task.deadline)
            .slice(0, limit)
            .flatMap(({ hold, task: { id, upstreamId } }) =>
              upstreamId === null
                ? []
                : [{ organizationId: hold.request.organizationId, id, upstreamId }]
            )
        )
    )

    const recentCompletions: TaskRepo["Service"]["recentCompletions"] = Effect.fn(
      "TaskRepo.recentCompletions"
    )((newest) =>
      Effect.sync(() =>
        [...store.organizations.values()]
          .flatMap((books) => rowsOf(books))
          .toSorted((a, b) => (a.task.id < b.task.id ? 1 : -1))
          .slice(0, newest)
          .filter(({ task }) => task.state === "succeeded")
          .toSorted((a, b) => (a.task.finishedAt ?? 0) - (b.task.finishedAt ?? 0))
          .map(({ hold, task }) => ({
            kind: kindOf(task.ordered.model, decodeQuote(hold.request.quote)),
            tookSeconds: secondsBetween(task.createdAt, task.finishedAt ?? task.createdAt)
          }))
      )
    )

    return TaskRepo.of({
      find,
      accept,
      acceptedLate,
      claim,
      claimDue,
      putBack,
      pause,
      takeOver,
      abandoned,
      overdue,
      recentCompletions
    })
  })
)
