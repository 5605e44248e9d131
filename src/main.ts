#!/usr/bin/env node
/** The command `media-gateway`. */
import { keepCompiled } from "./compileCache.ts"

if (import.meta.main) {
  keepCompiled()
  await import("./start.ts")
}
