/**
 * The CPU time that processes and cores have used so far, as Linux reports it; NaN where it is not
 * available.
 */
import { readFile, writeFile } from "node:fs/promises"
import type { Window } from "./window.ts"

const read = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "")
const sum = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((total, one) => total + one, 0)
const NONE = Number.NaN

/** Linux reports CPU time to programs in hundredths of a second. */
const TICKS_PER_SECOND = 100
const BYTES_PER_MEGABYTE = 2 ** 20

/** The user and system time of a process, and that of its terminated children. */
const processorTicks = async (
  pid: number
): Promise<{ readonly own: number; readonly ended: number }> => {
  const stat = await read(`/proc/${pid}/stat`)
  // The name before the fields may contain spaces and brackets, so the fields are counted after the
  // last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [user = NONE, system = NONE, endedUser = NONE, endedSystem = NONE] = fields
    .slice(11, 15)
    .map(Number)
  return { own: user + system, ended: endedUser + endedSystem }
}

const processorSeconds = async (pid: number): Promise<number> =>
  (await processorTicks(pid)).own / TICKS_PER_SECOND

/**
 * The CPU time of the server's main process and of all its children, including the terminated ones.
 */
export const postgresSeconds = async (pid: number): Promise<number> => {
  const main = await processorTicks(pid)
  const children = (await read(`/proc/${pid}/task/${pid}/children`)).split(" ").filter(Boolean)
  const open = await Promise.all(children.map((child) => processorTicks(Number(child))))
  // A child that ends between the two readings is missing in both.
  const running = open.map(({ own }) => own).filter((ticks) => !Number.isNaN(ticks))
  return (main.own + main.ended + sum(running)) / TICKS_PER_SECOND
}

const IDLE = 3
const WAITING_FOR_DISK = 4

/**
 * The time in which the first two cores were not idle, including interrupts and other guests of the
 * machine.
 */
const busySeconds = async (): Promise<readonly [number, number]> => {
  const stat = await read("/proc/stat")
  const [first = NONE, second = NONE] = [0, 1].map((core) => {
    const [, line = ""] = new RegExp(`^cpu${core} +(.+)$`, "m").exec(stat) ?? []
    // The last two fields (time of guests) are already included in the first two (user time).
    const ticks = line.split(" ").map(Number).slice(0, 8)
    if (ticks.length < 8) return NONE
    return sum(ticks.filter((_, field) => field !== IDLE && field !== WAITING_FOR_DISK))
  })
  return [first / TICKS_PER_SECOND, second / TICKS_PER_SECOND]
}

export interface Measured {
  /** The process ids of the subject; empty where the vendor itself is the subject. */
  readonly subject: ReadonlyArray<number>
  readonly vendor: number
  /** The main process of PostgreSQL; null where PostgreSQL does not run on this machine. */
  readonly postgres: number | null
}

export interface Usage {
  readonly atMillis: number
  readonly subject: number
  readonly vendor: number
  readonly load: number
  readonly postgres: number
  readonly cores: readonly [number, number]
}

export const readUsage = async ({ subject, vendor, postgres }: Measured): Promise<Usage> => ({
  atMillis: performance.now(),
  subject: subject.length === 0 ? NONE : sum(await Promise.all(subject.map(processorSeconds))),
  vendor: await processorSeconds(vendor),
  load: await processorSeconds(process.pid),
  postgres: postgres === null ? NONE : await postgresSeconds(postgres),
  cores: await busySeconds()
})

/** The shares of a core that were used between two readings. */
export const busyBetween = (from: Usage, to: Usage): Partial<Window> => {
  const seconds = (to.atMillis - from.atMillis) / 1000
  return {
    subjectBusy: (to.subject - from.subject) / seconds,
    vendorBusy: (to.vendor - from.vendor) / seconds,
    loadBusy: (to.load - from.load) / seconds,
    postgresBusy: (to.postgres - from.postgres) / seconds,
    core0Busy: (to.cores[0] - from.cores[0]) / seconds,
    core1Busy: (to.cores[1] - from.cores[1]) / seconds
  }
}

/** Resets the peak memory of a process; false where the system does not allow that. */
export const forgetPeak = (pid: number): Promise<boolean> =>
  writeFile(`/proc/${pid}/clear_refs`, "5").then(
    () => true,
    () => false
  )

/** The peak memory of a process, in megabytes. */
export const peakMegabytes = async (pid: number): Promise<number> => {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(await read(`/proc/${pid}/status`)) ?? []
  return kilobytes === undefined ? NONE : (Number(kilobytes) * 1024) / BYTES_PER_MEGABYTE
}
