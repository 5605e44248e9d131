#!/usr/bin/env node
/** A separate program for `media-gateway rotate-master-key`. */
import { startWith } from "../nodeVersion.ts"

startWith(() => {
  const [FIRST_ARGUMENT, NONE] = [2, 0]
  process.argv.splice(FIRST_ARGUMENT, NONE, "rotate-master-key")
  return import("../launch.ts")
})
