/** What refusals of rankings prove: Jina's by their codes, and others by their status alone. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { accountAt, layerOverSockets, named } from "./support.ts"

interface Refusal {
  readonly says: string
  readonly status: number
  readonly body: object
  readonly effectiveStatus?: number
  /** Null where the vendor may have begun. */
  readonly proof: string | null
}

const coded = (code: string) => ({ detail: "because", request_id: "f309f88eb07f1a4c", code })
const rates = ["REQUEST", "TOKEN", "CONCURRENCY", "IP"].map((what) => `RATE_${what}_LIMIT_EXCEEDED`)

const refusals: ReadonlyArray<Refusal> = [
  ...rates.map((code) => ({ says: code, status: 429, body: coded(code), proof: "rate_limited" })),
  {
    says: "an empty account",
    status: 403,
    body: coded("AUTHZ_INSUFFICIENT_BALANCE"),
    proof: "account_empty"
  },
  {
    says: "an unknown model",
    status: 400,
    body: coded("INPUT_MODEL_NOT_FOUND"),
    effectiveStatus: 403,
    proof: "model_unknown"
  },
  {
    says: "a wrong key",
    status: 401,
    body: coded("AUTH_INVALID_API_KEY"),
    proof: "credentials_refused"
  },
  {
    says: "a body that it cannot read",
    status: 422,
    body: { detail: "because" },
    proof: "refused"
  },
  { says: "a message", status: 400, body: { message: "because" }, proof: "refused" },
  { says: "a 429 without a code", status: 429, body: { detail: "because" }, proof: null },
  { says: "a 429 with a message alone", status: 429, body: { message: "because" }, proof: null },
  { says: "a 429 with a code of nobody", status: 429, body: coded("STRANGE"), proof: null },
  { says: "a failure", status: 500, body: coded("INTERNAL_ERROR"), proof: null },
  { says: "a 503", status: 503, body: coded("SERVICE_UNAVAILABLE"), proof: null }
]

layer(layerOverSockets)("a ranking", (it) => {
  it.effect.each(named(refusals))("may be refused by %s", ([, { status, body, ...expected }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status, body })
      const { rerank } = yield* ProtocolAdapter
      const jina = yield* Effect.orDie(Effect.fromNullishOr(rerank?.get("jina")))
      const order = { model: "rank-1", query: "a", documents: ["a lighthouse"] }
      const failure = yield* Effect.flip(
        jina.rerank(accountAt(vendor.url), { upstreamModel: "m", body: order })
      )
      if (failure._tag !== "VendorRefused") return assert.fail(failure._tag)
      assert.strictEqual(failure.proof ?? null, expected.proof)
      assert.strictEqual(failure.effectiveStatus, expected.effectiveStatus ?? status)
    })
  )
})
