import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { scrub, scrubText } from "../../src/redaction/credentialsFromClients.ts"

const account = (apiKey: string, appId: string | null) => ({
  channelId: "ch_1",
  baseUrl: "https://vendor.test",
  apiKey: Redacted.make(apiKey),
  appId
})

describe("scrub", () => {
  it("leaves a value alone that holds no secret", () => {
    const value = { text: "hello", list: [1, null, true, { a: "" }], infinite: Infinity }
    assert.deepStrictEqual(scrub(account("sk-1", "app-1"), value), value)
  })

  it("hides a secret in keys and values at any depth, each time it occurs", () => {
    assert.deepStrictEqual(
      scrub(account("sk-1", "app-1"), { "x-sk-1": [{ deep: "sk-1 and sk-1 for app-1" }] }),
      { "x-[redacted]": [{ deep: "[redacted] and [redacted] for [redacted]" }] }
    )
  })

  it("keeps the body readable when a secret is made of digits or is a word of JSON", () => {
    assert.deepStrictEqual(
      scrub(account("true", "400"), { code: 400, ok: true, text: "400: true" }),
      { code: "[redacted]", ok: true, text: "[redacted]: [redacted]" }
    )
  })

  it("takes no application id and an empty key for no secret", () => {
    assert.deepStrictEqual(scrub(account("", null), { a: "text" }), { a: "text" })
    assert.strictEqual(scrubText(account("", ""), "text"), "text")
  })

  it("knows a secret in base64, wherever it stands in what was encoded", () => {
    const secret = "sk-canary/7?=1"
    for (const before of ["", "a", "ab", "Bearer ", "user:"]) {
      for (const after of ["", ":", "\n and more"]) {
        for (const encoding of ["base64", "base64url"] as const) {
          const text = `echo ${Buffer.from(`${before}${secret}${after}`).toString(encoding)}!`
          const hidden = scrubText(account(secret, null), text)
          assert.include(hidden, "[redacted]")
          const pieces = hidden.split(/echo |!|\[redacted\]/)
          for (const piece of pieces) {
            assert.isBelow(piece.length, 4 + Math.max(before.length, after.length) * 2)
          }
        }
      }
    }
  })

  it("knows a secret in an address and in quoted JSON", () => {
    const secret = 'a"b\\c/d e'
    assert.strictEqual(
      scrubText(
        account(secret, null),
        `?key=${encodeURIComponent(secret)} ${JSON.stringify({ secret })} ${secret}`
      ),
      '?key=[redacted] {"secret":"[redacted]"} [redacted]'
    )
  })
})
