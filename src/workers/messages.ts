/** What the primary process and its workers say to each other. */
import { Schema } from "effect"

const Id = Schema.Int

export const ToPrimary = Schema.Union([
  /** The worker listens. */
  Schema.Struct({ type: Schema.Literal("ready"), url: Schema.String }),
  /** Requests of a key's bucket, which the worker hands out by itself. */
  Schema.Struct({
    type: Schema.Literal("take"),
    id: Id,
    owner: Schema.String,
    perMinute: Schema.Number,
    wanted: Schema.Int
  }),
  /** The metrics of all workers are asked for. */
  Schema.Struct({ type: Schema.Literal("scrape"), id: Id }),
  /** The worker's own, for the round of that number. */
  Schema.Struct({ type: Schema.Literal("collected"), round: Id, text: Schema.String })
])
export type ToPrimary = typeof ToPrimary.Type

export const ToWorker = Schema.Union([
  Schema.Struct({ type: Schema.Literal("stop") }),
  Schema.Struct({
    type: Schema.Literal("granted"),
    id: Id,
    granted: Schema.Int,
    remaining: Schema.Int,
    resetMillis: Schema.Number,
    retryMillis: Schema.Number
  }),
  Schema.Struct({ type: Schema.Literal("collect"), round: Id }),
  Schema.Struct({ type: Schema.Literal("scraped"), id: Id, text: Schema.String })
])
export type ToWorker = typeof ToWorker.Type
