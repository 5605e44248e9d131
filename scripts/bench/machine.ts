/** The machine the figures are from, and where on it each process runs. */
import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { availableParallelism, cpus, loadavg, totalmem } from "node:os"
import { promisify } from "node:util"

const run = promisify(execFile)

/** Of the subjects; everything else runs on the other. */
const SUBJECT_CORE = "0"
const LOAD_CORE = "1"

/** A command to start a subject by, and whether that puts it on a core of its own. */
export interface Placement {
  readonly pinned: boolean
  readonly node: readonly [string, ...ReadonlyArray<string>]
}

/**
 * Puts this process, and so whatever it starts, on the one core, and subjects on the other. Where
 * that cannot be done, or is not wanted, the scheduler decides.
 */
export const placeProcesses = async (wanted: boolean): Promise<Placement> => {
  const unpinned: Placement = { pinned: false, node: [process.execPath] }
  if (!wanted || availableParallelism() < 2) return unpinned
  try {
    await run("taskset", ["-a", "-c", "-p", LOAD_CORE, String(process.pid)])
  } catch {
    return unpinned
  }
  return { pinned: true, node: ["taskset", "-c", SUBJECT_CORE, process.execPath] }
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

const MEGABYTE = 2 ** 20

/** Lets the peak of a process begin again; false where the system does not allow it. */
export const forgetPeak = (pid: number): Promise<boolean> =>
  writeFile(`/proc/${pid}/clear_refs`, "5").then(
    () => true,
    () => false
  )

/** Most memory the process had at a time, in megabytes; null where nobody tells. */
export const peakMegabytes = async (pid: number): Promise<number | null> => {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "")
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
  return kilobytes === undefined ? null : (Number(kilobytes) * 1024) / MEGABYTE
}

/** Linux counts in hundredths of a second for every program. */
const TICKS_PER_SECOND = 100

/** Seconds of processor time the process has had so far; null where the system does not tell. */
export const processorSeconds = async (pid: number): Promise<number | null> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // The name before may hold spaces and brackets, so the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const ticks = Number(fields[11]) + Number(fields[12])
  return Number.isNaN(ticks) ? null : ticks / TICKS_PER_SECOND
}
