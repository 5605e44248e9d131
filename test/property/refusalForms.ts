/**
 * How vendors refuse by their documents, and everything that looks like it and is none: written from the
 * documents and not from the adapters' tables, which are tried with it.
 */
import { ways } from "../support/protocolCatalog.ts"
import type { Dice } from "../support/randomOrders.ts"
import { otherModels } from "./plans.ts"

type Body = Readonly<Record<string, unknown>>
type Headers = Readonly<Record<string, string>>

/** What follows from a refusal that proves that nothing was made. */
type Follows = "nothing" | "next mount" | "next key"

interface Documented {
  readonly status: number
  readonly body: Body
  readonly follows: Follows
  /** The vendor also says it with HTTP 200. */
  readonly isInOk?: boolean
}

type Dialect =
  | "content"
  | "codes"
  | "reasons"
  | "cloud"
  | "standard"
  | "relay"
  | "fal"
  | "replicate"
  | "google"
  | "minimax"

const REQUEST_ID = "0385dc79-5ff8-4d82-bcb6-000000000001"
const WHY = `The request was refused. Request id: ${REQUEST_ID}`

const inObject =
  (type: string) =>
  (status: number, code: string | null, follows: Follows): Documented => ({
    status,
    body: { error: { message: WHY, type, param: null, code } },
    follows
  })
const content = inObject("BadRequest")
const byNumber = (status: number, code: number, follows: Follows): Documented => ({
  status,
  body: { code, message: WHY, request_id: REQUEST_ID },
  follows,
  isInOk: true
})
const byReason = (status: number, reason: string, follows: Follows): Documented => ({
  status,
  body: { code: status, reason, message: WHY, metadata: { trace_id: REQUEST_ID } },
  follows
})
const byWord = (status: number, code: string, follows: Follows, isInOk = false): Documented => ({
  status,
  body: { code, message: WHY, request_id: REQUEST_ID },
  follows,
  isInOk
})

const byDetail = (status: number, type: string, follows: Follows): Documented => ({
  status,
  body: { detail: [{ loc: ["body", "prompt"], msg: WHY, type }] },
  follows
})
const byTitle = (status: number, title: string, follows: Follows): Documented => ({
  status,
  body: { title, detail: WHY, status },
  follows
})
const byGoogle = (status: number, name: string, follows: Follows, reason?: string): Documented => ({
  status,
  body: {
    error: {
      code: status,
      message: WHY,
      status: name,
      ...(reason === undefined ? {} : { details: [{ reason, domain: "googleapis.com" }] })
    }
  },
  follows
})
const byBase = (code: number, follows: Follows): Documented => ({
  status: 200,
  body: { task_id: "", base_resp: { status_code: code, status_msg: WHY } },
  follows
})

const documented: Readonly<Record<Dialect, ReadonlyArray<Documented>>> = {
  content: [
    content(400, "InvalidParameter.duration", "nothing"),
    content(400, "MissingParameter", "nothing"),
    content(400, "InputTextSensitiveContentDetected.PolicyViolation", "nothing"),
    content(401, "AuthenticationError", "next key"),
    content(403, "AccountOverdueError", "next key"),
    content(403, "AccessDenied", "next key"),
    content(404, "InvalidEndpointOrModel.NotFound", "next mount"),
    content(404, "ModelNotOpen", "next mount"),
    content(429, "RateLimitExceeded.EndpointRPMExceeded", "next mount"),
    content(429, "ModelAccountRpmRateLimitExceeded", "next mount"),
    content(429, "AccountRateLimitExceeded", "next mount"),
    content(429, "RequestBurstTooFast", "next mount"),
    content(429, "QuotaExceeded", "next mount"),
    content(429, "ServerOverloaded", "next mount"),
    content(429, "SetLimitExceeded", "next key")
  ],
  codes: [
    ...[1000, 1001, 1002, 1003, 1004].map((code) => byNumber(401, code, "next key")),
    ...[1100, 1101, 1102].map((code) => byNumber(429, code, "next key")),
    byNumber(403, 1103, "next key"),
    byNumber(400, 1200, "nothing"),
    byNumber(400, 1201, "nothing"),
    byNumber(404, 1202, "next mount"),
    byNumber(404, 1203, "next mount"),
    byNumber(400, 1300, "nothing"),
    byNumber(400, 1301, "nothing"),
    ...[1302, 1303, 1304].map((code) => byNumber(429, code, "next mount")),
    byNumber(503, 5001, "next mount")
  ],
  reasons: [
    ...[
      "BadRequest",
      "FieldLacking",
      "FieldUnwanted",
      "ImageDownloadFailure",
      "AuditSubmitIllegal"
    ].map((reason) => byReason(400, reason, "nothing")),
    byReason(400, "CreditInsufficient", "next key"),
    byReason(401, "Unauthorized", "next key"),
    byReason(403, "Forbidden", "next key"),
    byReason(404, "NotFound", "next mount"),
    ...["QuotaExceeded", "TooManyRequests", "SystemThrottling"].map((reason) =>
      byReason(429, reason, "next mount")
    )
  ],
  cloud: [
    byWord(400, "InvalidParameter", "nothing", true),
    byWord(400, "BadRequest.EmptyInput", "nothing"),
    byWord(400, "DataInspectionFailed", "nothing", true),
    byWord(400, "InvalidURL", "nothing"),
    byWord(400, "Arrearage", "next key", true),
    byWord(401, "InvalidApiKey", "next key", true),
    byWord(403, "AccessDenied.Unpurchased", "next key", true),
    byWord(404, "ModelNotFound", "next mount", true),
    byWord(413, "BadRequest.TooLarge", "nothing"),
    byWord(429, "Throttling", "next mount", true),
    byWord(429, "Throttling.RateQuota", "next mount", true),
    byWord(429, "Throttling.AllocationQuota", "next mount"),
    inObject("invalid_request_error")(401, "invalid_api_key", "next key")
  ],
  standard: [
    inObject("invalid_request_error")(400, "invalid_request", "nothing"),
    inObject("invalid_request_error")(400, null, "nothing"),
    inObject("invalid_request_error")(400, "content_policy_violation", "nothing"),
    inObject("invalid_request_error")(401, "invalid_api_key", "next key"),
    inObject("new_api_error")(401, "", "next key"),
    inObject("insufficient_quota")(402, "insufficient_quota", "next key"),
    inObject("invalid_request_error")(404, "model_not_found", "next mount"),
    inObject("invalid_request_error")(422, "invalid_request", "nothing"),
    inObject("tokens")(429, "rate_limit_exceeded", "next mount"),
    inObject("insufficient_quota")(429, "insufficient_quota", "next key"),
    inObject("server_error")(503, null, "next mount")
  ],
  relay: [
    { status: 400, body: { code: 4006, message: WHY }, follows: "nothing" },
    inObject("")(400, "unsupported_operation", "nothing"),
    inObject("")(401, "invalid_api_key", "next key"),
    inObject("")(403, "no_permission", "next key"),
    { status: 403, body: { error: "No permission" }, follows: "next key" },
    inObject("")(429, "rate_limit_exceeded", "next mount")
  ],
  fal: [
    { status: 401, body: { detail: WHY }, follows: "next key" },
    { status: 403, body: { detail: WHY }, follows: "next key" },
    { status: 404, body: { detail: WHY }, follows: "next mount" },
    { status: 400, body: { detail: WHY, error_type: "bad_request" }, follows: "nothing" },
    byDetail(422, "value_error", "nothing"),
    byDetail(422, "content_policy_violation", "nothing")
  ],
  replicate: [
    byTitle(401, "Unauthenticated", "next key"),
    byTitle(402, "Insufficient credit", "next key"),
    byTitle(404, "Not found", "next mount"),
    {
      status: 429,
      body: { detail: "Request was throttled. Your rate limit resets in ~30s." },
      follows: "next mount"
    },
    byTitle(422, "Input validation failed", "nothing")
  ],
  google: [
    byGoogle(400, "INVALID_ARGUMENT", "nothing"),
    byGoogle(400, "INVALID_ARGUMENT", "next key", "API_KEY_INVALID"),
    byGoogle(400, "FAILED_PRECONDITION", "next key"),
    byGoogle(401, "UNAUTHENTICATED", "next key"),
    byGoogle(403, "PERMISSION_DENIED", "next key"),
    byGoogle(403, "PERMISSION_DENIED", "next key", "SERVICE_DISABLED"),
    byGoogle(404, "NOT_FOUND", "next mount"),
    byGoogle(429, "RESOURCE_EXHAUSTED", "next mount"),
    byGoogle(503, "UNAVAILABLE", "next mount")
  ],
  minimax: [
    inObject("bad_request_error")(400, null, "nothing"),
    inObject("authentication_error")(401, null, "next key"),
    inObject("insufficient_balance_error")(402, null, "next key"),
    inObject("permission_error")(403, null, "next key"),
    inObject("rate_limit_error")(429, null, "next mount"),
    inObject("overloaded_error")(503, null, "next mount"),
    ...[1002, 1039, 1041].map((code) => byBase(code, "next mount")),
    ...[1004, 1008, 2049].map((code) => byBase(code, "next key")),
    ...[1026, 2013].map((code) => byBase(code, "nothing"))
  ]
}

/** Which forms of an error a dialect has. */
type Form = "object" | "text" | "word" | "number" | "reason" | "detail" | "google"
const forms: Readonly<Record<Dialect, ReadonlyArray<Form>>> = {
  content: ["object"],
  codes: ["number"],
  reasons: ["reason"],
  cloud: ["word", "object"],
  standard: ["object"],
  relay: ["object", "text", "number"],
  fal: ["detail"],
  replicate: ["detail"],
  google: ["google"],
  minimax: ["object"]
}

/** An error of each form with a code that no vendor has. */
const strangers: Readonly<Record<Form, Body>> = {
  object: { error: { message: WHY, type: "Unheard", param: null, code: "UpstreamBroke" } },
  text: { error: WHY },
  word: { code: "UpstreamBroke", message: WHY, request_id: REQUEST_ID },
  number: { code: 7123, message: WHY, request_id: REQUEST_ID },
  reason: { code: 400, reason: "UpstreamBroke", message: WHY },
  detail: { detail: WHY, title: "UpstreamBroke", error_type: "UpstreamBroke" },
  google: { error: { code: 400, message: WHY, status: "UPSTREAM_BROKE" } }
}

export const models: ReadonlyArray<string> = [
  ...ways.map(({ model }) => model),
  ...otherModels.map(({ model }) => model),
  "talk",
  "vector"
]

const otherDialects = {
  fal: "fal",
  replicate: "replicate",
  veo: "google",
  gemini: "google",
  minimax: "minimax"
} as const satisfies Record<(typeof otherModels)[number]["protocol"], Dialect>

const dialectOf = (model: string): Dialect => {
  const other = otherModels.find((one) => one.model === model)
  if (other !== undefined) return otherDialects[other.protocol]
  if (/^(?:film|relay)-[ab]$/.test(model)) return "content"
  if (/-d$/.test(model)) return "codes"
  if (/-e$/.test(model)) return "reasons"
  return /^(?:paint-a|relay-paint-standard|talk|vector)$/.test(model) ? "standard" : "cloud"
}

const dialectsOf = (model: string): ReadonlyArray<Dialect> =>
  model.startsWith("relay-") ? [dialectOf(model), "relay"] : [dialectOf(model)]

/** What a vendor answers to an order, and whether it has made what was ordered. */
export interface Said {
  readonly says: string
  readonly status: number
  readonly headers: Headers
  readonly body: string
  readonly isMade: boolean
  /** Null where it is not demanded. */
  readonly follows: Follows | null
  /** What an operator has to be told of the job; null where the answer tells of none. */
  readonly jobId: string | null
}

/** Where an id of a job may stand in a body. */
const places: Readonly<Record<string, (body: Body, id: unknown) => Body>> = {
  id: (body, id) => ({ ...body, id }),
  task_id: (body, id) => ({ ...body, task_id: id }),
  taskId: (body, id) => ({ ...body, taskId: id }),
  job_id: (body, id) => ({ ...body, job_id: id }),
  generation_id: (body, id) => ({ ...body, generation_id: id }),
  "data.id": (body, id) => ({ ...body, data: { id, status: "submitted" } }),
  "data.task_id": (body, id) => ({ ...body, data: { task_id: id } }),
  "data[0].id": (body, id) => ({ ...body, data: [{ id }] }),
  "output.task_id": (body, id) => ({ ...body, output: { task_id: id, task_status: "PENDING" } }),
  "result.task.id": (body, id) => ({ ...body, result: { task: { id } } }),
  "detail.task_ids": (body, id) => ({ ...body, detail: { task_ids: [id] } }),
  "error.task_id": ({ error, ...body }, id) => ({
    ...body,
    error: { ...(typeof error === "object" ? error : { message: error }), task_id: id }
  }),
  "error.data.id": ({ error, ...body }, id) => ({
    ...body,
    error: { ...(typeof error === "object" ? error : { message: error }), data: { id } }
  })
}
const placeNames = Object.keys(places)

const headerPlaces: Readonly<Record<string, (id: string) => string>> = {
  location: (id) => `https://vendor.test/api/v3/tasks/${id}`,
  "content-location": (id) => `/tasks/${id}?sign=1`,
  "operation-location": (id) => `https://vendor.test/operations/${id}`,
  "x-task-id": (id) => id,
  "task-id": (id) => id,
  "x-job-id": (id) => id
}
const headerNames = Object.keys(headerPlaces)

/** What begins at a vendor before any of these, or leads elsewhere, is not known to be refused. */
const otherStatuses = [
  301, 302, 303, 307, 308, 405, 408, 409, 410, 418, 425, 451, 499, 500, 501, 502, 504, 520, 524, 529
] as const
const errorStatuses = [
  400, 401, 402, 403, 404, 408, 409, 413, 415, 422, 429, 500, 502, 503, 504, 520, 524
] as const

/** What no vendor writes, and things between it and the gateway do. */
const foreignBodies = [
  "<html><head><title>503</title></head><body>nginx</body></html>",
  "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
  "",
  "null",
  "[]",
  "{}",
  "17",
  '"unavailable"',
  '{"detail":"Not Found"}',
  '{"message":"no Route matched with those values"}',
  '{"status":503,"title":"Service Unavailable"}',
  '{"error":{}}',
  '{"error":{"message":""}}',
  '{"error":null,"code":null}',
  '{"error":{"code":400}}',
  '{"code":429,"msg":"slow"}',
  '{"errors":[{"message":"no"}]}'
] as const

const pickOf = <A>(dice: Dice, list: ReadonlyArray<A>): A => {
  const picked = list[dice.roll(list.length)]
  if (picked === undefined) throw new Error("there is nothing to pick from")
  return picked
}

const json: Headers = { "content-type": "application/json" }

const said = (
  says: string,
  { status, body }: { readonly status: number; readonly body: Body | string },
  more: Partial<Said> = {}
): Said => ({
  says,
  status,
  headers: json,
  body: typeof body === "string" ? body : JSON.stringify(body),
  isMade: true,
  follows: null,
  jobId: null,
  ...more
})

/** Ids and traces that are in every refusal, and are no ids of jobs. */
const withTraces = (dice: Dice, one: Said): Said => {
  const headers = dice.chance(50) ? { ...one.headers, "x-request-id": REQUEST_ID } : one.headers
  const isNamedById = "x-request-id" in headers && dice.chance(30)
  const body: unknown = JSON.parse(one.body)
  return isNamedById && typeof body === "object"
    ? { ...one, headers, body: JSON.stringify({ ...body, id: REQUEST_ID }) }
    : { ...one, headers }
}

const makers: ReadonlyArray<(dice: Dice, own: Documented, model: string) => Said> = [
  (dice, own) =>
    withTraces(
      dice,
      said("a refusal by the document", own, { isMade: false, follows: own.follows })
    ),
  (_, own) =>
    own.isInOk === true
      ? said(
          "a refusal by the document in an HTTP 200",
          { ...own, status: 200 },
          {
            isMade: false,
            follows: own.follows
          }
        )
      : said("a refusal by the document", own, { isMade: false, follows: own.follows }),
  (dice, { status, body }) => {
    const place = pickOf(dice, placeNames)
    const id = dice.chance(20) ? 8601 : `job-${dice.roll(1_000_000)}`
    return said(
      `a refusal with an id in ${place}`,
      { status, body: places[place]?.(body, id) ?? {} },
      { jobId: String(id) }
    )
  },
  (dice, { status, body }) => {
    const name = pickOf(dice, headerNames)
    const id = `job-${dice.roll(1_000_000)}`
    const headers = { ...json, [name]: headerPlaces[name]?.(id) ?? "" }
    return said(`a refusal with the header ${name}`, { status, body }, { headers, jobId: id })
  },
  (_, { body }) =>
    said(
      "an error of HTTP 200 beside an id",
      { status: 200, body: { ...body, data: { id: "job-1" } } },
      { jobId: "job-1" }
    ),
  (dice, { body }) =>
    said("a refusal with another status", { status: pickOf(dice, otherStatuses), body }),
  (dice, _, model) => {
    const id = `job-${dice.roll(1_000_000)}`
    return said(
      "a redirect",
      { status: pickOf(dice, [301, 302, 303, 307, 308]), body: "" },
      { headers: { location: `/v1/${model}/${id}` }, jobId: id }
    )
  },
  (dice, { status, body }) => {
    const text = JSON.stringify(body)
    return said("a refusal that is cut", { status, body: text.slice(0, dice.roll(text.length)) })
  },
  (dice, { body }) => {
    const text = JSON.stringify(body)
    return said("a refusal twice", { status: pickOf(dice, [429, 503]), body: `${text}${text}` })
  },
  (dice, _, model) => {
    const form = pickOf(
      dice,
      dialectsOf(model).flatMap((dialect) => forms[dialect])
    )
    const status = pickOf(dice, [429, 503, ...otherStatuses])
    return said(`a code that the vendor has not (${form})`, { status, body: strangers[form] })
  },
  (dice, _, model) => {
    const form = pickOf(
      dice,
      dialectsOf(model).flatMap((dialect) => forms[dialect])
    )
    const status = pickOf(dice, [400, 401, 402, 403, 404, 413, 415, 422])
    return said(
      `a code that the vendor has not (${form}), with the status of a refusal`,
      { status, body: strangers[form] },
      { isMade: false }
    )
  },
  (dice, _, model) => {
    const own = new Set(dialectsOf(model).flatMap((dialect) => forms[dialect]))
    const foreign = (["object", "text", "word", "number", "reason"] as const).filter(
      (form) => !own.has(form)
    )
    const form = pickOf(dice, foreign)
    return said(`the form of another vendor (${form})`, {
      status: pickOf(dice, errorStatuses),
      body: strangers[form]
    })
  },
  (dice, _, model) => {
    const hasDetails = dialectsOf(model).some((dialect) => forms[dialect].includes("detail"))
    const body = pickOf(
      dice,
      foreignBodies.filter((one) => !(hasDetails && one.startsWith('{"detail"')))
    )
    const type = body.startsWith("<")
      ? "text/html"
      : pickOf(dice, ["text/plain", "application/json"])
    return said(
      `what no vendor writes (${body.slice(0, 30)})`,
      { status: pickOf(dice, errorStatuses), body },
      { headers: { "content-type": type } }
    )
  }
]

/** How the vendor of the model answers. */
export const drawSaid = (dice: Dice, model: string): Said => {
  const own = pickOf(
    dice,
    dialectsOf(model).flatMap((dialect) => documented[dialect])
  )
  return pickOf(dice, makers)(dice, own, model)
}

const refused: Documented = inObject("server_error")(503, null, "next mount")

/** What was found, each for a model in the standard form. */
export const named: ReadonlyArray<Said> = [
  said(
    "a 503 with a proxy's text for a connection that broke after sending",
    {
      status: 503,
      body: "upstream connect error or disconnect/reset before headers. reset reason: connection termination"
    },
    { headers: { "content-type": "text/plain" } }
  ),
  ...[400, 401, 403, 404, 422, 429, 500, 503].map((status) =>
    said(
      `a ${status} whose body has a job's id`,
      { status, body: { ...refused.body, task_id: "job-77" } },
      { jobId: "job-77" }
    )
  ),
  ...[400, 401, 429, 503].map((status) =>
    said(
      `a ${status} with a Location`,
      { status, body: refused.body },
      { headers: { ...json, location: "/v1/tasks/job-77" }, jobId: "job-77" }
    )
  ),
  ...[302, 307].map((status) =>
    said(
      `a ${status} with a Location`,
      { status, body: "" },
      { headers: { location: "https://vendor.test/v1/tasks/job-77" }, jobId: "job-77" }
    )
  ),
  said(
    "a 409 with an id",
    {
      status: 409,
      body: { error: { message: "exists", type: "conflict", code: "conflict", id: "job-77" } }
    },
    { jobId: "job-77" }
  ),
  ...[401, 429].map((status) =>
    said(`a ${status} without a body`, { status, body: "" }, { headers: {} })
  ),
  said("a refusal whose message has a uuid", refused, { isMade: false, follows: "next mount" })
]
