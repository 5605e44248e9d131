import { spawn } from "node:child_process"

const script = `
pid=
while read -r line; do
  [ "$line" = dismissed ] && exit 0
  pid=$line
done
if [ -n "$pid" ]; then
  kill -s "$1" "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
fi
shift
[ $# -gt 0 ] && rm -rf "$@"
`

/** Looks after a process and directories that must not outlive this process. */
export interface Guard {
  /** The process to end; replaces the one named before. */
  readonly watch: (pid: number | undefined) => void
  /** To be called when process and directories are gone. */
  readonly dismiss: () => void
}

/**
 * Starts a shell that waits on a pipe. When this process dies in any way, kill -9 included, the
 * kernel closes the pipe; the shell then sends the watched process `signal`, waits for its end and
 * removes the directories.
 */
export const startGuard = (options: {
  readonly signal: "INT" | "KILL"
  readonly directories?: ReadonlyArray<string>
}): Guard => {
  // In a process group of its own, since a terminal interrupts the whole group of the tests.
  const shell = spawn(
    "/bin/sh",
    ["-c", script, "guard", options.signal, ...(options.directories ?? [])],
    { stdio: ["pipe", "ignore", "ignore"], detached: true }
  )
  shell.unref()
  // Writing to a shell that somebody killed is no reason to fail a test.
  shell.stdin.on("error", () => undefined)
  return {
    watch: (pid) => {
      if (pid !== undefined) shell.stdin.write(`${pid}\n`)
    },
    dismiss: () => {
      shell.stdin.end("dismissed\n")
    }
  }
}
