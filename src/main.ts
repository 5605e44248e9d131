#!/usr/bin/env node
/** The command `media-gateway`. */
if (import.meta.main) await import("./start.ts")
