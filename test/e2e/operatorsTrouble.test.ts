/**
 * A vendor's word on our account, our key or what our account may call is the operator's matter: the
 * next mount makes the order, and where there is none the client reads nothing of it.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { serving } from "../support/httpServer.ts"

const ACCOUNT = "2100483920"
const VENDORS_NAME = "vendors-own-name-251215"

const contentError = (code: string, message: string) => ({ error: { code, message, type: "x" } })
const reasonError = (reason: string) => ({ code: 400, reason, message: `model: ${VENDORS_NAME}` })

const closed = `Your account ${ACCOUNT} has not activated the model ${VENDORS_NAME}.`
const unknown = `The model or endpoint ${VENDORS_NAME} does not exist or you do not have access.`
const paused = `Your account [${ACCOUNT}] has reached the set inference limit.`

/** What each vendor answers to a key of an account that may not order. */
const troubles = [
  ["vp_a", 404, contentError("ModelNotOpen", closed)],
  ["vp_a", 404, contentError("InvalidEndpointOrModel.NotFound", unknown)],
  ["vp_a", 429, contentError("SetLimitExceeded", paused)],
  ["vp_a", 403, contentError("AccountOverdueError", closed)],
  ["vp_d", 404, { code: 1202, message: closed, request_id: "r" }],
  ["vp_d", 404, { code: 1203, message: unknown, request_id: "r" }],
  ["vp_d", 429, { code: 1102, message: paused, request_id: "r" }],
  ["vp_e", 400, reasonError("ModelUnavailable")],
  ["vp_e", 400, reasonError("CreditInsufficient")],
  ["vp_f", 404, { code: "ModelNotFound", message: unknown, request_id: "r" }],
  ["vp_f", 400, { code: "Arrearage", message: closed, request_id: "r" }],
  ["vp_f", 403, { code: "AccessDenied.Unpurchased", message: closed, request_id: "r" }],
  ["ip_a", 404, contentError("ModelNotOpen", closed)],
  ["ip_a", 404, contentError("model_not_found", unknown)],
  ["ip_b", 404, { code: "ModelNotFound", message: unknown, request_id: "r" }]
] as const

type Protocol = (typeof troubles)[number][0]

const isImage = (protocol: Protocol): boolean => protocol.startsWith("ip_")
const upstreams = { vp_a: "m", vp_d: "m", vp_e: "m", vp_f: "m-t2v", ip_a: "m", ip_b: "qwen-image" }

/** One model on the account in trouble, and on one in good standing where `isDouble`. */
const catalogOf = (protocol: Protocol, bad: string, good: string, isDouble: boolean) => ({
  channels: [
    { id: "bad", name: "bad", base_url: bad, api_key: "bad-account-key" },
    {
      id: "good",
      name: "good",
      base_url: `${good}/${protocol}${protocol === "ip_a" ? "/v1" : ""}`,
      api_key: "good-account-key"
    }
  ],
  models: [
    {
      id: "m-1",
      modality: isImage(protocol) ? ("image" as const) : ("video" as const),
      protocol,
      prices: isImage(protocol)
        ? { kind: "image" as const, per_image: "0.2" }
        : protocol === "vp_a"
          ? {
              kind: "token_video" as const,
              per_million_tokens: { base: { without_video: "46", with_video: "28" } }
            }
          : { kind: "second_video" as const, per_second: { "720p": "0.6" } }
    }
  ],
  mounts: [
    { model: "m-1", channel: "bad", upstream_model: VENDORS_NAME, priority: 0 },
    ...(isDouble
      ? [{ model: "m-1", channel: "good", upstream_model: upstreams[protocol], priority: 1 }]
      : [])
  ]
})

layer(layerTestGateway("embedded"), { excludeTestServices: true })(
  "an account in trouble",
  (it) => {
    const ordered = Effect.fnUntraced(function* (
      [protocol, status, body]: readonly [Protocol, number, object],
      isDouble: boolean
    ) {
      const gateway = yield* Gateway
      const bad = yield* serving((request, response) => {
        request.resume()
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify(body))
      })
      const catalog = catalogOf(protocol, bad, gateway.simulator.url, isDouble)
      const put = yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
      assert.strictEqual(put.status, 200, put.text)
      const who = yield* gateway.customer("10")
      const path = isImage(protocol) ? "/v1/images/generations" : "/v1/videos/generations"
      const answer = yield* gateway.call(path, {
        key: who.key,
        json: { model: "m-1", prompt: "a lighthouse" }
      })
      return { answer, bad, who }
    })

    it.effect.each([...troubles])("%s %i %j: the next mount makes the order", (trouble) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { answer } = yield* ordered(trouble, true)
          assert.strictEqual(answer.status, 200, answer.text)
        })
      )
    )

    it.effect.each([...troubles])("%s %i %j: alone, the client reads nothing of it", (trouble) =>
      Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const { answer, bad, who } = yield* ordered(trouble, false)
          assert.strictEqual(answer.status, 502, answer.text)
          assert.include(answer.text, "does not accept the gateway's account")
          for (const word of [ACCOUNT, VENDORS_NAME, new URL(bad).host]) {
            assert.notInclude(answer.text, word)
          }
          assert.deepInclude(yield* gateway.balance(who), { balance: "10" })
        })
      )
    )

    it.effect("what is refused of the order is told in the client's name of the model", () =>
      Effect.scoped(
        Effect.gen(function* () {
          const words = `task_type r2v does not support model ${VENDORS_NAME} in account ${ACCOUNT}`
          const refusal = contentError("InvalidParameter", `the specified ${words}`)
          const { answer } = yield* ordered(["vp_a", 400, refusal], true)
          assert.strictEqual(answer.status, 400, answer.text)
          const told =
            "the specified task_type r2v does not support model m-1 in account [redacted]"
          assert.strictEqual(answer.text.split(told).length, 3, answer.text)
        })
      )
    )
  }
)
