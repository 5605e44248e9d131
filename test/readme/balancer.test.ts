/** The example of a balancer keeps to what a balancer before gateways must do. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { NotFound, Overloaded } from "../../src/domain/Errors.ts"
import { AnsweredError } from "../../src/http/api/apiErrors.ts"
import { defaultSettings } from "../../src/runtime/Settings.ts"
import { read } from "./documents.ts"

const decodeError = Schema.decodeUnknownSync(AnsweredError)

const lines = read("scripts/haproxy.cfg")
  .split("\n")
  .map((line) => line.trim())
  .filter((line) => line !== "" && !line.startsWith("#"))

const secondsOf = (option: string): number => {
  const line = lines.find((line) => line.startsWith(`${option} `)) ?? ""
  return Number(/(\d+)s$/.exec(line)?.[1])
}

describe("the balancer of the example", () => {
  it("waits longer than any answer may take", () => {
    const longest = Math.max(
      defaultSettings.imageDeadlineSeconds,
      defaultSettings.submitDeadlineSeconds,
      defaultSettings.textDeadlineSeconds
    )
    assert.isAbove(secondsOf("timeout server"), longest)
    assert.isAbove(secondsOf("timeout client"), longest)
  })

  it("asks for the readiness", () => {
    assert.isTrue(lines.some((line) => line.startsWith("http-check") && line.includes("/readyz")))
  })

  /** The body of an answer of the balancer's own, which HAProxy has in quotes. */
  const bodyIn = (line: string) =>
    decodeError(JSON.parse(/string '([^']+)'/.exec(line)?.[1] ?? "null"))

  it("answers like a gateway while none is ready, with the time to come again", () => {
    const line = lines.find((line) => line.startsWith("http-error status 503 ")) ?? ""
    const error = bodyIn(line)
    assert.instanceOf(error, Overloaded)
    assert.include(line, ` hdr Retry-After ${error.retryAfterSeconds} `)
    assert.include(line, "content-type application/json")
  })

  it("keeps what is for operators from public addresses", () => {
    const denial = lines.find((line) => line.endsWith(" if for_operators !from_private")) ?? ""
    assert.match(denial, /^http-request return status 404 /)
    assert.instanceOf(bodyIn(denial), NotFound)
    const paths = lines.find((line) => line.startsWith("acl for_operators path_beg ")) ?? ""
    const prefixes = paths.split(" ").slice(3)
    for (const path of ["/admin/v1/catalog", "/metrics", "/console", "/console/orders"]) {
      assert.isTrue(
        prefixes.some((prefix) => path.startsWith(prefix)),
        path
      )
    }
    for (const path of ["/v1/models", "/healthz", "/readyz", "/docs", "/openapi.json"]) {
      assert.isFalse(
        prefixes.some((prefix) => path.startsWith(prefix)),
        path
      )
    }
  })

  it("repeats nothing that was sent, and keeps nothing back", () => {
    const strays = lines.filter((line) => /retry-on|http-buffer-request/.test(line))
    assert.deepStrictEqual(strays, [])
  })
})
