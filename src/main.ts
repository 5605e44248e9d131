#!/usr/bin/env node
/** The command `media-gateway`. */
import { withoutAsyncContext } from "./asyncContext.ts"
import { keepCompiled } from "./compileCache.ts"

if (import.meta.main) {
  keepCompiled()
  await withoutAsyncContext(() => import("./start.ts"))
}
