/** Answers of Google and MiniMax to orders that were not taken, by their pages of error codes. */
import { ACCOUNT, page, type RefusalRow } from "./recordedAnswers.rows.ts"

const shot = "veo-3.1-generate-preview"
const sketch = "gemini-3-pro-image-preview"
const reel = "MiniMax-H3"

const google = (
  code: number,
  status: string,
  message: string,
  details: ReadonlyArray<object> = []
) => ({ error: { code, message, status, ...(details.length === 0 ? {} : { details }) } })

const reason = (name: string) => [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: name, domain: "googleapis.com" }
]

type Means = RefusalRow["means"]

const googleRows: ReadonlyArray<
  readonly [says: string, body: ReturnType<typeof google>, means: Means, told: number]
> = [
  [
    "an argument that is wrong",
    google(400, "INVALID_ARGUMENT", "The value is out of bound."),
    { effectiveStatus: 400, proof: "refused" },
    400
  ],
  [
    "our key is wrong, with the status of a wrong argument",
    google(400, "INVALID_ARGUMENT", `The key of ${ACCOUNT} is wrong.`, reason("API_KEY_INVALID")),
    { effectiveStatus: 401, proof: "credentials_refused" },
    502
  ],
  [
    "our project has no billing",
    google(400, "FAILED_PRECONDITION", `Enable billing on project ${ACCOUNT}.`),
    { effectiveStatus: 403, proof: "credentials_refused" },
    502
  ],
  [
    "our project may not use the service",
    google(403, "PERMISSION_DENIED", `Project ${ACCOUNT} may not.`, reason("SERVICE_DISABLED")),
    { effectiveStatus: 403, proof: "credentials_refused" },
    502
  ],
  [
    "there is no such model for us",
    google(404, "NOT_FOUND", "The model is not found for API version v1beta."),
    { effectiveStatus: 403, proof: "model_unknown" },
    502
  ],
  [
    "our quota is used up",
    google(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    { effectiveStatus: 429, proof: "rate_limited" },
    503
  ],
  [
    "the model is overloaded",
    google(503, "UNAVAILABLE", "The model is overloaded."),
    { effectiveStatus: 503, proof: "overloaded" },
    502
  ],
  [
    "an error of its own, after which a job may exist",
    google(500, "INTERNAL", "An internal error has occurred."),
    { effectiveStatus: 500, proof: null },
    502
  ],
  [
    "the deadline of its own is over",
    google(504, "DEADLINE_EXCEEDED", "The deadline is over."),
    { effectiveStatus: 504, proof: null },
    504
  ]
]

const googleRefusals: ReadonlyArray<RefusalRow> = googleRows.flatMap(
  ([says, body, means, told]): ReadonlyArray<RefusalRow> => {
    const row = { says, source: page, status: body.error.code, body, means, told, hides: [ACCOUNT] }
    return [
      { ...row, protocol: "veo", upstreamModel: shot },
      { ...row, protocol: "gemini", upstreamModel: sketch }
    ]
  }
)

const refusedPrompt = (blockReason: string): RefusalRow => ({
  protocol: "gemini",
  says: `a prompt that is blocked as ${blockReason}`,
  source: page,
  body: { promptFeedback: { blockReason }, usageMetadata: { promptTokenCount: 4 } },
  upstreamModel: sketch,
  means: { effectiveStatus: 400, proof: "refused" },
  told: 400
})

const withheldImage = (finishReason: string, isVerdict: boolean): RefusalRow => ({
  protocol: "gemini",
  says: `no image, for ${finishReason}`,
  source: page,
  body: { candidates: [{ finishReason, index: 0 }], usageMetadata: { promptTokenCount: 4 } },
  upstreamModel: sketch,
  means: isVerdict
    ? { effectiveStatus: 400, proof: "refused" }
    : { effectiveStatus: 502, proof: null },
  told: isVerdict ? 400 : 502
})

const minimax = (status: number, type: string, message: string) => ({
  protocol: "minimax" as const,
  source: page,
  status,
  body: { type: "error", error: { type, message, http_code: String(status) }, request_id: "r" },
  upstreamModel: reel
})
const older = (status_code: number, status_msg: string) => ({
  protocol: "minimax" as const,
  source: page,
  body: { base_resp: { status_code, status_msg } },
  upstreamModel: reel
})

const minimaxRefusals: ReadonlyArray<RefusalRow> = [
  {
    ...minimax(400, "bad_request_error", "invalid params (2013)"),
    says: "an argument that is wrong",
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    ...minimax(401, "authentication_error", "login fail (1004)"),
    says: "our key is wrong",
    means: { effectiveStatus: 401, proof: "credentials_refused" },
    told: 502
  },
  {
    ...minimax(400, "insufficient_balance_error", `${ACCOUNT} has no balance (1008)`),
    says: "our account is empty, with the status of a wrong argument",
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    ...minimax(429, "rate_limit_error", "rate limit (1002)"),
    says: "too many orders",
    means: { effectiveStatus: 429, proof: "rate_limited" },
    told: 503
  },
  {
    ...minimax(500, "api_error", "internal error (1033)"),
    says: "an error of its own, after which a job may exist",
    means: { effectiveStatus: 500, proof: null },
    told: 502
  },
  {
    ...older(1008, `${ACCOUNT} has no balance`),
    says: "our account is empty, in the older form",
    means: { effectiveStatus: 402, proof: "account_empty" },
    told: 502,
    hides: [ACCOUNT]
  },
  {
    ...older(1026, "input new_sensitive"),
    says: "an input that may not be shown, in the older form",
    means: { effectiveStatus: 400, proof: "refused" },
    told: 400
  },
  {
    ...older(1027, "output new_sensitive"),
    says: "an output that may not be shown, which was made",
    means: { effectiveStatus: 502, proof: null },
    told: 502
  }
]

export const laterRefusals: ReadonlyArray<RefusalRow> = [
  ...googleRefusals,
  ...["SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST"].map(refusedPrompt),
  ...["SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT"].map((one) => withheldImage(one, true)),
  ...["NO_IMAGE", "OTHER", "MAX_TOKENS"].map((one) => withheldImage(one, false)),
  ...minimaxRefusals
]
