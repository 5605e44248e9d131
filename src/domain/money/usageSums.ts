/** How usage is summed up: in what steps of time, and what sums are told apart by. */

/** Hours, days and months of the deployment's zone. */
export const sumSteps = ["hour", "day", "month"] as const
export type SumStep = (typeof sumSteps)[number]

/** `tag` takes the texts of one name. */
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
