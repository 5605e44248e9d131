import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { VideoProtocol } from "../../src/domain/video/VideoProtocol.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { refused } from "./failures.ts"
import { formsOfFamilyA } from "./familyA.forms.ts"
import { formsOfFamilyD } from "./familyD.forms.ts"
import { accountAt, layerOverSockets, orderOf, videoAdapter } from "./support.ts"
import { type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { type SimulatedVideoSubject, videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"
import { formsOfVpE } from "./vp_e.forms.ts"
import { formsOfVpF } from "./vp_f.forms.ts"

const unsupported = { code: 4006, message: "The requested operation is unsupported." }
const noPermission = { error: { message: "No permission", code: "forbidden" } }
const bareText = { error: "provider is busy" }

/** What the relay itself refuses, whatever the family. */
const relaySubmits: VideoSubject["submits"] = [
  {
    says: "an operation that is not offered",
    reply: { status: 400, body: unsupported },
    failure: refused(400, unsupported, { message: "The requested operation is unsupported." })
  },
  {
    says: "an operation that is not offered, with HTTP 200",
    reply: { body: unsupported },
    failure: refused(200, unsupported, {
      effectiveStatus: 502,
      message: "The requested operation is unsupported."
    })
  },
  {
    says: "a model without permission",
    reply: { status: 403, body: noPermission },
    failure: refused(403, noPermission, { message: "No permission" })
  },
  {
    says: "a provider that refuses",
    reply: { status: 502, body: bareText },
    failure: refused(502, bareText, { message: "provider is busy" })
  },
  {
    says: "an error in an HTTP 200",
    reply: { body: bareText },
    failure: refused(200, bareText, { effectiveStatus: 502, message: "provider is busy" })
  }
]

/** An error beside an id is an error all the same. */
const beside = (submitted: object): VideoSubject["submits"] => [
  {
    says: "an error beside the id in an HTTP 200",
    reply: { body: { ...submitted, ...noPermission } },
    failure: refused(
      200,
      { ...submitted, ...noPermission },
      { effectiveStatus: 502, message: "No permission" }
    )
  }
]

const basesOf = (submit: string, poll: string) =>
  ["", "/", "//", "/v1", "/v1/", "/v1//", "//v1"].map((base) => ({ base, submit, poll }))

type Forms = Omit<VideoSubject, "protocol" | "listedProtocol" | "dialect" | "bases">

const familySuite = (
  listedProtocol: VideoProtocol,
  paths: readonly [submit: string, poll: string],
  forms: Forms
): void =>
  videoAdapterSuite({
    ...forms,
    protocol: "vp_c",
    listedProtocol,
    dialect: plainBearer,
    bases: basesOf(...paths),
    submits: [...forms.submits, ...relaySubmits, ...beside(forms.submitted)]
  })

const pathsOfA = [
  "/doubao/v1/videos/generations/submit",
  "/doubao/v1/videos/generations/901%2Fa%20b"
] as const

familySuite("vp_a", pathsOfA, formsOfFamilyA)
familySuite("vp_b", pathsOfA, formsOfFamilyA)
familySuite(
  "vp_d",
  ["/kling/v1/videos/text2video", "/kling/v1/videos/text2video/901%2Fa%20b"],
  formsOfFamilyD
)
familySuite(
  "vp_e",
  ["/vidu/ent/v2/text2video", "/vidu/ent/v2/tasks/901%2Fa%20b/creations"],
  formsOfVpE("/vidu")
)
familySuite(
  "vp_f",
  [
    "/qwen/api/v1/services/aigc/video-generation/generation",
    "/qwen/api/v1/tasks/video/901%2Fa%20b"
  ],
  formsOfVpF("/qwen/api/v1/services/aigc/video-generation/generation")
)

const familyF = formsOfVpF("/qwen/api/v1/services/aigc/video-generation/generation")

const bySeconds = { completionTokens: null, outputSeconds: null }

const simulated: ReadonlyArray<Omit<SimulatedVideoSubject, "protocol">> = [
  {
    ...formsOfFamilyA,
    listedProtocol: "vp_a",
    endings: [["sim:cancel", "cancelled", ""]],
    usage: { completionTokens: 108900n, outputSeconds: 5, resolution: "720p", sound: true }
  },
  {
    ...formsOfFamilyD,
    listedProtocol: "vp_d",
    endings: [["sim:fail", "failed", ""]],
    usage: { ...bySeconds, bill: { amountNano: 3_000_000_000n, unit: "unit" } }
  },
  {
    ...formsOfVpE("/vidu"),
    listedProtocol: "vp_e",
    endings: [["sim:moderate-output", "CreationPolicyViolation", ""]],
    usage: { ...bySeconds, bill: { amountNano: 20_000_000_000n, unit: "credit" } }
  },
  {
    ...familyF,
    listedProtocol: "vp_f",
    model: "x2.7-t2v-cn",
    wires: familyF.wires.filter(({ order }) => order.upstreamModel?.startsWith("x2.")),
    endings: [["sim:cancel", "cancelled", ""]],
    usage: {
      ...bySeconds,
      outputSeconds: 5,
      totalSeconds: 5,
      resolution: "720p",
      bill: { amountNano: 5_000_000_000n, unit: "second" }
    }
  }
]

for (const subject of simulated) videoSimulatorSuite({ ...subject, protocol: "vp_c" })

it.effect.each(["vp_c", "vp_z", "constructor"])(
  "nothing is sent for a model listed as %s, which has no family",
  (listedProtocol) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({})
      const adapter = yield* videoAdapter("vp_c")
      const account = accountAt(vendor.url)
      const task = { upstreamId: "1", upstreamModel: "m-1", listedProtocol }
      const submitted = yield* Effect.flip(adapter.submit(account, orderOf({ listedProtocol })))
      const polled = yield* Effect.flip(adapter.poll(account, task))
      assert.deepStrictEqual(
        [submitted._tag, polled._tag],
        ["VendorUnreachable", "VendorUnreachable"]
      )
      assert.deepStrictEqual(yield* vendor.requests, [])
    }).pipe(Effect.provide(layerOverSockets))
)

it.effect.each<readonly [upstreamId: string, target: string]>([
  ["image2video/8601", "/kling/v1/videos/image2video/8601"],
  ["text2video/8601", "/kling/v1/videos/text2video/8601"],
  ["image2video/a/b", "/kling/v1/videos/image2video/a%2Fb"],
  ["8601", "/kling/v1/videos/text2video/8601"]
])("a task of family d kept as %s is asked for at %s", ([upstreamId, target]) =>
  Effect.gen(function* () {
    const vendor = yield* brokenVendor({ status: 404 })
    const adapter = yield* videoAdapter("vp_c")
    const task = { upstreamId, upstreamModel: "m-1", listedProtocol: "vp_d" }
    assert.deepStrictEqual(yield* adapter.poll(accountAt(vendor.url), task), { _tag: "Unknown" })
    assert.deepStrictEqual(
      (yield* vendor.requests).map((request) => request.target),
      [target]
    )
  }).pipe(Effect.provide(layerOverSockets))
)
