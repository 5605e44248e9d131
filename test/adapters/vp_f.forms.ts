/** Orders and answers of vp_f's envelope, which a family of the relay shares. */
import type { VideoUsage } from "../../src/domain/video/VideoCharge.ts"
import { done, failed, OUTPUT, PROMPT, processing, unknown } from "./blocks.ts"
import { lost, refused } from "./failures.ts"
import { strangeWords, UPSTREAM_ID, type VideoSubject } from "./VideoAdapter.suite.ts"
import { ordersOfVpF } from "./vp_f.orders.ts"

const task = (task_status: string, more: object = {}) => ({
  request_id: "r-1",
  output: { task_id: UPSTREAM_ID, task_status, submit_time: "2026-01-01 12:00:00.100", ...more }
})
const submitted = { request_id: "r-1", output: { task_id: UPSTREAM_ID, task_status: "PENDING" } }

const flat = (code: string) => ({ code, message: `fault ${code}`, request_id: "r-1" })
const snake = { error: { code: "invalid_api_key", message: "who?", type: "invalid_request_error" } }

type Seconds = Omit<VideoUsage, "completionTokens">

const seconds = (tenths: bigint) => ({ amountNano: tenths * 100_000_000n, unit: "second" }) as const

/** What vendors report of lengths, and what is read of it. */
const usages: ReadonlyArray<readonly [usage: unknown, read: Partial<Seconds>]> = [
  [
    { duration: 7, output_video_duration: 7, SR: 720, video_count: 1 },
    { outputSeconds: 7, totalSeconds: 7, resolution: "720p", bill: seconds(70n) }
  ],
  [
    { duration: 12, input_video_duration: 5, output_video_duration: 7 },
    { outputSeconds: 7, inputSeconds: 5, totalSeconds: 12, bill: seconds(120n) }
  ],
  [
    { duration: "12", input_video_duration: "5", output_video_duration: "7" },
    { outputSeconds: 7, inputSeconds: 5, totalSeconds: 12, bill: seconds(120n) }
  ],
  [{ video_duration: 5, video_ratio: "16:9", video_count: 1 }, { outputSeconds: 5 }],
  [
    { duration: 9, SR: "720" },
    { totalSeconds: 9, resolution: "720p", bill: seconds(90n) }
  ],
  [
    { duration: 12, input_video_duration: 5 },
    { inputSeconds: 5, totalSeconds: 12, bill: seconds(120n) }
  ],
  [
    { duration: 11.9, input_video_duration: 4.2 },
    { inputSeconds: 5, totalSeconds: 12, bill: seconds(119n) }
  ],
  [{ output_video_duration: 7.5 }, { outputSeconds: 8 }],
  [{ output_video_duration: -7, duration: "seven" }, {}],
  [{ duration: 1e10 }, {}],
  [{ output_video_duration: "" }, {}],
  [{ duration: [7] }, {}],
  [{}, {}],
  [null, {}],
  ["7", {}]
]

/** `path` is where every order goes. */
export const formsOfVpF = (path: string) =>
  ({
    model: "m-1",
    ...ordersOfVpF(path),
    submitted,
    submits: [
      ...(
        [
          ["InvalidParameter", 400],
          ["DataInspectionFailed", 400],
          ["InvalidApiKey", 401],
          ["Arrearage", 402],
          ["AccessDenied.Unpurchased", 403],
          ["ModelNotFound", 403],
          ["RequestTimeOut", 408],
          ["Throttling.RateQuota", 429],
          ["InternalError.Timeout", 500],
          ["Unheard", 502],
          ["constructor", 502]
        ] as const
      ).map(([code, effectiveStatus]) => ({
        says: `${code} in an HTTP 200 is refused as ${effectiveStatus}`,
        reply: { body: flat(code) },
        failure: refused(200, flat(code), { effectiveStatus, message: `fault ${code}` })
      })),
      {
        says: "an empty account is no fault of the client's, though it is an HTTP 400",
        reply: { status: 400, body: flat("Arrearage") },
        failure: refused(400, flat("Arrearage"), {
          effectiveStatus: 402,
          message: "fault Arrearage"
        })
      },
      {
        says: "an HTTP status counts before the code",
        reply: { status: 413, body: flat("BadRequest.TooLarge") },
        failure: refused(413, flat("BadRequest.TooLarge"), { message: "fault BadRequest.TooLarge" })
      },
      {
        says: "the other error form is read too",
        reply: { status: 401, body: snake },
        failure: refused(401, snake, { message: "who?" })
      },
      {
        says: "the other error form in an HTTP 200 is a refusal",
        reply: { body: snake },
        failure: refused(200, snake, { effectiveStatus: 401, message: "who?" })
      },
      ...[
        { output: {} },
        { output: { task_id: "" } },
        { output: { task_id: 7 } },
        { output: null },
        { output: { task_id: null }, code: "", message: "" }
      ].map((body) => ({
        says: `${JSON.stringify(body)} names no task, so the job may be lost`,
        reply: { body },
        failure: lost("broken_answer", 200)
      }))
    ],
    polls: [
      ...["PENDING", "RUNNING", "SUSPENDED", "succeeded", ...strangeWords].map((word) => ({
        says: `the status ${JSON.stringify(word)} is in the works`,
        body: task(word),
        status: processing
      })),
      {
        says: "a finished task shows its video",
        body: task("SUCCEEDED", { video_url: OUTPUT, orig_prompt: PROMPT }),
        status: done
      },
      ...usages.map(([usage, { bill, ...lengths }]) => ({
        says: `the usage ${JSON.stringify(usage)} is read as ${JSON.stringify(lengths)}`,
        body: { ...task("SUCCEEDED", { video_url: OUTPUT }), usage },
        status: { ...done, usage: { ...done.usage, ...lengths, ...(bill && { bill }) } }
      })),
      {
        says: "a failed task tells its code and message",
        body: task("FAILED", { code: "InvalidParameter", message: "no such size" }),
        status: failed("InvalidParameter", "no such size")
      },
      {
        says: "a failed task fails whatever its other fields hold",
        body: task("FAILED", { code: 7, message: null, video_url: 8 }),
        status: failed("FAILED", "The vendor failed to make the video")
      },
      ...["CANCELED", "CANCELLED"].map((word) => ({
        says: `${word} is a failure`,
        body: task(word),
        status: failed("cancelled", "The vendor cancelled the task")
      })),
      {
        says: "UNKNOWN is an unknown task",
        body: { request_id: "r-1", output: { task_id: UPSTREAM_ID, task_status: "UNKNOWN" } },
        status: unknown
      },
      {
        says: "HTTP 404 is an unknown task",
        httpStatus: 404,
        body: flat("NotFound"),
        status: unknown
      }
    ],
    brokenPolls: [
      { says: "no status", body: { output: { task_id: UPSTREAM_ID } } },
      { says: "no output", body: { request_id: "r-1" } },
      { says: "a success without a video", body: task("SUCCEEDED") },
      { says: "a success with an empty address", body: task("SUCCEEDED", { video_url: "" }) }
    ],
    failedPolls: [
      {
        says: "a code without an output",
        reply: { body: flat("InternalError") },
        failure: refused(200, flat("InternalError"), {
          effectiveStatus: 500,
          message: "fault InternalError"
        })
      }
    ],
    failedWith: (message) => task("FAILED", { code: "x", message })
  }) satisfies Partial<VideoSubject>
