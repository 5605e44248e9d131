/** The repository of tasks in memory. */
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { DEFAULT_KEY } from "../../domain/catalog/channelKeys.ts"
import { TaskNotFound } from "../../domain/Errors.ts"
import { Amount } from "../../domain/money/Money.ts"
import { taskKindOf } from "../../domain/orderIds.ts"
import { isFinal } from "../../domain/taskStates.ts"
import { MAX_WAIT_SECONDS } from "../../domain/video/VideoBody.ts"
import { kindOf, VideoQuote } from "../../domain/video/VideoQuote.ts"
import { Changes } from "../../runtime/Changes.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { HoldRequest, VendorJob } from "../../services/Ledger.ts"
import { COPY_LEASE_SECONDS } from "../../services/results/Archives.ts"
import {
  type ClaimedTask,
  DuplicateJob,
  SourceVideo,
  type Task,
  TaskRepo,
  TaskResult,
  type VendorsJob
} from "../../services/TaskRepo.ts"
import {
  isMarkedSummary,
  MemoryStore,
  pageOf,
  type StoredOrder,
  type StoredTask
} from "./MemoryStore.ts"
import { addOrphan, orphanName } from "./OrphansMemory.ts"

const decodeVideoQuote = Schema.decodeUnknownSync(VideoQuote)
const decodeBillPrice = Schema.decodeSync(Schema.NullOr(Amount))

const secondsBetween = (from: number, to: number): number => (to - from) / 1000

/** An order that has a task. */
interface Row {
  readonly request: HoldRequest
  readonly job: VendorJob
  readonly cost: unknown
  readonly createdAt: number
  readonly task: StoredTask
}

const kindOfRow = ({ request }: Row) =>
  taskKindOf(request.id) === "video" ? kindOf(request.model, decodeVideoQuote(request.quote)) : null

/** When the vendor began the task, or the time of the order if no vendor has. */
const startOf = ({ task, createdAt }: Row): number => task.acceptedAt ?? createdAt

const decodeResult = Schema.decodeSync(Schema.fromJsonString(TaskResult))

const isShape = Schema.is(
  Schema.Struct({
    ratio: Schema.NullOr(Schema.String),
    size: Schema.optionalKey(Schema.String),
    source: Schema.optionalKey(SourceVideo)
  })
)
/** Reads the ordered aspect ratio and size, and the edited video, from a task's summary. */
const shapeOf = (summary: unknown) =>
  isShape(summary)
    ? { ratio: summary.ratio, size: summary.size ?? null, source: summary.source ?? null }
    : { ratio: null, size: null, source: null }

const toTask = (row: Row, now: number): Task => {
  const { request, job, task } = row
  return {
    organizationId: request.organizationId,
    id: request.id,
    memberId: request.memberId,
    model: request.model,
    channelId: job.channelId,
    protocol: job.protocol,
    accountVersion: task.accountVersion,
    keyName: task.keyName,
    state: task.state,
    finished: isFinal(task.state),
    videoUrl: task.videoUrl,
    stills: task.stills,
    result: task.result === null ? null : decodeResult(task.result),
    completionTokens: task.completionTokens,
    errorCode: task.errorCode,
    errorMessage: task.errorMessage,
    isArchived: task.ordered.isArchived === true,
    dialect: task.ordered.dialect ?? "own",
    ...shapeOf(task.ordered.summary),
    finishedAt: task.finishedAt === null ? null : new Date(task.finishedAt),
    ageSeconds: secondsBetween(startOf(row), now),
    sincePollSeconds: task.askedAt === null ? null : secondsBetween(task.askedAt, now),
    kind: kindOfRow(row)
  }
}

const toClaimed = (row: Row, upstreamId: string, now: number): ClaimedTask => {
  const { request, job, cost, task } = row
  return {
    organizationId: request.organizationId,
    id: request.id,
    model: request.model,
    channelId: job.channelId,
    protocol: job.protocol,
    listedProtocol: task.ordered.listedProtocol,
    upstreamModel: job.upstreamModel,
    upstreamId,
    accountVersion: task.accountVersion ?? 1,
    keyName: task.keyName ?? DEFAULT_KEY,
    isMarked: isMarkedSummary(task.ordered.summary),
    ageSeconds: secondsBetween(startOf(row), now),
    sincePollSeconds: secondsBetween(task.askedAt ?? row.createdAt, now),
    lease: task.lease,
    unknownForSeconds: task.unknownSince === null ? null : secondsBetween(task.unknownSince, now),
    pastDeadline: task.deadline <= now,
    quote: decodeVideoQuote(request.quote),
    cost: cost === null ? null : decodeVideoQuote(cost),
    billUnitPriceNano: decodeBillPrice(job.billUnitPrice ?? null)
  }
}

const rowOf = ({ request, job, cost, task, held }: StoredOrder): ReadonlyArray<Row> =>
  task === null ? [] : [{ request, job, cost, task, createdAt: held.at.getTime() }]

export const layerTaskRepoMemory = Layer.effect(
  TaskRepo,
  Effect.gen(function* () {
    const store = yield* MemoryStore
    const changes = yield* Changes
    const { askIntervalSeconds, leaseSeconds, submitDeadlineSeconds, taskDeadlineSeconds } =
      yield* Settings

    const orderOf = (organizationId: string, id: string) =>
      store.organizations.get(organizationId)?.orders.get(id)

    const findRow = (organizationId: string, id: string): Row | undefined => {
      const order = orderOf(organizationId, id)
      return order === undefined ? undefined : rowOf(order)[0]
    }

    const allRows = (): ReadonlyArray<Row> =>
      [...store.organizations.values()].flatMap(({ orders }) => [...orders.values()].flatMap(rowOf))

    const rowsIn = (state: StoredTask["state"]): ReadonlyArray<Row> =>
      allRows().filter(({ task }) => task.state === state)

    /** On a paused channel only tasks past their deadline are polled. */
    const isPollable = ({ task, job }: Row, now: number): boolean =>
      task.deadline <= now || (store.pauses.get(job.channelId) ?? now) <= now

    const claimRow = (row: Row, now: number): ReadonlyArray<ClaimedTask> => {
      const { task } = row
      if (task.upstreamId === null) return []
      task.lease += 1n
      const claimedTask = toClaimed(row, task.upstreamId, now)
      task.askedAt = now
      task.nextPollAt = now + leaseSeconds * 1000
      return [claimedTask]
    }

    const takeJob = (orderId: string, { channelId, origin, upstreamId }: VendorsJob) =>
      Effect.suspend(() => {
        const job = JSON.stringify([channelId, origin, upstreamId])
        const taker = store.vendorJobs.get(job) ?? orderId
        store.vendorJobs.set(job, taker)
        return taker === orderId ? Effect.void : Effect.fail(new DuplicateJob())
      })

    const takeOver = Effect.map(Clock.currentTimeMillis, (now) => {
      for (const { task } of rowsIn("processing")) task.nextPollAt = now
    })

    const eraseCalls = (organizationId: string, id: string): void => {
      const otherCalls = store.calls.filter(
        ({ subject }) => subject.organizationId !== organizationId || subject.jobId !== id
      )
      store.calls.splice(0, store.calls.length, ...otherCalls)
    }

    const eraseAnswers = (organizationId: string, id: string): void => {
      for (const key of store.organizations.get(organizationId)?.requestKeys.values() ?? []) {
        if (key.holdId === id) key.answer = null
      }
    }

    const eraseMessages = (organizationId: string, id: string): void => {
      const order = store.organizations.get(organizationId)?.orders.get(id)
      if (order === undefined) return
      order.failure &&= { ...order.failure, message: null, vendorMessage: null }
      order.refusals = order.refusals.map(({ message: _, ...refusal }) => refusal)
    }

    /**
     * Makes the archived files of a task due for removal. Where a copy may be running, the removal
     * is due after the lease of the copy has ended.
     */
    const eraseArchive = (id: string, now: number): void => {
      const archive = store.archives.get(id)
      if (archive === undefined || archive.state === "removing") return
      archive.nextTryAt = now + (archive.state === "waiting" ? COPY_LEASE_SECONDS * 1000 : 0)
      archive.state = "removing"
      archive.files = null
    }

    const erase = (organizationId: string, id: string, now: number): boolean => {
      const task = findRow(organizationId, id)?.task
      if (task === undefined || task.finishedAt === null) return false
      task.erasedAt ??= now
      task.videoUrl &&= ""
      task.stills = null
      task.result &&= "{}"
      task.errorMessage &&= ""
      eraseCalls(organizationId, id)
      eraseMessages(organizationId, id)
      eraseAnswers(organizationId, id)
      eraseArchive(id, now)
      return true
    }

    return TaskRepo.of({
      find: Effect.fn("TaskRepo.find")(function* (organizationId, id) {
        const now = yield* Clock.currentTimeMillis
        const row = taskKindOf(id) !== null ? findRow(organizationId, id) : undefined
        return row === undefined || row.task.erasedAt !== null
          ? yield* new TaskNotFound({ message: `No task is called ${JSON.stringify(id)}` })
          : toTask(row, now)
      }),
      list: Effect.fn("TaskRepo.list")(function* ({ organizationId, memberId }, filter, page) {
        const now = yield* Clock.currentTimeMillis
        const listedRows = allRows()
          .filter(({ request }) => request.organizationId === organizationId)
          .filter(({ request }) => request.memberId === memberId)
          .filter(({ request }) => taskKindOf(request.id) === filter.kind)
          .filter(({ task }) => task.erasedAt === null)
          .toSorted((a, b) => (a.request.id < b.request.id ? -1 : 1))
          .map((row) => ({ ...toTask(row, now), createdAt: new Date(row.createdAt) }))
        return yield* pageOf(
          filter.order === "desc" ? listedRows : listedRows.toReversed(),
          page,
          ({ state, model, createdAt }) =>
            filter.states.includes(state) &&
            (filter.model === null || model === filter.model) &&
            (filter.createdAfter === null || createdAt > filter.createdAfter)
        )
      }),
      startWaiting: Effect.fn("TaskRepo.startWaiting")((organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const task = findRow(organizationId, id)?.task
          if (task?.state !== "waiting") return false
          task.state = "submitting"
          task.submitDeadline = now + submitDeadlineSeconds * 1000
          task.deadline = now + taskDeadlineSeconds * 1000
          return true
        })
      ),
      waitAgain: Effect.fn("TaskRepo.waitAgain")((organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const task = findRow(organizationId, id)?.task
          if (task?.state !== "submitting") return false
          task.state = "waiting"
          task.submitDeadline = now + MAX_WAIT_SECONDS * 1000
          return true
        })
      ),
      accept: Effect.fn("TaskRepo.accept")(function* (
        organizationId,
        id,
        { upstreamId, accountVersion, keyName, origin },
        firstPollSeconds
      ) {
        const now = yield* Clock.currentTimeMillis
        const row = findRow(organizationId, id)
        if (row === undefined) return yield* Effect.die(new Error(`no task is called ${id}`))
        const { job, task } = row
        if (task.state === "submitting") {
          yield* takeJob(id, { channelId: job.channelId, origin, upstreamId })
          task.state = "processing"
          task.upstreamId = upstreamId
          task.accountVersion = accountVersion
          task.keyName = keyName
          task.askedAt = now
          task.acceptedAt = now
          task.nextPollAt = now + firstPollSeconds * 1000
        }
        return task.upstreamId === upstreamId
      }),
      claimJob: Effect.fn("TaskRepo.claimJob")(takeJob),
      startCall: Effect.fn("TaskRepo.startCall")((organizationId, id) =>
        Effect.sync(() => {
          const task = findRow(organizationId, id)?.task
          if (task?.state !== "submitting") return false
          task.lease += 1n
          return true
        })
      ),
      recordJob: Effect.fn("TaskRepo.recordJob")(
        (organizationId, id, { upstreamId, accountVersion, keyName }) =>
          Effect.sync(() => {
            const task = findRow(organizationId, id)?.task
            if (task?.state !== "submitting" || task.upstreamId !== null) return
            task.upstreamId = upstreamId
            task.accountVersion = accountVersion
            task.keyName = keyName
          })
      ),
      claimJobToCancel: Effect.fn("TaskRepo.claimJobToCancel")((organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const row = findRow(organizationId, id)
          if (row?.task.state !== "submitting") return Option.none()
          const { job, task } = row
          const { upstreamId, accountVersion, keyName } = task
          const askedAt = task.askedAt ?? Number.NEGATIVE_INFINITY
          if (
            upstreamId === null ||
            accountVersion === null ||
            keyName === null ||
            askedAt > now - askIntervalSeconds * 1000
          ) {
            return Option.none()
          }
          task.askedAt = now
          const { channelId, protocol, upstreamModel } = job
          return Option.some({
            organizationId,
            id,
            channelId,
            protocol,
            upstreamModel,
            upstreamId,
            accountVersion,
            keyName
          })
        })
      ),
      recordLateAcceptance: Effect.fn("TaskRepo.recordLateAcceptance")(
        function* (organizationId, id, upstreamId) {
          const now = yield* Clock.currentTimeMillis
          const name = orphanName(organizationId, id)
          const orphan = store.orphans.get(name)
          const order = orderOf(organizationId, id)
          if (orphan !== undefined) {
            store.orphans.set(name, { ...orphan, upstreamId: orphan.upstreamId ?? upstreamId })
          } else if (order !== undefined) {
            addOrphan(store, order, { upstreamId, reason: "accepted_late" }, now)
          }
        }
      ),
      claim: Effect.fn("TaskRepo.claim")(function* (organizationId, id) {
        const now = yield* Clock.currentTimeMillis
        const row = findRow(organizationId, id)
        if (row === undefined || row.task.state !== "processing") return Option.none()
        const askedAt = row.task.askedAt ?? Number.NEGATIVE_INFINITY
        return askedAt <= now - askIntervalSeconds * 1000 && isPollable(row, now)
          ? Option.fromNullishOr(claimRow(row, now)[0])
          : Option.none()
      }),
      claimDue: Effect.fn("TaskRepo.claimDue")(function* ({ limit, perChannel, openByChannel }) {
        const now = yield* Clock.currentTimeMillis
        const dueAt = ({ task }: Row): number => task.nextPollAt ?? now
        const dueRows = rowsIn("processing")
          .filter((row) => dueAt(row) <= now && isPollable(row, now))
          .toSorted((a, b) => dueAt(a) - dueAt(b))
        const turns = [...Map.groupBy(dueRows, ({ job }) => job.channelId)].flatMap(
          ([channelId, rows]) =>
            rows
              .slice(0, Math.max(0, perChannel - (openByChannel.get(channelId) ?? 0)))
              .map((row, turn) => ({ row, turn }))
        )
        return turns
          .toSorted((a, b) => a.turn - b.turn || dueAt(a.row) - dueAt(b.row))
          .slice(0, limit)
          .flatMap(({ row }) => claimRow(row, now))
      }),
      putBack: Effect.fn("TaskRepo.putBack")(function* (
        { organizationId, id, lease },
        { nextPollSeconds, isKnown, polledSecondsAgo = 0 }
      ) {
        const now = yield* Clock.currentTimeMillis
        const task = findRow(organizationId, id)?.task
        if (task?.state !== "processing" || task.lease !== lease) return false
        task.askedAt = now - polledSecondsAgo * 1000
        task.nextPollAt = Math.min(now + nextPollSeconds * 1000, task.deadline)
        if (isKnown === true) task.unknownSince = null
        if (isKnown === false) task.unknownSince ??= now
        return true
      }),
      startCancel: Effect.fn("TaskRepo.startCancel")((organizationId, id) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const task = findRow(organizationId, id)?.task
          const isRunning = task?.state === "processing" || task?.state === "submitting"
          if (!isRunning || task.upstreamId === null) return false
          const isSent = task.cancelSentAt !== null && task.cancelSentAt > now - leaseSeconds * 1000
          if (!isSent) task.cancelSentAt = now
          return !isSent
        })
      ),
      pause: Effect.fn("TaskRepo.pause")((channelId, seconds) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const until = Math.max(store.pauses.get(channelId) ?? 0, now + seconds * 1000)
          store.pauses.set(channelId, until)
        })
      ),
      takeOver,
      abandoned: Effect.fn("TaskRepo.abandoned")((scope) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          (["submitting", "waiting"] as const).flatMap((state) =>
            rowsIn(state)
              .filter(
                ({ task }) =>
                  (scope === "all" && state === "submitting") || task.submitDeadline <= now
              )
              .map(({ request: { organizationId, id }, task }) => ({
                organizationId,
                id,
                state,
                isQueued: task.ordered.isWaiting === true,
                upstreamId: task.upstreamId
              }))
          )
        )
      ),
      overdue: Effect.fn("TaskRepo.overdue")((seconds, limit) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          rowsIn("processing")
            .filter(({ task }) => task.deadline <= now - seconds * 1000)
            .toSorted((a, b) => a.task.deadline - b.task.deadline)
            .slice(0, limit)
            .flatMap(({ request: { organizationId, id }, task: { upstreamId } }) =>
              upstreamId === null ? [] : [{ organizationId, id, upstreamId }]
            )
        )
      ),
      recentCompletions: Effect.fn("TaskRepo.recentCompletions")((newest) =>
        Effect.sync(() =>
          allRows()
            .toSorted((a, b) => (a.request.id < b.request.id ? 1 : -1))
            .slice(0, newest)
            .filter(({ task }) => task.state === "succeeded")
            .toSorted((a, b) => (a.task.finishedAt ?? 0) - (b.task.finishedAt ?? 0))
            .flatMap((row) => {
              const kind = kindOfRow(row)
              const began = startOf(row)
              const tookSeconds = secondsBetween(began, row.task.finishedAt ?? began)
              return kind === null ? [] : [{ kind, tookSeconds }]
            })
        )
      ),
      erase: Effect.fn("TaskRepo.erase")((organizationId, id) =>
        changes
          .changeAndNotify(
            "tasks",
            Effect.map(Clock.currentTimeMillis, (now) => erase(organizationId, id, now))
          )
          .pipe(Effect.orDie)
      )
    })
  })
)
