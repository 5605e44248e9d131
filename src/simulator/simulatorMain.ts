#!/usr/bin/env node
/** The command that runs the simulator alone, configured by environment variables. */
import { startWith } from "../nodeVersion.ts"

startWith(() => import("./simulatorProcess.ts").then(({ run }) => run()))
