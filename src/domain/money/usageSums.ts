/** Aggregation of usage: the time intervals and the grouping keys. */

/** The time intervals, by the calendar of the deployment's time zone. */
export const sumSteps = ["hour", "day", "month"] as const
export type SumStep = (typeof sumSteps)[number]

/** The grouping keys; `tag` groups by the values of one metadata name. */
export const sumGroups = [
  "model",
  "modality",
  "member",
  "key",
  "organization",
  "channel",
  "tag"
] as const
export type SumGroup = (typeof sumGroups)[number]
