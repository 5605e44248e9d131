/** The environment in which all cases run. */
import { Schema } from "effect"
import type { Placement } from "../measure/machine.ts"
import type { BenchOptions } from "../options.ts"
import type { Server } from "./server.ts"
import type { Vendor } from "./vendorControl.ts"

export interface World {
  readonly options: BenchOptions
  readonly placement: Placement
  readonly server: Server
  readonly vendor: Vendor
}

/** A failure of the benchmark, because of which its figures would mean nothing. */
export class BenchFailed extends Schema.TaggedError<BenchFailed>()("BenchFailed", {
  message: Schema.String
}) {}
