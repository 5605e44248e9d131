import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"

/** The most memory the process has had so far, where the system tells it; else what it has now. */
export const peakMebibytes = (pid: number): number => {
  const status = `/proc/${pid}/status`
  const kibibytes = existsSync(status)
    ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, "utf8"))?.[1]
    : execFileSync("ps", ["-o", "rss=", "-p", `${pid}`], { encoding: "utf8" }).trim()
  return Number(kibibytes) / 1024
}
