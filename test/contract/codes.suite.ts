/** Every error of the interface: provoked, and its whole answer compared. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type ErrorCode, type ErrorType, errorTable } from "../../src/domain/Errors.ts"
import { AnsweredError } from "../../src/http/api/apiErrors.ts"
import { toNano } from "../support/amounts.ts"
import type { HttpAnswer } from "../support/http.ts"
import { declaredErrors } from "./codes/declaredErrors.ts"
import type { Facts, Row } from "./codes/Row.ts"
import { Surface } from "./codes/Surface.ts"

/** Status and type as the contract has them; `upstream_error` has several. */
const contract = {
  modality_mismatch: [400, "invalid_request_error"],
  modality_not_ready: [400, "invalid_request_error"],
  video_unsupported_protocol: [400, "invalid_request_error"],
  image_unsupported_protocol: [400, "invalid_request_error"],
  video_sku_invalid: [400, "invalid_request_error"],
  billing_unavailable: [400, "billing_error"],
  upstream_error: [502, "upstream_error"],
  insufficient_balance: [402, "billing_error"],
  member_cap_exceeded: [429, "billing_error"],
  budget_exceeded: [429, "billing_error"],
  invalid_api_key: [401, "authentication_error"],
  permission_denied: [403, "permission_error"],
  model_not_found: [404, "invalid_request_error"],
  task_not_found: [404, "invalid_request_error"],
  task_processing: [409, "invalid_request_error"],
  price_list_in_use: [409, "invalid_request_error"],
  not_found: [404, "invalid_request_error"],
  method_not_allowed: [405, "invalid_request_error"],
  payload_too_large: [413, "invalid_request_error"],
  unsupported_media_type: [415, "invalid_request_error"],
  invalid_request: [400, "invalid_request_error"],
  idempotency_conflict: [409, "invalid_request_error"],
  idempotency_mismatch: [422, "invalid_request_error"],
  precondition_failed: [412, "invalid_request_error"],
  channel_unavailable: [503, "server_error"],
  rate_limited: [429, "rate_limit_error"],
  overloaded: [503, "server_error"],
  internal_error: [500, "server_error"]
} as const satisfies Record<ErrorCode, readonly [status: number, type: ErrorType]>

/** Headers by which clients decide what to do: each is there where it is expected, and nowhere else. */
const watchedHeaders = [
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "allow",
  "www-authenticate",
  "idempotency-replayed",
  "location"
] as const

const watched = ({ headers }: HttpAnswer) =>
  Object.fromEntries(
    watchedHeaders.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value] as const]
    })
  )

const REQUEST_ID = /^req_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

const decodeError = Schema.decodeUnknownSync(AnsweredError, { onExcessProperty: "error" })

const numberOf = (header: string | null) => (header === null ? Number.NaN : Number(header))

const factsOf = (
  path: string,
  { headers, text }: HttpAnswer,
  between: Facts["between"]
): Facts => ({
  path,
  wait: numberOf(headers.get("retry-after")),
  waitMillis: numberOf(headers.get("retry-after-ms")),
  text,
  between
})

/** What the organisation has, and has held. */
const moneyOf = (organizationId: string) =>
  Effect.flatMap(Surface, ({ admin }) =>
    Effect.map(admin(`/organizations/${organizationId}`), ({ status, text }) => {
      assert.strictEqual(status, 200, text)
      return text
    })
  )

const decodeBalance = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ balance: Schema.String }))
)
const balanceOf = (money: string): bigint => toNano(decodeBalance(money).balance)

const checkAnswer = (row: Row, answer: HttpAnswer, facts: Facts) => {
  const { message, param = null, more = {}, status, headers = {}, charge } = row.says(facts)
  const [itsStatus, type] = contract[row.code]
  assert.deepStrictEqual(
    answer.body,
    {
      error: {
        message,
        type,
        param,
        code: row.code,
        doc_url: `/docs#description/${row.code}`,
        ...more
      }
    },
    answer.text
  )
  assert.strictEqual(answer.status, status ?? itsStatus, answer.text)
  assert.deepStrictEqual(watched(answer), headers)
  assert.strictEqual(answer.headers.get("content-type"), "application/json")
  assert.match(answer.headers.get("x-request-id") ?? "", REQUEST_ID)
  return { charge }
}

const provoke = Effect.fnUntraced(function* (row: Row) {
  const surface = yield* Surface
  const { path, who = surface.rich, withoutStore = false, ...options } = yield* row.ask
  const money = yield* moneyOf(who.organizationId)
  const calls = yield* surface.vendorCalls
  const before = yield* surface.now
  const call = surface.call(path, options)
  const answer = yield* withoutStore ? surface.withoutStore(call) : call
  const facts = factsOf(path, answer, [before, yield* surface.now])
  const { charge } = checkAnswer(row, answer, facts)

  assert.strictEqual(decodeError(answer.body)._tag, row.code)
  const method =
    options.method ??
    (answer.status === 405 || !("json" in options || "body" in options) ? "GET" : "POST")
  const declared = declaredErrors(method, path)
  if (declared === null) {
    assert.include(["not_found", "method_not_allowed"], row.code)
  } else {
    assert.include(declared, `${answer.status} ${row.code}`, `${method} ${path}`)
  }

  const left = yield* moneyOf(who.organizationId)
  if (charge === undefined) assert.strictEqual(left, money)
  else assert.strictEqual(balanceOf(left), balanceOf(money) - toNano(charge))
  assert.strictEqual((yield* surface.vendorCalls) - calls, row.vendorCalls)
  yield* surface.verify
}, Effect.scoped)

export const codesSuite = (it: Vitest.MethodsNonLive<Surface>, rows: ReadonlyArray<Row>): void => {
  it.effect("every code has a row that provokes it", () =>
    Effect.sync(() => {
      const provoked = new Set(rows.map(({ code }) => code))
      assert.deepStrictEqual([...provoked].toSorted(), Object.keys(errorTable).toSorted())
    })
  )

  for (const row of rows) {
    it.effect(`${row.code}: ${row.when}`, () => provoke(row))
  }
}
