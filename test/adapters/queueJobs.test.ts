/** Jobs of vendors that documents describe: how they are cancelled, and what their refusals prove. */
import { assert, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { makeQueueAdapters } from "../../src/adapters/queueAdapters.ts"
import { replicateDocument } from "../../src/domain/queue/documents/replicate.ts"
import type { QueueDocument } from "../../src/domain/queue/QueueDocument.ts"
import type { CancelAnswer } from "../../src/services/ProtocolAdapter.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { failureOf } from "./failures.ts"
import {
  accountAt,
  layerOverSockets,
  layerSockets,
  layerWithSimulator,
  orderOf,
  seenDuring,
  textBlock,
  videoAdapter
} from "./support.ts"

const models = {
  fal: "fal-ai/bytedance/seedance/v1/pro/text-to-video",
  replicate: "bytedance/seedance-1-pro"
} as const
type Protocol = keyof typeof models

const orderFor = (protocol: Protocol, prompt: string) =>
  orderOf({
    upstreamModel: models[protocol],
    listedProtocol: protocol,
    blocks: [textBlock(prompt)]
  })

const cancelOf = Effect.fnUntraced(function* (protocol: Protocol) {
  const { cancel } = yield* videoAdapter(protocol)
  return yield* Effect.orDie(Effect.fromNullishOr(cancel))
})

const taskOf = (protocol: Protocol, upstreamId: string) => ({
  upstreamId,
  upstreamModel: models[protocol],
  listedProtocol: protocol
})

layer(layerWithSimulator)("a job of a document's vendor", (it) => {
  const accountFor = (protocol: Protocol) =>
    Effect.map(Simulator, ({ url }) => accountAt(`${url}/${protocol}`))

  it.effect.each<readonly [Protocol, prompt: string, polls: number, tag: CancelAnswer["_tag"]]>([
    ["fal", "x sim:waits", 1, "Cancelled"],
    ["fal", "x sim:slow=9", 8, "Requested"],
    ["fal", "x sim:slow=0", 1, "Refused"],
    ["replicate", "x sim:waits", 1, "Cancelled"],
    ["replicate", "x sim:slow=9", 8, "Cancelled"],
    ["replicate", "x sim:slow=0", 1, "Refused"]
  ])("of %s with %s and %i polls is cancelled: %s", ([protocol, prompt, polls, tag]) =>
    Effect.gen(function* () {
      const adapter = yield* videoAdapter(protocol)
      const account = yield* accountFor(protocol)
      const task = taskOf(protocol, yield* adapter.submit(account, orderFor(protocol, prompt)))
      for (let poll = 0; poll < polls; poll++) yield* adapter.poll(account, task)
      const { send } = yield* cancelOf(protocol)
      const { result, requests } = yield* seenDuring(send(account, task))
      assert.strictEqual((yield* Effect.fromResult(result))._tag, tag)
      assert.strictEqual(requests.length, 1)
      if (tag !== "Cancelled") return
      assert.propertyVal(yield* adapter.poll(account, task), "code", "cancelled")
    })
  )

  it.effect.each<Protocol>(["fal", "replicate"])(
    "of %s that nobody knows is not cancelled",
    (protocol) =>
      Effect.gen(function* () {
        const { send } = yield* cancelOf(protocol)
        const failure = yield* Effect.flip(
          send(yield* accountFor(protocol), taskOf(protocol, "missing"))
        )
        assert.strictEqual(failureOf(failure)._tag, "VendorRefused")
      })
  )

  it.effect.each<Protocol>(["fal", "replicate"])(
    "may be cancelled until its end at %s",
    (protocol) =>
      Effect.map(cancelOf(protocol), ({ jobs }) => assert.strictEqual(jobs, "unfinished"))
  )
})

layer(layerOverSockets)("a refusal of a document's vendor", (it) => {
  it.effect.each<
    readonly [Protocol, status: number, body: object, proof: string | undefined, effective: number]
  >([
    ["fal", 422, { detail: [{ loc: ["body"], msg: "no", type: "missing" }] }, "refused", 422],
    ["fal", 404, { detail: "Application not found" }, "model_unknown", 403],
    ["fal", 403, { detail: "User is locked" }, "credentials_refused", 403],
    ["fal", 429, { detail: "slowly" }, undefined, 429],
    ["fal", 500, { detail: "oops", error_type: "internal_error" }, undefined, 500],
    ["fal", 422, { request_id: "r-1", job_id: "j-1", detail: "no" }, undefined, 422],
    ["fal", 422, { oops: "a proxy" }, undefined, 422],
    ["replicate", 402, { title: "Insufficient credit", detail: "no" }, "account_empty", 402],
    ["replicate", 422, { title: "Input validation failed", detail: "no" }, "refused", 422],
    ["replicate", 422, { id: "p-1", detail: "no" }, undefined, 422],
    ["replicate", 502, { detail: "no" }, undefined, 502]
  ])("%s %i %j proves %s", ([protocol, status, body, proof, effective]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status, body })
      const adapter = yield* videoAdapter(protocol)
      const failure = yield* Effect.flip(
        adapter.submit(accountAt(vendor.url), orderFor(protocol, "x"))
      )
      assert.strictEqual(failure._tag, "VendorRefused")
      if (failure._tag !== "VendorRefused") return
      assert.strictEqual(failure.proof, proof)
      assert.strictEqual(failure.effectiveStatus, effective)
    })
  )
})

layer(layerSockets)("a refusal that only its text tells", (it) => {
  it.effect.each<readonly [message: string, proof: string]>([
    ["Insufficient credits. Please top up your account.", "account_empty"],
    ["The prompt is too long", "refused"]
  ])("%s proves %s", ([detail, proof]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status: 400, body: { title: "Bad request", detail } })
      const { refusals } = replicateDocument
      const texts = { "insufficient CREDITS": "balance" } as const
      const { video } = yield* makeQueueAdapters([
        { ...replicateDocument, refusals: { ...refusals, texts } }
      ])
      const adapter = yield* Effect.orDie(Effect.fromNullishOr(video.get("replicate")))
      const failure = yield* Effect.flip(
        adapter.submit(accountAt(vendor.url), orderFor("replicate", "x"))
      )
      assert.propertyVal(failure, "proof", proof)
    })
  )
})

layer(layerSockets)("a refusal of a document's vendor with a file in a field of its own", (it) => {
  it.effect.each([
    { asset: "https://media.test/1.mp4" },
    { made: { Asset: ["https://media.test/1.mp4"] } },
    { asset: "/files/1.mp4" },
    { note: JSON.stringify({ asset: "https://media.test/1.mp4" }) },
    { note: JSON.stringify(JSON.stringify({ Asset: ["https://media.test/1.mp4"] })) }
  ])("beside %j proves nothing, and is not forwarded", (more) =>
    Effect.gen(function* () {
      const body = { title: "Input validation failed", detail: "no", ...more }
      const vendor = yield* brokenVendor({ status: 422, body })
      const { answers } = replicateDocument
      const { video } = yield* makeQueueAdapters([
        { ...replicateDocument, answers: { ...answers, files: ["/made/asset/*"] } }
      ])
      const adapter = yield* Effect.orDie(Effect.fromNullishOr(video.get("replicate")))
      const failure = yield* Effect.flip(
        adapter.submit(accountAt(vendor.url), orderFor("replicate", "x"))
      )
      assert.deepInclude(failure, { _tag: "VendorRefused", body: null })
      assert.notProperty(failure, "proof")
    })
  )
})

/** A vendor that answers everything with HTTP 200, in an envelope with a code. */
const envelopeDocument: QueueDocument = {
  ...replicateDocument,
  answers: {
    ...replicateDocument.answers,
    id: ["/data/id"],
    status: ["/data/status"],
    code: ["/data/error/code"],
    message: ["/data/error/message"]
  },
  refusals: {
    shapes: [{ message: "/message", codes: ["/code"] }],
    codes: { "1402": "balance", "1500": "failure" }
  }
}

layer(layerSockets)("a refusal with HTTP 200", (it) => {
  it.effect.each<readonly [body: object, tag: string, proof: string | undefined]>([
    [{ code: 1402, message: "no credit", data: null }, "VendorRefused", "account_empty"],
    [{ code: "1402", message: "no credit" }, "VendorRefused", "account_empty"],
    [{ code: 1500, message: "oops" }, "VendorRefused", undefined],
    [{ code: 1402, message: "no credit", data: { task_id: "j" } }, "VendorRefused", undefined],
    [{ code: 200, message: "success", data: {} }, "VendorLost", undefined],
    [{ code: 9, message: "unknown" }, "VendorLost", undefined]
  ])("%j is %s", ([body, tag, proof]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor({ status: 200, body })
      const { video } = yield* makeQueueAdapters([envelopeDocument])
      const adapter = yield* Effect.orDie(Effect.fromNullishOr(video.get("replicate")))
      const failure = yield* Effect.flip(
        adapter.submit(accountAt(vendor.url), orderFor("replicate", "x"))
      )
      assert.strictEqual(failure._tag, tag)
      assert.strictEqual(failure._tag === "VendorRefused" ? failure.proof : undefined, proof)
    })
  )

  it.effect("is not the code 0 beside a job that failed", () =>
    Effect.gen(function* () {
      const body = { code: 200, data: { status: "failed", error: { code: 0, message: "no" } } }
      const vendor = yield* brokenVendor({ status: 200, body })
      const { video } = yield* makeQueueAdapters([envelopeDocument])
      const adapter = yield* Effect.orDie(Effect.fromNullishOr(video.get("replicate")))
      const status = yield* adapter.poll(accountAt(vendor.url), taskOf("replicate", "j"))
      assert.deepInclude(status, { _tag: "Failed", code: "failed", message: "no" })
    })
  )
})

/** A vendor that counts its jobs, and whose statuses are numbers, or say whether the job is done. */
const countingDocument: QueueDocument = {
  ...replicateDocument,
  calls: {
    ...replicateDocument.calls,
    cancel: {
      method: "POST",
      path: "/jobs/{id}/cancel",
      jobs: "unfinished",
      cancelled: ["9"],
      requested: ["1"],
      refused: ["3"]
    }
  },
  answers: { ...replicateDocument.answers, id: ["/job_id"], status: ["/state", "/done"] },
  statuses: { open: ["1", "false"], finished: ["3", "true"], failed: ["4"], cancelled: ["9"] }
}

layer(layerSockets)("a vendor with numbers for names", (it) => {
  const answered = Effect.fnUntraced(function* (body: object) {
    const vendor = yield* brokenVendor({ status: 200, body })
    const { video } = yield* makeQueueAdapters([countingDocument])
    const adapter = yield* Effect.orDie(Effect.fromNullishOr(video.get("replicate")))
    return { adapter, account: accountAt(vendor.url), requests: vendor.requests }
  })

  it.effect.each<readonly [id: unknown, read: string | null]>([
    [12_345, "12345"],
    ["12345", "12345"],
    [0, null],
    [-1, null],
    [1.5, null],
    [2 ** 53, null],
    [true, null]
  ])("takes the job %j as %j", ([job_id, upstreamId]) =>
    Effect.gen(function* () {
      const { adapter, account } = yield* answered({ job_id, state: 1 })
      const submitted = yield* Effect.result(adapter.submit(account, orderFor("replicate", "x")))
      assert.strictEqual(Result.getOrNull(submitted), upstreamId)
    })
  )

  it.effect.each<readonly [body: object, tag: string]>([
    [{ state: 1 }, "Processing"],
    [{ state: 3, output: "https://media.test/1.mp4" }, "Succeeded"],
    [{ state: 4 }, "Failed"],
    [{ done: false }, "Processing"],
    [{ done: true, output: "https://media.test/1.mp4" }, "Succeeded"]
  ])("polls %j as %s", ([body, tag]) =>
    Effect.gen(function* () {
      const { adapter, account, requests } = yield* answered(body)
      const status = yield* adapter.poll(account, taskOf("replicate", "12345"))
      assert.strictEqual(status._tag, tag)
      assert.notProperty(status, "unknownStatus")
      assert.strictEqual((yield* requests)[0]?.target, "/v1/predictions/12345")
    })
  )

  it.effect.each<readonly [state: number, tag: CancelAnswer["_tag"]]>([
    [9, "Cancelled"],
    [1, "Requested"],
    [3, "Refused"]
  ])("answers a cancel with %i as %s", ([state, tag]) =>
    Effect.gen(function* () {
      const { adapter, account } = yield* answered({ state })
      const { send } = yield* Effect.orDie(Effect.fromNullishOr(adapter.cancel))
      const answer = yield* send(account, taskOf("replicate", "12345"))
      assert.strictEqual(answer._tag, tag)
    })
  )
})
