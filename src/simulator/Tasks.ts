import { Clock, Context, Effect, Layer, Option } from "effect"
import {
  type AcceptedEntry,
  Book,
  type EndedEntry,
  jobsOf,
  millisOf,
  type Order,
  type Product
} from "./Book.ts"
import { sha256 } from "./digest.ts"
import { hintOf } from "./Requests.ts"
import { countOf, isOn, readSwitches } from "./switches.ts"

/** The API at which an order was accepted. A task is unknown at every other API. */
export interface TaskApi {
  /** The protocol, which is also the first path segment. */
  readonly protocol: string
  /** For a relay: the protocol of the vendor behind the relay. */
  readonly family?: string
}

/** An order that passed the vendor's checks. */
export interface Draft {
  readonly api: TaskApi
  readonly kind: "video" | "image" | "text"
  readonly model: string
  readonly key: string
  /** All texts of the request, because the switches are read from this field. */
  readonly prompt: string
  readonly order: Omit<Order, "prompt_sha256">
  readonly clientToken: string | null
  readonly echo: AcceptedEntry["echo"]
  /** Generates the id of the job. It is called again when the generated id is already used. */
  readonly newId: (nowMillis: number) => string
}

/** How the jobs of one protocol run. */
export interface Lifecycle {
  /** The status words of a running task, in order. */
  readonly runningStatuses: readonly [string, ...Array<string>]
  /**
   * Whether the protocol has statuses for cancelled and expired tasks; otherwise both are reported
   * as failures.
   */
  readonly reportsCancellation: boolean
  /** Whether the order fails during processing, although it passed the checks. */
  readonly isUnusable?: (acceptedEntry: AcceptedEntry) => boolean
  /** Whether all images of the order are refused when they are generated. */
  readonly refusesImages?: (acceptedEntry: AcceptedEntry) => boolean
  readonly productOf: (acceptedEntry: AcceptedEntry) => Product
}

/** The result of one poll. */
export type PollResult =
  | { readonly _tag: "Broken" }
  | { readonly _tag: "Forgotten" }
  | { readonly _tag: "Between"; readonly acceptedEntry: AcceptedEntry; readonly status: string }
  | {
      readonly _tag: "Ended"
      readonly acceptedEntry: AcceptedEntry
      readonly endedEntry: EndedEntry
    }

interface Task {
  readonly acceptedEntry: AcceptedEntry
  endedEntry: EndedEntry | undefined
  /** Whether a task with `sim:waits` may go on. */
  isReleased: boolean
  /** The number of polls so far, from which the status of the next poll follows. */
  polls: number
  /** The times of the last polls since the start of the simulator, in milliseconds since 1970. */
  readonly polledAt: Array<number>
}

/** A task and the times of its polls since the start of the simulator, oldest first. */
export interface TaskPolls {
  readonly protocol: string
  readonly upstream_id: string
  readonly polled_at: ReadonlyArray<number>
}

const maxStoredPolls = 1000

/** The status word of a task with `sim:unknown-status`; no protocol documents it. */
const unknownStatus = "hibernating"

const defaultPolls = 2

/**
 * The tasks of all protocols. Tasks of an earlier run are restored from the book, with their polls
 * counted from zero.
 */
export class Tasks extends Context.Service<
  Tasks,
  {
    /** Enters the order into the book and creates its task. */
    accept(draft: Draft): Effect.Effect<AcceptedEntry>
    /** Returns the status and counts one poll. An unknown id is `Forgotten`. */
    poll(api: TaskApi, id: string, lifecycle: Lifecycle): Effect.Effect<PollResult>
    /**
     * Returns a status without counting a poll: the status that the last poll returned, or, before
     * the first poll, the status that the first poll will return.
     */
    peek(api: TaskApi, id: string, lifecycle: Lifecycle): Effect.Effect<PollResult>
    /** The ids of an account's tasks at one API, newest first. */
    idsOf(api: TaskApi, key: string): Effect.Effect<ReadonlyArray<string>>
    /** The order of an account's newest task of a model; undefined where it has none. */
    latestOf(api: TaskApi, key: string, model: string): Effect.Effect<AcceptedEntry | undefined>
    /** Cancels a task that has not ended; a repeat changes nothing. */
    cancel(acceptedEntry: AcceptedEntry): Effect.Effect<EndedEntry>
    /** Removes the task; its entries in the book stay. */
    remove(id: string): Effect.Effect<void>
    /** Ends the task as its switches say; a repeat changes nothing. */
    finish(acceptedEntry: AcceptedEntry, lifecycle: Lifecycle): Effect.Effect<EndedEntry>
    /** The ids of the tasks that were ordered with this client token, oldest first. */
    idsOfToken(protocol: string, token: string): Effect.Effect<ReadonlyArray<string>>
    /** Lets all accepted tasks with `sim:waits` go on. */
    readonly release: Effect.Effect<void>
    /** All tasks, in the order in which they were accepted. */
    readonly pollHistory: Effect.Effect<ReadonlyArray<TaskPolls>>
  }
>()("gateway/simulator/Tasks") {
  static readonly layer = Layer.effect(
    Tasks,
    Effect.gen(function* () {
      const book = yield* Book
      const tasks = new Map<string, Task>()
      for (const [id, [acceptedEntry, endedEntry]] of jobsOf(yield* book.entries)) {
        tasks.set(id, {
          acceptedEntry,
          endedEntry: Option.getOrUndefined(endedEntry),
          isReleased: false,
          polls: 0,
          polledAt: []
        })
      }

      const accept = Effect.fnUntraced(function* (draft: Draft) {
        const now = yield* Clock.currentTimeMillis
        let id = draft.newId(now)
        while (tasks.has(id)) id = draft.newId(now)
        const acceptedEntry = yield* book.recordAccepted({
          event: "accepted",
          protocol: draft.api.protocol,
          ...(draft.api.family === undefined ? {} : { family: draft.api.family }),
          kind: draft.kind,
          upstream_id: id,
          model: draft.model,
          key_hint: hintOf(draft.key),
          order: { ...draft.order, prompt_sha256: sha256(draft.prompt) },
          client_token: draft.clientToken,
          switches: readSwitches(draft.prompt),
          echo: draft.echo
        })
        tasks.set(id, {
          acceptedEntry,
          endedEntry: undefined,
          isReleased: false,
          polls: 0,
          polledAt: []
        })
        return acceptedEntry
      })

      const end = Effect.fnUntraced(function* (acceptedEntry: AcceptedEntry, ending: Ending) {
        const task = tasks.get(acceptedEntry.upstream_id)
        if (task?.endedEntry !== undefined) return task.endedEntry
        const { protocol, kind, upstream_id, model } = acceptedEntry
        const endedEntry = yield* book.recordEnded({
          ...ending,
          protocol,
          kind,
          upstream_id,
          model
        })
        if (task !== undefined) task.endedEntry = endedEntry
        return endedEntry
      })

      const finish = (acceptedEntry: AcceptedEntry, lifecycle: Lifecycle) =>
        end(acceptedEntry, endingOf(acceptedEntry, lifecycle))

      const taskAt = (api: TaskApi, id: string): Task | undefined => {
        const task = tasks.get(id)
        return task !== undefined && isTaskOf(api, task.acceptedEntry) ? task : undefined
      }

      /** The status of the task after `seen` earlier polls. */
      const pollResultOf = Effect.fnUntraced(function* (
        task: Task,
        earlierPolls: number,
        lifecycle: Lifecycle
      ): Effect.fn.Return<PollResult> {
        const { acceptedEntry } = task
        const { switches } = acceptedEntry
        if (isOn(switches, "forget")) return { _tag: "Forgotten" }
        if (task.endedEntry !== undefined)
          return { _tag: "Ended", acceptedEntry, endedEntry: task.endedEntry }

        const now = yield* Clock.currentTimeMillis
        const failingPolls = countOf(switches, "poll500", 0)
        if (earlierPolls < failingPolls) return { _tag: "Broken" }
        const status = runningStatus(task, earlierPolls - failingPolls, now, lifecycle)
        if (status !== undefined) return { _tag: "Between", acceptedEntry, status }
        return { _tag: "Ended", acceptedEntry, endedEntry: yield* finish(acceptedEntry, lifecycle) }
      })

      const poll = Effect.fnUntraced(function* (
        api: TaskApi,
        id: string,
        lifecycle: Lifecycle
      ): Effect.fn.Return<PollResult> {
        const task = taskAt(api, id)
        if (task === undefined) return { _tag: "Forgotten" }
        task.polledAt.push(yield* Clock.currentTimeMillis)
        if (task.polledAt.length > maxStoredPolls) task.polledAt.shift()
        return yield* pollResultOf(task, task.polls++, lifecycle)
      })

      const peek = Effect.fnUntraced(function* (
        api: TaskApi,
        id: string,
        lifecycle: Lifecycle
      ): Effect.fn.Return<PollResult> {
        const task = taskAt(api, id)
        return task === undefined
          ? { _tag: "Forgotten" }
          : yield* pollResultOf(task, Math.max(task.polls - 1, 0), lifecycle)
      })

      /** The orders of an account at one API, newest first. */
      const ordersOf = (api: TaskApi, key: string): ReadonlyArray<AcceptedEntry> =>
        [...tasks.values()]
          .map(({ acceptedEntry }) => acceptedEntry)
          .filter((entry) => isTaskOf(api, entry) && entry.key_hint === hintOf(key))
          .reverse()

      return Tasks.of({
        accept,
        poll,
        peek,
        finish,
        cancel: (acceptedEntry) =>
          end(acceptedEntry, { event: "cancelled", reason: "cancelled", produced: noProduct }),
        remove: (id) => Effect.sync(() => void tasks.delete(id)),
        idsOf: (api, key) =>
          Effect.sync(() => ordersOf(api, key).map(({ upstream_id }) => upstream_id)),
        latestOf: (api, key, model) =>
          Effect.sync(() => ordersOf(api, key).find((entry) => entry.model === model)),
        release: Effect.sync(() => {
          for (const task of tasks.values()) task.isReleased = true
        }),
        pollHistory: Effect.sync(() =>
          [...tasks.values()].map(({ acceptedEntry: { protocol, upstream_id }, polledAt }) => ({
            protocol,
            upstream_id,
            polled_at: [...polledAt]
          }))
        ),
        idsOfToken: (protocol, token) =>
          Effect.sync(() =>
            [...tasks.values()]
              .filter(
                ({ acceptedEntry }) =>
                  acceptedEntry.protocol === protocol && acceptedEntry.client_token === token
              )
              .map(({ acceptedEntry }) => acceptedEntry.upstream_id)
          )
      })
    })
  )
}

/** The status of a task after some polls that did not fail; undefined when it is at its end. */
const runningStatus = (
  { acceptedEntry, isReleased }: Task,
  polls: number,
  now: number,
  { runningStatuses }: Lifecycle
): string | undefined => {
  const { switches } = acceptedEntry
  if (isOn(switches, "unknown-status")) return unknownStatus
  if (isOn(switches, "waits") && !isReleased) return runningStatuses[0]
  const durationMillis = countOf(switches, "takes", 0) * 1000
  const isTimed = durationMillis > 0
  const step = isTimed ? now - millisOf(acceptedEntry) : polls
  const steps = isTimed ? durationMillis : countOf(switches, "slow", defaultPolls)
  if (step >= steps) return undefined
  return runningStatuses[Math.floor((step * runningStatuses.length) / steps)] ?? runningStatuses[0]
}

const noProduct: Product = { seconds: null, images: null, completion_tokens: null }

type Ending = Pick<EndedEntry, "event" | "reason" | "produced">

const isTaskOf = (api: TaskApi, { protocol, family }: AcceptedEntry): boolean =>
  protocol === api.protocol && family === api.family

const endingOf = (acceptedEntry: AcceptedEntry, lifecycle: Lifecycle): Ending => {
  const { switches } = acceptedEntry
  if (lifecycle.isUnusable?.(acceptedEntry) === true) {
    return { event: "failed", reason: "unusable", produced: noProduct }
  }
  if (isOn(switches, "moderate-output") || lifecycle.refusesImages?.(acceptedEntry) === true) {
    return { event: "failed", reason: "moderated", produced: noProduct }
  }
  if (isOn(switches, "fail")) return { event: "failed", reason: "internal", produced: noProduct }
  for (const [name, reason] of [
    ["cancel", "cancelled"],
    ["expire", "expired"]
  ] as const) {
    if (isOn(switches, name)) {
      return {
        event: lifecycle.reportsCancellation ? reason : "failed",
        reason,
        produced: noProduct
      }
    }
  }
  return { event: "succeeded", reason: null, produced: lifecycle.productOf(acceptedEntry) }
}
