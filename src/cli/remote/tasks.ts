/** The commands of one order: its status, timeline and end. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { taskKindOf } from "../../domain/orderIds.ts"
import { isFinal } from "../../domain/taskStates.ts"
import { MAX_WAIT_SECONDS } from "../../http/api/shared.ts"
import { CommandFailure, ExitWith } from "../failures.ts"
import { facts, printEvent, printResult, table } from "../output.ts"
import { asMemberOrOperator, type Gateway } from "./connection.ts"

const task = Argument.String("task").pipe(
  Argument.withDescription("Id of the order, such as vt_... or im_...")
)

const timeline = (gateway: Gateway, id: string) => gateway.history.readTask({ params: { id } })
type Timeline = Effect.Success<ReturnType<typeof timeline>>

/** The failure with the vendor's own words, such as `ch-a answered 400: size must be WxH`. */
const errorText = ({ attempts, error }: Timeline): string | null => {
  if (error === null) return null
  const { channel = "", status = null } = attempts.at(-1) ?? {}
  const speaker = status === null ? channel : `${channel} answered ${status}`
  return `${speaker}: ${error.message} (${error.code})`
}

const timelineText = (one: Timeline): string =>
  [
    facts([
      ["id", one.id],
      ["state", one.state],
      ["organization", one.organization_id],
      ["member", one.member_id],
      ["model", one.model],
      ["channel", one.channel],
      ["vendor's id", one.upstream_id],
      ["hold", one.quote.amount],
      ["error", errorText(one)]
    ]),
    table(
      ["at", "state", "by"],
      one.transitions.map(({ at, state, by }) => [at, state, by])
    ),
    table(
      ["called at", "channel", "for", "status", "took", "failure"],
      one.upstream_calls.map((call) => [
        call.started_at,
        call.channel,
        call.purpose,
        call.status,
        `${call.duration_ms} ms`,
        call.failure
      ])
    ),
    table(
      ["at", "money", "amount"],
      one.ledger.map(({ at, kind, amount }) => [at, kind, amount])
    ),
    ...(one.orphan === null ? [] : [`Its vendor may have made it unpaid: ${one.orphan.reason}`])
  ].join("\n\n")

const failureText = (one: {
  readonly error: { readonly code: string; readonly message: string }
}) => `\n${one.error.code}: ${one.error.message}`

/**
 * Reads the order as its client sees it. Waits until the order has ended, at most `wait` seconds.
 */
const readOwnTask = Effect.fnUntraced(function* (gateway: Gateway, id: string, wait: number) {
  const reading = { params: { task_id: id }, query: { wait } }
  switch (taskKindOf(id)) {
    case "video": {
      const view = yield* gateway.videos.read(reading)
      const result =
        view.task_status === "succeeded"
          ? `\n${view.content.video_url}`
          : view.task_status === "failed"
            ? failureText(view)
            : ""
      return { view, text: `${id} ${view.task_status}${result}` }
    }
    case "image": {
      const view = yield* gateway.images.read(reading)
      const result = view.task_status === "failed" ? failureText(view) : ""
      return { view, text: `${id} ${view.task_status}${result}` }
    }
    case "speech": {
      const view = yield* gateway.audio.read(reading)
      const result =
        view.task_status === "succeeded"
          ? `\n${view.content.audio_url}`
          : view.task_status === "failed"
            ? failureText(view)
            : ""
      return { view, text: `${id} ${view.task_status}${result}` }
    }
    case null:
      return yield* new CommandFailure({
        message: `${id} is no id of a task: expected vt_..., im_... or sp_...`
      })
  }
})

const show = Command.make("show", { task }, ({ task }) =>
  asMemberOrOperator(
    ({ gateway }) =>
      Effect.flatMap(timeline(gateway, task), (one) => printResult(one, () => timelineText(one))),
    ({ gateway }) =>
      Effect.flatMap(readOwnTask(gateway, task, 0), ({ view, text }) =>
        printResult(view, () => text)
      )
  )
).pipe(
  Command.withDescription(
    "Show an order: to operators its whole history, to the holder of a key how it stands"
  )
)

const PAUSE = "1 second"

const followTimeline = Effect.fnUntraced(function* (gateway: Gateway, id: string) {
  let printedCount = 0
  while (true) {
    const one = yield* timeline(gateway, id)
    for (const step of one.transitions.slice(printedCount)) {
      yield* printEvent({ id, ...step }, () => `${step.at}  ${step.state}  by ${step.by}`)
    }
    printedCount = one.transitions.length
    if (isFinal(one.state)) return one.state === "succeeded"
    yield* Effect.sleep(PAUSE)
  }
})

const followOwn = Effect.fnUntraced(function* (gateway: Gateway, id: string) {
  let { view, text } = yield* readOwnTask(gateway, id, 0)
  yield* printEvent(view, () => text)
  const wasOpen = view.task_status === "processing"
  while (view.task_status === "processing") {
    ;({ view, text } = yield* readOwnTask(gateway, id, MAX_WAIT_SECONDS))
  }
  if (wasOpen) yield* printEvent(view, () => text)
  return view.task_status === "succeeded"
})

const follow = Command.make(
  "follow",
  { task },
  Effect.fn("cli.taskFollow")(function* ({ task }) {
    const hasSucceeded = yield* asMemberOrOperator(
      ({ gateway }) => followTimeline(gateway, task),
      ({ gateway }) => followOwn(gateway, task)
    )
    if (!hasSucceeded) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription("Tell each change until the task has ended; ends with 1 where it failed")
)

export const taskCommand = Command.make("task").pipe(
  Command.withDescription("Orders that run, and that ran"),
  Command.withSubcommands([show, follow])
)
