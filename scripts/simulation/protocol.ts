/** What the command and its processes tell each other: one line of JSON each. */
import { Schema } from "effect"

/** What a process has to play: `count` seeds from `first` on, each `stride` after the one before. */
export const Task = Schema.Struct({
  first: Schema.Int,
  stride: Schema.Int,
  count: Schema.Int,
  /** Whether each seed is a year of many organisations, and not a world of some seconds. */
  isYear: Schema.Boolean,
  /** Whether each seed is played a second time, and the two logs compared. */
  isTwice: Schema.Boolean,
  /** Whether a plan that breaks a rule is made smaller. */
  isShrinking: Schema.Boolean,
  /** Replaces the end of the plan, in milliseconds after the first order; null for none. */
  untilMillis: Schema.NullOr(Schema.Int),
  /** The clients and faults that are left out. */
  without: Schema.Array(Schema.String),
  /** Where the log of the last seed is written; null for nowhere. */
  logPath: Schema.NullOr(Schema.String)
})
export type Task = typeof Task.Type
export const TaskLine = Schema.fromJsonString(Task)

/** What a process tells of a seed. */
export const Result = Schema.Struct({
  seed: Schema.Int,
  violations: Schema.Array(Schema.String),
  /** The command of the smallest plan that breaks a rule; null where none is broken. */
  command: Schema.NullOr(Schema.String),
  /** The digest of the log. */
  digest: Schema.String,
  /** How many cases each rule was checked on. */
  checked: Schema.Record(Schema.String, Schema.Int),
  steps: Schema.Int,
  statements: Schema.Int,
  requests: Schema.Int,
  orders: Schema.Int,
  faults: Schema.Int,
  simulatedMillis: Schema.Int
})
export type Result = typeof Result.Type
export const ResultLine = Schema.fromJsonString(Result)
