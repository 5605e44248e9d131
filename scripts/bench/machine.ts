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
  /** For a subject of several processes, which may use the other core as well. */
  readonly nodeOnBoth: readonly [string, ...ReadonlyArray<string>]
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
  const nodeOn = (cores: string) => ["taskset", "-c", cores, process.execPath] as const
  return {
    pinned: true,
    node: nodeOn(SUBJECT_CORE),
    nodeOnBoth: nodeOn(`${SUBJECT_CORE},${LOAD_CORE}`)
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

const MEGABYTE = 2 ** 20

/** The process and those it has started, so far as the system tells. */
export const familyOf = async (pid: number): Promise<ReadonlyArray<number>> => {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "")
  return [pid, ...children.split(" ").filter(Boolean).map(Number)]
}

/** Null where the system does not tell it of all of the family. */
const sumOverFamily = async (
  pid: number,
  figureOf: (pid: number) => Promise<number | null>
): Promise<number | null> => {
  const figures = await Promise.all((await familyOf(pid)).map(figureOf))
  return figures.reduce<number | null>(
    (sum, figure) => (sum === null || figure === null ? null : sum + figure),
    0
  )
}

/** Lets the peaks of a process and its workers begin anew; false where the system does not allow it. */
export const forgetPeak = async (pid: number): Promise<boolean> => {
  const done = (await familyOf(pid)).map((one) =>
    writeFile(`/proc/${one}/clear_refs`, "5").then(
      () => true,
      () => false
    )
  )
  return (await Promise.all(done)).every(Boolean)
}

/** Most memory each process had at a time, added up, in megabytes; null where nobody tells. */
export const peakMegabytes = (pid: number): Promise<number | null> =>
  sumOverFamily(pid, async (one) => {
    const status = await readFile(`/proc/${one}/status`, "utf8").catch(() => "")
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
    return kilobytes === undefined ? null : (Number(kilobytes) * 1024) / MEGABYTE
  })

/** Linux counts in hundredths of a second for every program. */
const TICKS_PER_SECOND = 100

/** Seconds of processor time the family has had so far; null where the system does not tell. */
export const processorSeconds = (pid: number): Promise<number | null> =>
  sumOverFamily(pid, async (one) => {
    const stat = await readFile(`/proc/${one}/stat`, "utf8").catch(() => "")
    // The name before may hold spaces and brackets, so the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    const ticks = Number(fields[11]) + Number(fields[12])
    return Number.isNaN(ticks) ? null : ticks / TICKS_PER_SECOND
  })
