import { assert, describe, it } from "@effect/vitest"
import { Schema, Struct } from "effect"
import * as Errors from "../../src/domain/Errors.ts"

const request = "invalid_request_error"

/** The contract's codes with their HTTP status and type. `upstream_error` carries its own status. */
const contract = [
  ["modality_mismatch", 400, request],
  ["modality_not_ready", 400, request],
  ["video_unsupported_protocol", 400, request],
  ["image_unsupported_protocol", 400, request],
  ["video_sku_invalid", 400, request],
  ["billing_unavailable", 400, "billing_error"],
  ["upstream_error", 502, "upstream_error"],
  ["insufficient_balance", 402, "billing_error"],
  ["member_cap_exceeded", 429, "billing_error"],
  ["budget_exceeded", 429, "billing_error"],
  ["invalid_api_key", 401, "authentication_error"],
  ["permission_denied", 403, "permission_error"],
  ["model_not_found", 404, request],
  ["task_not_found", 404, request],
  ["task_processing", 409, request],
  ["price_list_in_use", 409, request],
  ["not_found", 404, request],
  ["method_not_allowed", 405, request],
  ["payload_too_large", 413, request],
  ["unsupported_media_type", 415, request],
  ["invalid_request", 400, request],
  ["idempotency_conflict", 409, request],
  ["idempotency_mismatch", 422, request],
  ["precondition_failed", 412, request],
  ["channel_unavailable", 503, "server_error"],
  ["rate_limited", 429, "rate_limit_error"],
  ["overloaded", 503, "server_error"],
  ["internal_error", 500, "server_error"]
] as const

const classes = Object.values<unknown>(Errors).filter(Schema.isSchema)
const codeOf = (schema: Schema.Top) => schema.ast.annotations?.identifier

describe("the table of errors", () => {
  it("holds the contract's codes and no other", () => {
    assert.sameMembers(
      Struct.keys(Errors.errorTable),
      contract.map(([code]) => code)
    )
  })

  it.each(contract)("%s answers %d as %s", (code, status, type) => {
    const row: { readonly status: number; readonly type: string } = Errors.errorTable[code]
    assert.deepStrictEqual([row.status, row.type], [status, type])
  })
})

describe("an error after which a vendor may have begun a paid job", () => {
  it("is never one that SDKs repeat by themselves unless it says so", () => {
    const risky = Object.values(Errors.errorTable).filter((row) => row.mayFollowPaidCall)
    assert.isNotEmpty(risky)
    for (const { retry } of risky) assert.include(["not by itself", "by its fields"], retry)
  })
})

describe("the error classes", () => {
  it("are one for each code", () => {
    assert.sameMembers(
      classes.map(codeOf),
      contract.map(([code]) => code)
    )
  })

  it.each(contract)("%s declares the status %d", (code, status) => {
    const found = classes.filter((schema) => codeOf(schema) === code)
    assert.deepStrictEqual(
      found.map((schema) => schema.ast.annotations?.httpApiStatus),
      [status]
    )
  })
})

describe("an error", () => {
  it("carries its code as tag and its message as an Error does", () => {
    const error = new Errors.TaskNotFound({ message: "no such task" })
    assert.instanceOf(error, Error)
    assert.deepStrictEqual([error._tag, error.message], ["task_not_found", "no such task"])
  })

  it("points at no field unless told which", () => {
    assert.isNull(new Errors.ModelNotFound({ message: "?" }).param)
    assert.strictEqual(new Errors.ModelNotFound({ message: "?", param: "model" }).param, "model")
  })
})
