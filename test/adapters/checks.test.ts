/** What a check of an account asks of each vendor, and what it makes of the answers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { builtInProtocols } from "../../src/domain/catalog/ProtocolTables.ts"
import { type ChannelAccount, ProtocolAdapter } from "../../src/services/ProtocolAdapter.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor, closedPort, type Reply } from "../support/brokenVendor.ts"
import { type Failure, failureOf, lost, refused } from "./failures.ts"
import {
  accountAt,
  layerOverSockets,
  layerWithSimulator,
  limitSeconds,
  named,
  runOutOfTime,
  seenDuring
} from "./support.ts"

const NIL = "00000000-0000-0000-0000-000000000000"

/** The one question of each protocol; the base address of a channel stands before it. */
const questions: Readonly<Record<string, string>> = {
  vp_a: "/api/v3/contents/generations/tasks/cgt-20000101000000-00000",
  vp_b: "/v2/video/tasks/vbt-000000000000",
  vp_c: `/qwen/api/v1/tasks/video/${NIL}`,
  vp_d: "/tasks?task_ids=0",
  vp_e: "/ent/v2/tasks/0/creations",
  vp_f: `/api/v1/tasks/${NIL}`,
  veo: "/v1beta/models/veo-3.1-generate-preview/operations/none",
  minimax: "/v2/query/video_generation/0",
  gemini: "/v1beta/models/none",
  ip_a: "/v1/models",
  ip_b: `/api/v1/tasks/${NIL}`,
  ip_c: `/qwen/api/v1/tasks/image/${NIL}`,
  openai: "/v1/models",
  openai_responses: "/v1/models",
  jina: "/v1/models",
  elevenlabs: "/v1/models",
  dashscope: `/api/v1/tasks/${NIL}`,
  fal: `/fal-ai/bytedance/requests/${NIL}/status`,
  replicate: `/v1/predictions/${NIL}`
}

/** Protocols whose every call creates something. */
const unasked: ReadonlyArray<string> = []

const protocols = [
  ...new Set(Object.values(builtInProtocols).flatMap((table) => [...table.keys()]))
]
const asked = protocols.filter((protocol) => !unasked.includes(protocol))
const listsModels = asked.filter((protocol) => questions[protocol] === "/v1/models")
const asksForTasks = asked.filter((protocol) => !listsModels.includes(protocol))

const checkOf = Effect.fnUntraced(function* (protocol: string) {
  const { video, image, text, rerank, audio } = yield* ProtocolAdapter
  const adapter =
    video.get(protocol) ??
    image.get(protocol) ??
    text.get(protocol) ??
    rerank?.get(protocol) ??
    audio?.get(protocol)
  return adapter?.check
})

const check = Effect.fnUntraced(function* (protocol: string, account: ChannelAccount) {
  return yield* (yield* Effect.orDie(Effect.fromNullishOr(yield* checkOf(protocol))))(account)
})

/** Models of the common standard form stand below a version, which a bare address gets by itself. */
const baseOf = (url: string, protocol: string): string =>
  `${url}/${protocol}${listsModels.includes(protocol) ? "/v1" : ""}`

const simulated = Effect.fnUntraced(function* (protocol: string, apiKey = "sk-simulated") {
  const { url } = yield* Simulator
  return yield* check(protocol, accountAt(baseOf(url, protocol), apiKey))
})

layer(layerWithSimulator)("the check of an account", (it) => {
  it.effect.each(protocols)("%s has one, or has no call that creates nothing", (protocol) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* checkOf(protocol)) === undefined, unasked.includes(protocol))
    })
  )

  it.effect.each(asked)("%s is asked once, and nothing is made", (protocol) =>
    Effect.gen(function* () {
      const { result, requests } = yield* seenDuring(simulated(protocol))
      yield* Effect.fromResult(result)
      assert.deepStrictEqual(
        requests.map(({ method, path, query, body }) => {
          const search = new URLSearchParams(query).toString()
          return { method, target: search === "" ? path : `${path}?${search}`, body }
        }),
        [{ method: "GET", target: `/${protocol}${questions[protocol]}`, body: null }]
      )
      const { book } = yield* Simulator
      assert.deepStrictEqual(yield* book, [])
    })
  )

  it.effect.each(asked)("%s refuses a wrong key with 401", (protocol) =>
    Effect.gen(function* () {
      const failure = failureOf(yield* Effect.flip(simulated(protocol, "bad-key")))
      assert.strictEqual(failure._tag, "VendorRefused")
      assert.propertyVal(failure, "effectiveStatus", 401)
    })
  )

  it.effect("vp_b refuses an application of another account with 403", () =>
    Effect.gen(function* () {
      const { url } = yield* Simulator
      const account = { ...accountAt(`${url}/vp_b`), appId: "bad-app" }
      const failure = failureOf(yield* Effect.flip(check("vp_b", account)))
      assert.propertyVal(failure, "effectiveStatus", 403)
    })
  )
})

const page = (status: number): Reply => ({
  status,
  headers: { "content-type": "text/html" },
  body: "<h1>Oops</h1>"
})
const words = { code: 1200, message: "come back later" }
const said = (status: number): Reply => ({ status, body: words })

interface Case {
  readonly says: string
  readonly protocols: ReadonlyArray<string>
  readonly reply: Reply
  /** Null where the account counts as accepted. */
  readonly failure: Failure | null
}

/** vp_d goes by its own codes, so these are asked of the others. */
const byStatus = asked.filter((protocol) => protocol !== "vp_d")
const tasksByStatus = asksForTasks.filter((protocol) => protocol !== "vp_d")

const cases: ReadonlyArray<Case> = [
  ...[400, 404, 422].map((status) => ({
    says: `a ${status} with the vendor's words is about the task`,
    protocols: asksForTasks,
    reply: said(status),
    failure: null
  })),
  {
    says: "a 404 with the vendor's words is of a vendor without a list",
    protocols: listsModels,
    reply: said(404),
    failure: null
  },
  ...[400, 422].map((status) => ({
    says: `a ${status} is not about the list`,
    protocols: listsModels,
    reply: said(status),
    failure: refused(status, words, { message: words.message })
  })),
  ...[401, 402, 403, 408, 429, 500, 503].map((status) => ({
    says: `a ${status} is a failure`,
    protocols: byStatus,
    reply: said(status),
    failure: refused(status, words, { message: words.message })
  })),
  {
    says: "an empty account that is told with 400 is a failure",
    protocols: tasksByStatus,
    reply: { status: 400, body: { error: { code: "insufficient_balance", message: "empty" } } },
    failure: refused(
      400,
      { error: { code: "insufficient_balance", message: "empty" } },
      { effectiveStatus: 402, message: "empty" }
    )
  },
  {
    says: "vp_d's code for a wrong key is a failure, whatever the status",
    protocols: ["vp_d"],
    reply: { body: { code: 1000, message: "no" } },
    failure: refused(200, null, { effectiveStatus: 401, message: "no" })
  },
  {
    says: "a page that says 404 is a failure",
    protocols: asked,
    reply: page(404),
    failure: refused(404, "<h1>Oops</h1>")
  },
  {
    says: "a redirect is a failure",
    protocols: asked,
    reply: { status: 302, headers: { location: "https://files.test/" } },
    failure: refused(302, null)
  },
  {
    says: "a page that says 200 is a failure",
    protocols: asked,
    reply: page(200),
    failure: lost("broken_answer", 200)
  },
  {
    says: "an error in an HTTP 200 is a failure",
    protocols: tasksByStatus.concat(listsModels),
    reply: { body: { error: { code: "x", message: "no" } } },
    failure: refused(200, null, { effectiveStatus: 502, message: "no" })
  },
  {
    says: "a cut answer is a failure",
    protocols: asked,
    reply: "cut",
    failure: lost("connection_lost", 200)
  }
]

layer(layerOverSockets)("an answer to the check of an account", (it) => {
  it.effect.each(named(cases))("%s", ([, { protocols, reply, failure }]) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor(reply)
      for (const protocol of protocols) {
        const came = yield* check(protocol, accountAt(vendor.url)).pipe(
          Effect.match({ onFailure: failureOf, onSuccess: () => null })
        )
        assert.deepStrictEqual(came, failure, protocol)
      }
    })
  )

  it.effect.each(asked)("%s is unreachable where nothing listens", (protocol) =>
    Effect.gen(function* () {
      const account = accountAt(yield* closedPort)
      const failure = yield* Effect.flip(check(protocol, account))
      assert.strictEqual(failure._tag, "VendorUnreachable")
    })
  )

  it.effect.each(asked)("%s is given up at the time limit of a poll", (protocol) =>
    Effect.gen(function* () {
      const vendor = yield* brokenVendor("hang")
      const late = runOutOfTime(check(protocol, accountAt(vendor.url)), vendor, limitSeconds.poll)
      assert.deepStrictEqual(failureOf(yield* late), lost("timeout"))
    })
  )
})
