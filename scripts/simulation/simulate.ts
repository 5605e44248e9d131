/** Plays seeds in processes of their own, and adds up what they tell. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { type Result, ResultLine, type Task, TaskLine } from "./protocol.ts"

const entry = fileURLToPath(new URL("process.ts", import.meta.url))
const encodeTask = Schema.encodeSync(TaskLine)
const decodeResult = Schema.decodeSync(ResultLine)

export interface SimulationOptions extends Omit<Task, "stride"> {
  readonly processes: number
  /** Called with the result of each seed; false ends all processes. */
  readonly onResult: (result: Result) => boolean
}

/** Seeds that one process plays. */
const MOST_SEEDS = 500

/** The last lines that a process prints, which tell why it ended. */
const LAST_LINES = 20

const run = async (
  task: Task,
  children: Set<ChildProcess>,
  onResult: SimulationOptions["onResult"]
): Promise<void> => {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "--no-deprecation", entry, encodeTask(task)],
    { stdio: ["ignore", "pipe", "pipe"] }
  )
  children.add(child)
  const complaints: Array<string> = []
  createInterface(child.stderr).on("line", (line) => {
    complaints.push(line)
    if (complaints.length > LAST_LINES) complaints.shift()
  })
  let isWanted = true
  const exit = once(child, "exit")
  for await (const line of createInterface(child.stdout)) {
    if (!isWanted) continue
    isWanted = onResult(decodeResult(line))
    if (!isWanted) for (const other of children) other.kill("SIGKILL")
  }
  const [code, signal] = await exit
  children.delete(child)
  if (code !== 0 && signal === null) {
    throw new Error(`a process of the simulation ended with ${code}:\n${complaints.join("\n")}`)
  }
}

/** Plays the seeds, shared among the processes, and resolves when all have been told. */
export const simulate = async (options: SimulationOptions): Promise<void> => {
  const { processes, onResult, first, count, ...task } = options
  const children = new Set<ChildProcess>()
  const stride = Math.min(processes, count)
  let isWanted = true
  const onEach = (result: Result) => {
    isWanted &&= onResult(result)
    return isWanted
  }
  /** Plays every `stride`th seed, some in each process, because the worlds of a process add up in memory. */
  const playShare = async (index: number) => {
    const share = Math.ceil((count - index) / stride)
    for (let done = 0; done < share && isWanted; done += MOST_SEEDS) {
      const seeds = Math.min(MOST_SEEDS, share - done)
      const start = first + index + done * stride
      await run({ ...task, first: start, stride, count: seeds }, children, onEach)
    }
  }
  try {
    await Promise.all(Array.from({ length: stride }, (_, index) => playShare(index)))
  } finally {
    for (const child of children) child.kill("SIGKILL")
  }
}
