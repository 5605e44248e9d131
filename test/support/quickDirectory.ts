import { statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const MEMORY = "/dev/shm"
const ROOM_FOR_ALL = 2 * 1024 ** 3

/**
 * Where databases lie that only tests will ever need: in memory, where there is room. On a disk each
 * commit of an embedded one waits, and a server's takes the kernel long to copy file by file.
 */
export const quickDirectory = (): string => {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= ROOM_FOR_ALL ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}
