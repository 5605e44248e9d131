/** Runs programs as processes: handles signals, exit codes and error messages. */
import { constants } from "node:os"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Option, Runtime } from "effect"

/**
 * Signals within this time count as one key press. Ctrl+C may arrive as two signals: one from the
 * terminal, and one that npm forwards.
 */
const ONE_PRESS_MILLIS = 300

const INTERRUPTED = 130

const exitAtSecondSignal = (): void => {
  let first: number | null = null
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const now = performance.now()
      first ??= now
      if (now - first > ONE_PRESS_MILLIS) process.exit(128 + constants.signals[signal])
    })
  }
}

/** Joins the messages of an error and of its causes, without repetitions. */
export const reasonOf = (error: Error): string => {
  const messages: Array<string> = []
  let next: Error | null = error
  while (next !== null) {
    const { message, cause }: Error = next
    if (!messages.some((text) => text.includes(message))) messages.push(message)
    next = cause instanceof Error ? cause : null
  }
  return messages.filter((text) => text !== "").join(": ")
}

/**
 * Prints a failure on stderr. An expected error is printed in one line, which has `what` and the
 * reason; a defect is printed with all details.
 */
export const reportingFailure =
  (what: string) =>
  <A, E extends Error, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.tapCause(program, (cause) => {
      if (Cause.hasInterruptsOnly(cause)) return Effect.void
      const error = Cause.findErrorOption(cause)
      return Console.error(
        Option.isSome(error) ? `${what}: ${reasonOf(error.value)}` : Cause.pretty(cause)
      )
    })

/**
 * Runs the program until it ends, or until SIGINT or SIGTERM interrupts it. A process that was
 * interrupted and shut down in order ends with exit code 0. The program itself prints why it
 * failed.
 */
export const runUntilStopped = <A, E>(program: Effect.Effect<A, E>): void => {
  exitAtSecondSignal()
  NodeRuntime.runMain(program, {
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => onExit(code === INTERRUPTED ? 0 : code))
  })
}
