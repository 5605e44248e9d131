#!/usr/bin/env node
/** The command `media-gateway`. */
import { startWith } from "./nodeVersion.ts"

/**
 * Compiled modules are kept inside the package, where whoever could change them could change the
 * modules. Where that cannot be written to, or NODE_COMPILE_CACHE names a place, nothing is done.
 */
const keepCompiled = async () => {
  const { enableCompileCache } = await import("node:module")
  const { fileURLToPath } = await import("node:url")
  enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)))
}

startWith(() => keepCompiled().then(() => import("./launch.ts")))
