#!/usr/bin/env node
/** `media-gateway rotate-master-key` as a program of its own. */
import { startWith } from "../nodeVersion.ts"

startWith(() => {
  const [FIRST_ARGUMENT, NONE] = [2, 0]
  process.argv.splice(FIRST_ARGUMENT, NONE, "rotate-master-key")
  return import("../launch.ts")
})
