/** The example of a balancer keeps to what a balancer before gateways must do. */
import { assert, describe, it } from "@effect/vitest"
import { defaultSettings } from "../../src/runtime/Settings.ts"
import { read } from "./documents.ts"

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

  it("repeats nothing that was sent, and keeps nothing back", () => {
    const strays = lines.filter((line) => /retry-on|http-buffer-request/.test(line))
    assert.deepStrictEqual(strays, [])
  })
})
