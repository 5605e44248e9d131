/**
 * Keeps what Node has compiled of the gateway's modules for the next start, which takes half of the
 * processor time then. It is written at an orderly end; where it cannot be, every start compiles anew.
 */
import { mkdirSync } from "node:fs"
import { enableCompileCache } from "node:module"
import { join } from "node:path"

/**
 * Must come before the modules it is for are imported. In a directory of our own: whoever can write
 * there could change what runs. NODE_COMPILE_CACHE names another one, and Node follows it by itself.
 */
export const keepCompiled = (): void => {
  if ((process.env.NODE_COMPILE_CACHE ?? "") !== "") return
  const dataDir = process.env.DATA_DIR || ".data"
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  } catch {
    return
  }
  enableCompileCache(join(dataDir, "compiled"))
}
