import { Metric } from "effect"
import { completionLagSeconds } from "../services/metrics.ts"

/**
 * Counts a task's end. `seconds` have passed since the previous question about it, which was still
 * answered with processing: the end cannot have been noticed later than that.
 */
export const noteCompletion = (channel: string, seconds: number) =>
  Metric.update(Metric.withAttributes(completionLagSeconds, { channel }), seconds)
