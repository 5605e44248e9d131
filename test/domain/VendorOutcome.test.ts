import { assert, describe, it } from "@effect/vitest"
import {
  doubtOf,
  isAboutKey,
  isKeyRefused,
  knownRefusalOf,
  mayFailOver,
  statusOfVendor,
  upstreamErrorOf,
  VendorLost,
  VendorRefused,
  VendorUnreachable
} from "../../src/domain/VendorOutcome.ts"

/** The vendor's status and what our client gets. */
const mapping = [
  [400, 400],
  [404, 404],
  [413, 413],
  [415, 415],
  [422, 422],
  [401, 502],
  [402, 502],
  [403, 502],
  [429, 503],
  [500, 502],
  [501, 502],
  [502, 502],
  [503, 502],
  [520, 502],
  [408, 504],
  [504, 504],
  [409, 502],
  [451, 502]
] as const

const body = { error: { code: "TooSpicy", message: "no" } }

const refused = (effectiveStatus: number, retryAfterSeconds: number | null = null) =>
  new VendorRefused({
    effectiveStatus,
    status: effectiveStatus,
    body,
    message: "no",
    retryAfterSeconds
  })

/** The same in a way that its vendor's table knows. */
const known = (status: number, upstreamId?: string) =>
  new VendorRefused({
    ...refused(status),
    message: "no",
    proof: knownRefusalOf(status) ?? "refused",
    ...(upstreamId === undefined ? {} : { upstreamId })
  })

describe("a vendor's refusal", () => {
  it.each(mapping)("with %d reaches the client as %d", (vendor, ours) => {
    assert.strictEqual(statusOfVendor(vendor), ours)
    assert.strictEqual(upstreamErrorOf(refused(vendor)).status, ours)
  })

  it("never looks like one of our own money or key errors", () => {
    for (let status = 100; status < 600; status++) {
      assert.notInclude([401, 402, 403, 429], statusOfVendor(status))
    }
  })

  it("is told in the vendor's words, its body unchanged", () => {
    const error = upstreamErrorOf(refused(400))
    assert.strictEqual(error._tag, "upstream_error")
    assert.strictEqual(error.message, "no")
    assert.strictEqual(error.upstream.status, 400)
    assert.strictEqual(error.upstream.body, body)
  })

  it("hidden behind a 200 takes the status its code means, and shows the one it came with", () => {
    const error = upstreamErrorOf(
      new VendorRefused({
        effectiveStatus: 429,
        status: 200,
        body,
        message: "slow down",
        retryAfterSeconds: 7
      })
    )
    assert.deepStrictEqual([error.status, error.upstream.status], [503, 200])
  })

  it.each([7, null])("keeps the vendor's Retry-After of %j", (seconds) => {
    assert.strictEqual(upstreamErrorOf(refused(429, seconds)).retryAfterSeconds, seconds)
  })

  it.each([401, 402, 403])(
    "with %d is about our account, so its words are not the client's",
    (status) => {
      const error = upstreamErrorOf(refused(status))
      assert.deepStrictEqual([error.status, error.retryable, error.unpaid], [502, false, false])
      assert.deepStrictEqual(error.upstream, { status, body: null })
      assert.notInclude(error.message, "no ")
      assert.isNull(error.param)
      assert.isNull(doubtOf(known(status)))
      assert.deepInclude(upstreamErrorOf(known(status)), { retryable: false, unpaid: true })
    }
  )

  it.each([400, 404, 413, 415, 422, 429, 503])(
    "with %d that its table knows leaves no job, so a retry is safe",
    (status) => {
      assert.isTrue(upstreamErrorOf(known(status)).unpaid)
      assert.isNull(doubtOf(known(status)))
      assert.strictEqual(mayFailOver(known(status)), [404, 429, 503].includes(status))
    }
  )

  it("without that is a doubt, whatever its status, and stays with its channel and key", () => {
    for (let status = 200; status < 600; status++) {
      assert.isFalse(upstreamErrorOf(refused(status)).unpaid, `${status}`)
      assert.isNotNull(doubtOf(refused(status)), `${status}`)
      assert.isFalse(mayFailOver(refused(status)), `${status}`)
      assert.isFalse(isAboutKey(refused(status)), `${status}`)
    }
  })

  it.each([400, 401, 402, 403, 404, 409, 429, 503])(
    "with %d and the id of a job is a doubt with that id",
    (status) => {
      const told = known(status, "job-7")
      assert.deepStrictEqual(doubtOf(told), { reason: "vendor_error", upstreamId: "job-7" })
      assert.isFalse(upstreamErrorOf(told).unpaid)
      assert.deepStrictEqual([mayFailOver(told), isAboutKey(told)], [false, false])
    }
  )

  it.each([
    ...[303, 400, 404, 413, 415, 422, 451].map((status) => [status, false] as const),
    ...[408, 409, 425, 429, 500, 502, 503, 504, 529].map((status) => [status, true] as const)
  ])("with %d is worth a repeat of the same request: %s", (status, retryable) => {
    for (const failure of [known(status), refused(status)]) {
      assert.strictEqual(upstreamErrorOf(failure).retryable, retryable)
    }
  })

  it.each([
    ["size", 400, "size"],
    [undefined, 400, null],
    ["api_key", 401, null]
  ] as const)("names the field %s of a %d as %s", (param, status, ours) => {
    const failure = new VendorRefused({
      ...refused(status),
      message: "no",
      ...(param === undefined ? {} : { param })
    })
    assert.strictEqual(upstreamErrorOf(failure).param, ours)
  })

  it.each([401, 402, 403])("with %d to a question is about the key without any proof", (status) => {
    assert.isTrue(isKeyRefused(refused(status)))
  })

  it.each([303, 408, 499, 500, 502, 504, 520, 529])(
    "with %d may hide a paid job, so no program retries",
    (status) => {
      assert.isFalse(upstreamErrorOf(refused(status)).unpaid)
      assert.deepStrictEqual(doubtOf(refused(status)), {
        reason: [408, 504].includes(status) ? "timeout" : "vendor_error",
        upstreamId: null
      })
    }
  )
})

describe("a vendor that was never reached", () => {
  it("is a bad gateway that may be tried again", () => {
    const error = upstreamErrorOf(new VendorUnreachable({ message: "connection refused" }))
    assert.deepStrictEqual(
      [error.status, error.retryable, error.unpaid, error.retryAfterSeconds],
      [502, true, true, null]
    )
    assert.deepStrictEqual(
      [error.upstream, error.message],
      [{ status: null, body: null }, "connection refused"]
    )
  })
})

describe("a vendor whose answer was lost", () => {
  it.each([
    ["timeout", 504],
    ["connection_lost", 502],
    ["broken_answer", 502]
  ] as const)("by %s is a %d that may be a paid job", (reason, status) => {
    const error = upstreamErrorOf(
      new VendorLost({ reason, message: "?", status: null, retryAfterSeconds: null })
    )
    assert.deepStrictEqual([error.status, error.retryable, error.unpaid], [status, true, false])
  })

  it("says of what did arrive its status alone", () => {
    const error = upstreamErrorOf(
      new VendorLost({
        reason: "broken_answer",
        message: "not JSON",
        status: 200,
        retryAfterSeconds: 3
      })
    )
    assert.deepStrictEqual(error.upstream, { status: 200, body: null })
    assert.strictEqual(error.retryAfterSeconds, 3)
  })
})
