/** The machine on which the figures are measured, and the core of each process. */
import { execFile } from "node:child_process"
import { availableParallelism, cpus, loadavg, totalmem } from "node:os"
import { promisify } from "node:util"

const run = promisify(execFile)

/** The CPU core of the subjects. All other processes run on `LOAD_CORE`. */
const SUBJECT_CORE = "0"
const LOAD_CORE = "1"

type Command = readonly [string, ...ReadonlyArray<string>]

/** The commands that start a subject, and whether `node` pins it to its own core. */
export interface Placement {
  readonly pinned: boolean
  readonly node: Command
  /** The command for gateways that run at the same time, on both cores. */
  readonly nodeOnBoth: Command
}

/**
 * Pins this process and its children to one core, and subjects to the other. Where pinning is
 * impossible or switched off, the scheduler decides.
 */
export const placeProcesses = async (wanted: boolean): Promise<Placement> => {
  const unpinned: Placement = {
    pinned: false,
    node: [process.execPath],
    nodeOnBoth: [process.execPath]
  }
  if (!wanted || availableParallelism() < 2) return unpinned
  try {
    await run("taskset", ["-a", "-c", "-p", LOAD_CORE, String(process.pid)])
  } catch {
    return unpinned
  }
  return {
    pinned: true,
    node: ["taskset", "-c", SUBJECT_CORE, process.execPath],
    nodeOnBoth: ["taskset", "-c", `${SUBJECT_CORE},${LOAD_CORE}`, process.execPath]
  }
}

export interface MachineFacts {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  /** The load average of the minute before the run: figures from a busy machine mean little. */
  readonly loadBefore: number
  /** The commit of the measured sources; `+` marks uncommitted changes. */
  readonly commit: string
}

const git = (...args: ReadonlyArray<string>): Promise<string> =>
  run("git", [...args], { cwd: import.meta.dirname }).then(
    ({ stdout }) => stdout.trim(),
    () => ""
  )

export const machineFacts = async (): Promise<MachineFacts> => ({
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  loadBefore: loadavg()[0] ?? 0,
  commit: `${await git("rev-parse", "--short", "HEAD")}${(await git("status", "--porcelain")) === "" ? "" : "+"}`
})
