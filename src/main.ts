#!/usr/bin/env node
/** The command `media-gateway`. */
import { startWith } from "./nodeVersion.ts"

startWith(() => import("./launch.ts"))
