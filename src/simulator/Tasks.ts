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

/** Where an order is taken; no other place knows its task. */
export interface Place {
  /** Also the first path segment. */
  readonly protocol: string
  /** On a relay, which of its vendors' protocols. */
  readonly family?: string
}

/** An order that passed the vendor's checks. */
export interface Draft {
  readonly place: Place
  readonly kind: "video" | "image" | "text"
  readonly model: string
  readonly key: string
  /** Switches are read from here, so it holds every text of the request. */
  readonly prompt: string
  readonly order: Omit<Order, "prompt_sha256">
  readonly clientToken: string | null
  readonly echo: AcceptedEntry["echo"]
  /** Called again when the id is already taken. */
  readonly newId: (nowMillis: number) => string
}

/** How the jobs of one protocol run. */
export interface Lifecycle {
  /** The status words before the end, in order. */
  readonly between: readonly [string, ...Array<string>]
  /** Whether cancelled and expired are ends of their own; otherwise both are failures. */
  readonly cancels: boolean
  /** Orders whose fault is only found at work; they fail. */
  readonly unusable?: (accepted: AcceptedEntry) => boolean
  readonly produced: (accepted: AcceptedEntry) => Produced
}

/** What one poll gets to see. */
export type Sighting =
  | { readonly _tag: "Broken" }
  | { readonly _tag: "Forgotten" }
  | { readonly _tag: "Between"; readonly accepted: AcceptedEntry; readonly status: string }
  | { readonly _tag: "Ended"; readonly accepted: AcceptedEntry; readonly ended: EndedEntry }

interface Task {
  readonly accepted: AcceptedEntry
  ended: EndedEntry | undefined
  /** Questions that moved the task on. */
  polls: number
  /** When it was asked for since the start, in milliseconds since 1970; the last ones only. */
  readonly polledAt: Array<number>
}

/** When a task was asked for since the start, oldest first. */
export interface PolledTask {
  readonly protocol: string
  readonly upstream_id: string
  readonly polled_at: ReadonlyArray<number>
}

const keptPolls = 1000

/** The status of a task with `sim:unknown-status`. No protocol knows the word. */
const unknownStatus = "hibernating"

const defaultPolls = 2

/** The jobs of all protocols; those of an earlier run are there again, with their polls uncounted. */
export class Tasks extends Context.Service<
  Tasks,
  {
    /** Books the order and makes it a task. */
    accept(draft: Draft): Effect.Effect<AcceptedEntry>
    /** Counts as one poll of the task. An unknown id is `Forgotten`. */
    poll(place: Place, id: string, lifecycle: Lifecycle): Effect.Effect<Sighting>
    /** Ends the task the way its switches say; the same task again changes nothing. */
    finish(accepted: AcceptedEntry, lifecycle: Lifecycle): Effect.Effect<EndedEntry>
    /** The ids of the tasks ordered under a client's own id, oldest first. */
    idsOfToken(protocol: string, token: string): Effect.Effect<ReadonlyArray<string>>
    /** Every task, in the order of its acceptance. */
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

      const finish = Effect.fnUntraced(function* (accepted: AcceptedEntry, lifecycle: Lifecycle) {
        const task = tasks.get(accepted.upstream_id)
        if (task?.ended !== undefined) return task.ended
        const { protocol, kind, upstream_id, model } = accepted
        const ending = endingOf(accepted, lifecycle)
        const ended = yield* book.ended({ ...ending, protocol, kind, upstream_id, model })
        if (task !== undefined) task.ended = ended
        return ended
      })

      const poll = Effect.fnUntraced(function* (
        place: Place,
        id: string,
        lifecycle: Lifecycle
      ): Effect.fn.Return<Sighting> {
        const task = tasks.get(id)
        if (task === undefined) return { _tag: "Forgotten" }
        const { accepted } = task
        if (accepted.protocol !== place.protocol || accepted.family !== place.family) {
          return { _tag: "Forgotten" }
        }
        const now = yield* Clock.currentTimeMillis
        task.polledAt.push(now)
        if (task.polledAt.length > keptPolls) task.polledAt.shift()
        const { switches } = accepted
        if (isOn(switches, "forget")) return { _tag: "Forgotten" }
        if (task.ended !== undefined) return { _tag: "Ended", accepted, ended: task.ended }

        const broken = countOf(switches, "poll500", 0)
        const seen = task.polls++
        if (seen < broken) return { _tag: "Broken" }
        if (isOn(switches, "unknown-status")) {
          return { _tag: "Between", accepted, status: unknownStatus }
        }
        const takesMillis = countOf(switches, "takes", 0) * 1000
        const timed = takesMillis > 0
        const step = timed ? now - millisOf(accepted) : seen - broken
        const steps = timed ? takesMillis : countOf(switches, "slow", defaultPolls)
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

      return Tasks.of({
        accept,
        poll,
        finish,
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

const nothing: Produced = { seconds: null, images: null, completion_tokens: null }

const endingOf = (
  accepted: AcceptedEntry,
  lifecycle: Lifecycle
): Pick<EndedEntry, "event" | "reason" | "produced"> => {
  const { switches } = accepted
  if (lifecycle.unusable?.(accepted) === true) {
    return { event: "failed", reason: "unusable", produced: nothing }
  }
  if (isOn(switches, "moderate-output")) {
    return { event: "failed", reason: "moderated", produced: nothing }
  }
  if (isOn(switches, "fail")) return { event: "failed", reason: "internal", produced: nothing }
  for (const [name, reason] of [
    ["cancel", "cancelled"],
    ["expire", "expired"]
  ] as const) {
    if (isOn(switches, name)) {
      return { event: lifecycle.cancels ? reason : "failed", reason, produced: nothing }
    }
  }
  return { event: "succeeded", reason: null, produced: lifecycle.produced(accepted) }
}
