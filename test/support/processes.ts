import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Deferred, Effect, Schema, type Scope } from "effect"
import { inject } from "vitest"
import { startGuard } from "./guard.ts"

/** How a process ended: by a code, or by a signal. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The process ended before it printed the line that was waited for. */
export class ProcessEnded extends Schema.TaggedError<ProcessEnded>()("ProcessEnded", {
  message: Schema.String
}) {}

/** A running program of ours. */
export interface TestProcess {
  readonly pid: number
  /** All that was printed so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /**
   * The match in the first line of stdout or stderr, from the start of the process, that fits the
   * pattern; waits until there is one. The pattern must not have the flag `g` or `y`.
   */
  readonly waitForLine: (pattern: RegExp) => Effect.Effect<RegExpExecArray, ProcessEnded>
  /** Returns when the signal is sent; a process that has ended gets none. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits for the end, and for the last of the output. */
  readonly end: Effect.Effect<ProcessEnd>
}

interface Waiter {
  readonly pattern: RegExp
  readonly found: Deferred.Deferred<RegExpExecArray, ProcessEnded>
}

/**
 * Starts a program's file, with the Node.js that runs this one unless a command is named. The process gets `env`, a TMPDIR of
 * its own, and of our environment only what programs need to run at all. It is killed and its TMPDIR
 * removed when the scope closes, and also when the test runner itself is killed.
 */
export const startProcess = Effect.fnUntraced(function* (options: {
  /** Path of the file to run. */
  readonly entry: string
  readonly args?: ReadonlyArray<string>
  /** The command that runs the file; the Node.js that runs this one where it is left out. */
  readonly command?: readonly [string, ...ReadonlyArray<string>]
  readonly env?: Readonly<Record<string, string>>
  /** Where it runs; where this one does where it is left out. */
  readonly cwd?: string
}): Effect.fn.Return<TestProcess, never, Scope.Scope> {
  const end = yield* Deferred.make<ProcessEnd>()
  const printed = { stdout: "", stderr: "" }
  const lines: Array<string> = []
  const waiters = new Set<Waiter>()

  const start = Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "media-gateway-process-"))
    const guard = startGuard({ signal: "KILL", directories: [directory] })
    const [program, ...before] = options.command ?? [process.execPath]
    const child = spawn(program, [...before, options.entry, ...(options.args ?? [])], {
      cwd: options.cwd,
      env: {
        ...inheritedEnvironment(),
        TMPDIR: directory,
        ...compiledBefore(),
        ...options.env
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    guard.watch(child.pid)
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        printed[name] += chunk
      })
      createInterface({ input: child[name] }).on("line", (line) => {
        lines.push(line)
        for (const waiter of waiters) {
          const match = waiter.pattern.exec(line)
          if (match !== null) {
            waiters.delete(waiter)
            Deferred.doneUnsafe(waiter.found, Effect.succeed(match))
          }
        }
      })
    }
    child.on("error", (cause) => {
      printed.stderr += String(cause)
    })
    child.on("close", (code, signal) => {
      Deferred.doneUnsafe(end, Effect.succeed({ code, signal }))
    })
    const release = Effect.gen(function* () {
      child.kill("SIGKILL")
      yield* Deferred.await(end)
      rmSync(directory, { recursive: true, force: true })
      guard.dismiss()
    })
    return { child, release }
  })
  const { child } = yield* Effect.acquireRelease(start, ({ release }) => release)

  const endedBefore = (pattern: RegExp) =>
    Effect.flatMap(Deferred.await(end), ({ code, signal }) =>
      Effect.fail(
        new ProcessEnded({
          message:
            `${options.entry} ended with ${signal ?? `code ${code}`} before it printed ${pattern}\n` +
            `stdout:\n${printed.stdout}\nstderr:\n${printed.stderr}`
        })
      )
    )
  const waitForLine = Effect.fnUntraced(function* (pattern: RegExp) {
    for (const line of lines) {
      const match = pattern.exec(line)
      if (match !== null) return match
    }
    const found = yield* Deferred.make<RegExpExecArray, ProcessEnded>()
    const waiter: Waiter = { pattern, found }
    waiters.add(waiter)
    return yield* Effect.raceFirst(Deferred.await(found), endedBefore(pattern)).pipe(
      Effect.ensuring(Effect.sync(() => waiters.delete(waiter)))
    )
  })

  return {
    pid: child.pid ?? 0,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    waitForLine,
    kill: (signal) =>
      Effect.sync(() => {
        child.kill(signal)
      }),
    end: Deferred.await(end)
  }
})

/**
 * The file to start for the program at the path: in a test one that holds its modules joined, which
 * takes half the time, and in a script the source itself.
 */
export const startable = (source: string): string =>
  process.env.VITEST === undefined ? source : (inject("programs")[source] ?? source)

/** What a test run compiled for all its processes; a script that starts some has nothing of the kind. */
const compiledBefore = (): Record<string, string> =>
  process.env.VITEST === undefined ? {} : { NODE_COMPILE_CACHE: inject("compileCache") }

/** Without the test runner's own settings, which would reach into the program under test. */
const inheritedEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ["PATH", "HOME"].flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
