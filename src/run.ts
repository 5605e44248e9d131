/** Runs the gateway as the program of a process: a signal ends it in order, a second one at once. */
import { constants } from "node:os"
import { NodeRuntime } from "@effect/platform-node"
import { type Effect, Runtime } from "effect"

/** A key pressed once at a terminal may arrive twice: from the terminal, and passed on by npm. */
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

/**
 * Runs the program until it ends or SIGINT or SIGTERM interrupts it; a process that was asked to stop
 * and did so in order ends with code 0. The program itself reports why it failed.
 */
export const runUntilStopped = <A, E>(program: Effect.Effect<A, E>): void => {
  exitAtSecondSignal()
  NodeRuntime.runMain(program, {
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      Runtime.defaultTeardown(exit, (code) => onExit(code === INTERRUPTED ? 0 : code))
  })
}
