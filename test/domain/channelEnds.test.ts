import { assert, describe, it } from "@effect/vitest"
import { bucketOf, isVendorsFault, quantile } from "../../src/domain/channelEnds.ts"
import {
  failureKind,
  isAboutKey,
  knownRefusalOf,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../../src/domain/VendorOutcome.ts"

const refused = (effectiveStatus: number, more: { status?: number; isVerdict?: boolean } = {}) =>
  new VendorRefused({
    effectiveStatus,
    status: effectiveStatus,
    body: null,
    message: "no",
    retryAfterSeconds: null,
    ...more
  })

const known = (status: number) =>
  new VendorRefused({
    ...refused(status),
    message: "no",
    proof: knownRefusalOf(status) ?? "refused"
  })

const lost = (reason: VendorLost["reason"]) =>
  new VendorLost({ reason, message: "no", status: null, retryAfterSeconds: null })

/** The failure, its word, whether it counts against its channel, whether it is about the key. */
const kinds = [
  [new VendorUnreachable({ message: "no" }), "unreachable", true, false],
  [lost("timeout"), "timeout", true, false],
  [lost("connection_lost"), "connection_lost", true, false],
  [lost("broken_answer"), "broken_answer", true, false],
  [refused(500), "vendor_error", true, false],
  [refused(502), "vendor_error", true, false],
  [refused(503), "overloaded", true, false],
  [refused(504), "timeout", true, false],
  [refused(408), "timeout", true, false],
  [refused(400), "refused", false, false],
  [refused(422), "refused", false, false],
  [refused(404), "model_unknown", false, false],
  [refused(429), "rate_limited", false, false],
  [refused(401), "credentials_refused", false, false],
  [known(401), "credentials_refused", false, true],
  [known(402), "account_empty", false, true],
  [known(403), "credentials_refused", false, true],
  [known(429), "rate_limited", false, false],
  [known(503), "overloaded", true, false],
  // A refused content is told in many ways.
  [refused(502, { status: 200 }), "refused", false, false],
  [refused(500, { isVerdict: true }), "refused", false, false],
  [refused(401, { isVerdict: true }), "refused", false, false]
] as const

describe("a failed call", () => {
  it.each(kinds)("%o is %s", (failure, kind, counts, aboutKey) => {
    assert.strictEqual(failureKind(failure), kind)
    assert.strictEqual(isVendorsFault(failure), counts)
    assert.strictEqual(isAboutKey(failure), aboutKey)
  })
})

describe("durations by their steps", () => {
  it("are told within a tenth", () => {
    for (const millis of [1, 2, 7, 50, 333, 4999, 60_000, 3_600_000]) {
      const told = quantile(new Map([[String(bucketOf(millis)), 1]]), 0.5) ?? 0
      assert.closeTo(told / millis, 1, millis < 5 ? 0.3 : 0.1)
    }
  })

  it("are those of the ranks", () => {
    const steps = new Map([
      [String(bucketOf(10_000)), 5],
      [String(bucketOf(100)), 95]
    ])
    assert.closeTo(quantile(steps, 0.5) ?? 0, 100, 10)
    assert.closeTo(quantile(steps, 0.95) ?? 0, 100, 10)
    assert.closeTo(quantile(steps, 0.96) ?? 0, 10_000, 1000)
    assert.isNull(quantile(new Map(), 0.5))
  })
})
