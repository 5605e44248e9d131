/** The cheap vendor as a process, and the client of its control API. */
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { good } from "../../../test/support/cluster.ts"
import { call } from "../../../test/support/http.ts"
import { startProcess } from "../../../test/support/processes.ts"

const Done = Schema.Array(Schema.Tuple([Schema.String, Schema.Finite]))

export interface Vendor {
  readonly url: string
  readonly pid: number
  /** Sets the duration of the tasks that are ordered later. */
  takes(millis: number): Effect.Effect<void>
  /** Ends all open tasks, spread evenly over a time. */
  finish(overMillis: number): Effect.Effect<void>
  /** Deletes all tasks. */
  readonly forget: Effect.Effect<void>
  /** The completion time of each task by the vendor's id, in milliseconds since 1970. */
  readonly done: Effect.Effect<ReadonlyMap<string, number>>
}

/** Starts the vendor on the core of this process. */
export const startVendor = Effect.gen(function* () {
  const process = yield* startProcess({ entry: join(import.meta.dirname, "vendor.ts") })
  const [, url = ""] = yield* process.waitForLine(/listens on (http:\S+)/)
  const tell = (what: string) =>
    Effect.flatMap(call(`${url}/_bench/${what}`), (answer) => good(Schema.Unknown, answer))
  const vendor: Vendor = {
    url,
    pid: process.pid,
    takes: (millis) => Effect.asVoid(tell(`takes?millis=${millis}`)),
    finish: (overMillis) => Effect.asVoid(tell(`finish?over=${overMillis}`)),
    forget: Effect.asVoid(tell("forget")),
    done: Effect.map(
      Effect.flatMap(call(`${url}/_bench/done`), (answer) => good(Done, answer)),
      (entries) => new Map(entries)
    )
  }
  return vendor
})
