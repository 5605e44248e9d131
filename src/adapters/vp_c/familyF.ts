/** The relay's family f: vp_f's envelope and answers on paths that differ a little. */
import { Result } from "effect"
import { extras, toBody } from "../vp_f.body.ts"
import { readPolled, readSubmitted } from "../vp_f.ts"
import type { Family } from "./Family.ts"

export const familyF: Family = {
  toSubmit: (order) =>
    Result.map(toBody(order), (body) => ({
      path: "/api/v1/services/aigc/video-generation/generation",
      body
    })),
  extras,
  readSubmitted,
  pollPath: (upstreamId) => `/api/v1/tasks/video/${encodeURIComponent(upstreamId)}`,
  readPolled
}
