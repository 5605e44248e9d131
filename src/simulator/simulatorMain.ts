#!/usr/bin/env node
/** The vendors' side alone, as its environment describes it. */
import { startWith } from "../nodeVersion.ts"

startWith(() => import("./simulatorProcess.ts").then(({ run }) => run()))
