/** The machine the figures are from, and where on it each process runs. */
import { execFile } from "node:child_process"
import { availableParallelism, cpus, loadavg, totalmem } from "node:os"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Of the subjects; everything else runs on the other. */
const SUBJECT_CORE = "0"
const LOAD_CORE = "1"

type Command = readonly [string, ...ReadonlyArray<string>]

/** Commands to start a subject by, and whether the first puts it on a core of its own. */
export interface Placement {
  readonly pinned: boolean
  readonly node: Command
  /** Of two gateways that run at a time: on both cores. */
  readonly nodeOnBoth: Command
}

/**
 * Puts this process, and so whatever it starts, on the one core, and subjects on the other. Where
 * that cannot be done, or is not wanted, the scheduler decides.
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
  /** What others asked of it in the minute before: figures from a busy machine mean little. */
  readonly loadBefore: number
  /** Of the measured sources; `+` stands for changes that are not committed. */
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
