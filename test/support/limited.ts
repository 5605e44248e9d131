/** The refusal of whoever asks for too much. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { HttpAnswer } from "./http.ts"
import { errorOf } from "./orders.ts"

export const assertLimited = Effect.fnUntraced(function* (answer: HttpAnswer) {
  assert.strictEqual(answer.status, 429, answer.text)
  const error = yield* errorOf(answer)
  assert.deepInclude(error, { code: "rate_limited", type: "rate_limit_error" })
  const seconds = Number(answer.headers.get("retry-after"))
  const millis = Number(answer.headers.get("retry-after-ms"))
  assert.isAtLeast(seconds, 1)
  assert.isAbove(millis, 0)
  // Whole seconds are never earlier than the exact time.
  assert.isAtLeast(seconds * 1000, millis)
  assert.isNull(answer.headers.get("x-should-retry"))
  return error
})
