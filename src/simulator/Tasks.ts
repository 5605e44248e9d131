import { Clock, Context, Effect, Layer, Option } from "effect"
import {
  type AcceptedEntry,
  Book,
  type EndedEntry,
  jobsOf,
  millisOf,
  type Order,
  type Produced
} from "./Book.ts"
import { sha256 } from "./digest.ts"
import { hintOf } from "./Requests.ts"
import { countOf, isOn, readSwitches } from "./switches.ts"

/** The API at which an order was accepted. A task is unknown at every other API. */
export interface Place {
  /** The protocol, which is also the first path segment. */
  readonly protocol: string
  /** For a relay: the protocol of the vendor behind the relay. */
  readonly family?: string
}

/** An order that passed the vendor's checks. */
export interface Draft {
  readonly place: Place
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
  readonly between: readonly [string, ...Array<string>]
  /**
   * Whether the protocol has statuses for cancelled and expired tasks; otherwise both are reported
   * as failures.
   */
  readonly cancels: boolean
  /** Whether the order fails during processing, although it passed the checks. */
  readonly unusable?: (accepted: AcceptedEntry) => boolean
  /** Whether all images of the order are refused when they are generated. */
  readonly refuses?: (accepted: AcceptedEntry) => boolean
  readonly produced: (accepted: AcceptedEntry) => Produced
}

/** The result of one poll. */
export type Sighting =
  | { readonly _tag: "Broken" }
  | { readonly _tag: "Forgotten" }
  | { readonly _tag: "Between"; readonly accepted: AcceptedEntry; readonly status: string }
  | { readonly _tag: "Ended"; readonly accepted: AcceptedEntry; readonly ended: EndedEntry }

interface Task {
  readonly accepted: AcceptedEntry
  ended: EndedEntry | undefined
  /** The number of polls so far, from which the status of the next poll follows. */
  polls: number
  /** The times of the last polls since the start of the simulator, in milliseconds since 1970. */
  readonly polledAt: Array<number>
}

/** A task and the times of its polls since the start of the simulator, oldest first. */
interface PolledTask {
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
    poll(place: Place, id: string, lifecycle: Lifecycle): Effect.Effect<Sighting>
    /**
     * Returns a status without counting a poll: the status that the last poll returned, or, before
     * the first poll, the status that the first poll will return.
     */
    look(place: Place, id: string, lifecycle: Lifecycle): Effect.Effect<Sighting>
    /** The ids of an account's tasks at one API, newest first. */
    idsOf(place: Place, key: string): Effect.Effect<ReadonlyArray<string>>
    /** Cancels a task that has not ended; a repeat changes nothing. */
    cancel(accepted: AcceptedEntry): Effect.Effect<EndedEntry>
    /** Removes the task; its entries in the book stay. */
    remove(id: string): Effect.Effect<void>
    /** Ends the task as its switches say; a repeat changes nothing. */
    finish(accepted: AcceptedEntry, lifecycle: Lifecycle): Effect.Effect<EndedEntry>
    /** The ids of the tasks that were ordered with this client token, oldest first. */
    idsOfToken(protocol: string, token: string): Effect.Effect<ReadonlyArray<string>>
    /** All tasks, in the order in which they were accepted. */
    readonly polled: Effect.Effect<ReadonlyArray<PolledTask>>
  }
>()("gateway/simulator/Tasks") {
  static readonly layer = Layer.effect(
    Tasks,
    Effect.gen(function* () {
      const book = yield* Book
      const tasks = new Map<string, Task>()
      for (const [id, [accepted, ended]] of jobsOf(yield* book.entries)) {
        tasks.set(id, { accepted, ended: Option.getOrUndefined(ended), polls: 0, polledAt: [] })
      }

      const accept = Effect.fnUntraced(function* (draft: Draft) {
        const now = yield* Clock.currentTimeMillis
        let id = draft.newId(now)
        while (tasks.has(id)) id = draft.newId(now)
        const accepted = yield* book.accepted({
          event: "accepted",
          protocol: draft.place.protocol,
          ...(draft.place.family === undefined ? {} : { family: draft.place.family }),
          kind: draft.kind,
          upstream_id: id,
          model: draft.model,
          key_hint: hintOf(draft.key),
          order: { ...draft.order, prompt_sha256: sha256(draft.prompt) },
          client_token: draft.clientToken,
          switches: readSwitches(draft.prompt),
          echo: draft.echo
        })
        tasks.set(id, { accepted, ended: undefined, polls: 0, polledAt: [] })
        return accepted
      })

      const end = Effect.fnUntraced(function* (accepted: AcceptedEntry, ending: Ending) {
        const task = tasks.get(accepted.upstream_id)
        if (task?.ended !== undefined) return task.ended
        const { protocol, kind, upstream_id, model } = accepted
        const ended = yield* book.ended({ ...ending, protocol, kind, upstream_id, model })
        if (task !== undefined) task.ended = ended
        return ended
      })

      const finish = (accepted: AcceptedEntry, lifecycle: Lifecycle) =>
        end(accepted, endingOf(accepted, lifecycle))

      const taskAt = (place: Place, id: string): Task | undefined => {
        const task = tasks.get(id)
        return task !== undefined && isAt(place, task.accepted) ? task : undefined
      }

      /** The status of the task after `seen` earlier polls. */
      const sighting = Effect.fnUntraced(function* (
        task: Task,
        seen: number,
        lifecycle: Lifecycle
      ): Effect.fn.Return<Sighting> {
        const { accepted } = task
        const { switches } = accepted
        if (isOn(switches, "forget")) return { _tag: "Forgotten" }
        if (task.ended !== undefined) return { _tag: "Ended", accepted, ended: task.ended }

        const now = yield* Clock.currentTimeMillis
        const failingPolls = countOf(switches, "poll500", 0)
        if (seen < failingPolls) return { _tag: "Broken" }
        if (isOn(switches, "unknown-status")) {
          return { _tag: "Between", accepted, status: unknownStatus }
        }
        const takesMillis = countOf(switches, "takes", 0) * 1000
        const isTimed = takesMillis > 0
        const step = isTimed ? now - millisOf(accepted) : seen - failingPolls
        const steps = isTimed ? takesMillis : countOf(switches, "slow", defaultPolls)
        if (step < steps) {
          const index = Math.floor((step * lifecycle.between.length) / steps)
          return {
            _tag: "Between",
            accepted,
            status: lifecycle.between[index] ?? lifecycle.between[0]
          }
        }
        return { _tag: "Ended", accepted, ended: yield* finish(accepted, lifecycle) }
      })

      const poll = Effect.fnUntraced(function* (
        place: Place,
        id: string,
        lifecycle: Lifecycle
      ): Effect.fn.Return<Sighting> {
        const task = taskAt(place, id)
        if (task === undefined) return { _tag: "Forgotten" }
        task.polledAt.push(yield* Clock.currentTimeMillis)
        if (task.polledAt.length > maxStoredPolls) task.polledAt.shift()
        return yield* sighting(task, task.polls++, lifecycle)
      })

      const look = Effect.fnUntraced(function* (
        place: Place,
        id: string,
        lifecycle: Lifecycle
      ): Effect.fn.Return<Sighting> {
        const task = taskAt(place, id)
        return task === undefined
          ? { _tag: "Forgotten" }
          : yield* sighting(task, Math.max(task.polls - 1, 0), lifecycle)
      })

      return Tasks.of({
        accept,
        poll,
        look,
        finish,
        cancel: (accepted) =>
          end(accepted, { event: "cancelled", reason: "cancelled", produced: noProduct }),
        remove: (id) => Effect.sync(() => void tasks.delete(id)),
        idsOf: (place, key) =>
          Effect.sync(() =>
            [...tasks.values()]
              .map(({ accepted }) => accepted)
              .filter((accepted) => isAt(place, accepted) && accepted.key_hint === hintOf(key))
              .map(({ upstream_id }) => upstream_id)
              .reverse()
          ),
        polled: Effect.sync(() =>
          [...tasks.values()].map(({ accepted: { protocol, upstream_id }, polledAt }) => ({
            protocol,
            upstream_id,
            polled_at: [...polledAt]
          }))
        ),
        idsOfToken: (protocol, token) =>
          Effect.sync(() =>
            [...tasks.values()]
              .filter(
                ({ accepted }) => accepted.protocol === protocol && accepted.client_token === token
              )
              .map(({ accepted }) => accepted.upstream_id)
          )
      })
    })
  )
}

const noProduct: Produced = { seconds: null, images: null, completion_tokens: null }

type Ending = Pick<EndedEntry, "event" | "reason" | "produced">

const isAt = (place: Place, { protocol, family }: AcceptedEntry): boolean =>
  protocol === place.protocol && family === place.family

const endingOf = (accepted: AcceptedEntry, lifecycle: Lifecycle): Ending => {
  const { switches } = accepted
  if (lifecycle.unusable?.(accepted) === true) {
    return { event: "failed", reason: "unusable", produced: noProduct }
  }
  if (isOn(switches, "moderate-output") || lifecycle.refuses?.(accepted) === true) {
    return { event: "failed", reason: "moderated", produced: noProduct }
  }
  if (isOn(switches, "fail")) return { event: "failed", reason: "internal", produced: noProduct }
  for (const [name, reason] of [
    ["cancel", "cancelled"],
    ["expire", "expired"]
  ] as const) {
    if (isOn(switches, name)) {
      return { event: lifecycle.cancels ? reason : "failed", reason, produced: noProduct }
    }
  }
  return { event: "succeeded", reason: null, produced: lifecycle.produced(accepted) }
}
