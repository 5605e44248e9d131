/** What every store of the receivers of webhooks and of the messages to them must do. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { OPERATORS, WebhookEndpoints } from "../../src/features/webhooks/WebhookEndpoints.ts"
import {
  ChannelRecords,
  type CooldownTarget,
  keyTarget
} from "../../src/services/channels/ChannelRecords.ts"
import {
  type AttemptEnd,
  type ClaimedMessage,
  type DeliveryFilter,
  type MessageClaims,
  WebhookMessages
} from "../../src/services/delivery/WebhookMessages.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { jobId, organization, type Stores } from "../support/ledger.ts"
import { quote, upstream } from "../support/tasks.ts"

const all: MessageClaims = {
  limit: 1000,
  maxFailing: 1000,
  maxPerReceiver: 1000,
  maxPerOrganization: 1000,
  runningByReceiver: new Map(),
  runningByOrganization: new Map()
}

const any: DeliveryFilter = { state: null, taskId: null }

const attempt = { status: 500, durationMs: 7, answer: "no", error: null }
const again: AttemptEnd = { _tag: "Again", afterSeconds: 3600 }

/** Claims what is due of these endpoints; what others left stays claimed. */
export const claim = Effect.fnUntraced(function* (
  ids: ReadonlyArray<string>,
  claims: Partial<MessageClaims> = {}
) {
  const messages = yield* WebhookMessages
  const claimed = yield* messages.claimDue({ ...all, ...claims })
  return claimed.filter(({ endpointId }) => ids.includes(endpointId))
})

export const endpointOf = Effect.fnUntraced(function* (
  owner: string,
  eventTypes: ReadonlyArray<string>,
  url = "https://example.com/hooks"
) {
  const endpoints = yield* WebhookEndpoints
  return yield* endpoints.create(owner, { name: "test", url, eventTypes })
})

const task = {
  listedProtocol: "vp_d",
  summary: {},
  submitSeconds: 60
}

type Organization = Effect.Success<ReturnType<typeof organization>>

/** A video that ended; answers its id. */
const ended = Effect.fnUntraced(function* (
  { organizationId, hold }: Organization,
  callbackUrl: string | null = null
) {
  const ledger = yield* Ledger
  const repo = yield* TaskRepo
  const id = jobId("vt")
  yield* ledger.hold(hold(1n, { id, quote, task: { ...task, callbackUrl } }))
  yield* repo.accept(organizationId, id, upstream("up"), 3600)
  yield* ledger.release({
    organizationId,
    holdId: id,
    by: "poll",
    task: { from: "processing", state: "failed", errorCode: "gone", errorMessage: "no more" },
    orphan: null,
    answer: null,
    forgetKey: false
  })
  return id
})

export const webhooksSuite = (it: Vitest.MethodsNonLive<Stores>): void => {
  it.effect(
    "the end of a task is a message to each endpoint that chose it, and to its callback",
    () =>
      Effect.gen(function* () {
        const own = yield* organization(100n)
        const { organizationId } = own
        const [one, two, other] = [
          yield* endpointOf(organizationId, ["video.failed"]),
          yield* endpointOf(organizationId, ["video.failed", "video.completed"]),
          yield* endpointOf(organizationId, ["video.completed"])
        ]
        const id = yield* ended(own, "https://example.com/back")
        const callback = `callback_${organizationId}`
        const ids = [one.endpoint.id, two.endpoint.id, other.endpoint.id, callback]
        const claimed = yield* claim(ids)
        assert.sameMembers(
          claimed.map(({ endpointId }) => endpointId),
          [one.endpoint.id, two.endpoint.id, callback]
        )
        assert.lengthOf(new Set(claimed.map((message) => message.id)), 3)
        for (const message of claimed) {
          assert.deepInclude(message, { type: "video.failed", taskId: id, tries: 0, data: null })
          assert.deepInclude(message.task, {
            id,
            state: "failed",
            errorCode: "gone",
            errorMessage: "no more",
            videoUrl: null,
            result: null,
            completionTokens: null
          })
        }
        assert.deepInclude(
          claimed.find(({ isCallback }) => isCallback),
          { url: "https://example.com/back", receiver: `${callback}/example.com` }
        )
        assert.deepStrictEqual(yield* claim(ids), [])
        const later = yield* ended(own)
        const messages = yield* WebhookMessages
        const tasksOf = (filter: Partial<DeliveryFilter>) =>
          Effect.map(
            messages.list(one.endpoint.id, { ...any, ...filter }, { after: null, limit: 10 }),
            ({ data }) => data.map(({ taskId }) => taskId)
          )
        assert.sameMembers(yield* tasksOf({}), [later, id])
        assert.deepStrictEqual(yield* tasksOf({ taskId: id }), [id])
        assert.deepStrictEqual(yield* tasksOf({ taskId: id, state: "failed" }), [])
      })
  )

  it.effect("what is rejected or taken no more is no message", () =>
    Effect.gen(function* () {
      const own = yield* organization(100n)
      const { organizationId, hold } = own
      const { endpoint } = yield* endpointOf(organizationId, ["video.failed"])
      const endpoints = yield* WebhookEndpoints
      const ledger = yield* Ledger
      const id = jobId("vt")
      yield* ledger.hold(hold(1n, { id, quote, task }))
      yield* ledger.release({
        organizationId,
        holdId: id,
        by: "sweep",
        task: { from: "submitting", state: "rejected", errorCode: "no", errorMessage: "no" },
        orphan: null,
        answer: null,
        forgetKey: true
      })
      yield* endpoints.change(organizationId, endpoint.id, { enabled: false })
      yield* ended(own)
      yield* endpoints.change(organizationId, endpoint.id, { enabled: true })
      assert.deepStrictEqual(yield* claim([endpoint.id]), [])
    })
  )

  it.effect("an attempt is written once, by the claim it belongs to", () =>
    Effect.gen(function* () {
      const messages = yield* WebhookMessages
      const endpoints = yield* WebhookEndpoints
      const own = yield* organization(100n)
      const { endpoint } = yield* endpointOf(own.organizationId, ["video.failed"])
      yield* ended(own)
      const [message] = yield* claim([endpoint.id])
      if (message === undefined) throw new Error("nothing was claimed")
      yield* messages.recordAttempt(message, attempt, { _tag: "Again", afterSeconds: 0 })
      assert.isNotNull((yield* endpoints.find(null, endpoint.id)).failingSince)
      const [second] = yield* claim([endpoint.id])
      if (second === undefined) throw new Error("nothing was claimed again")
      assert.deepInclude(second, { id: message.id, tries: 1, isFailing: true })
      // The first claim is over.
      yield* messages.recordAttempt(message, attempt, { _tag: "Failed" })
      yield* messages.recordAttempt(second, { ...attempt, status: 204 }, { _tag: "Delivered" })
      yield* messages.recordAttempt(second, attempt, again)
      const { data } = yield* messages.list(endpoint.id, any, { after: null, limit: 10 })
      assert.lengthOf(data, 1)
      assert.deepInclude(data[0], { id: message.id, state: "delivered", nextAttemptAt: null })
      assert.deepStrictEqual(
        data[0]?.attempts.map(({ status, durationMs, answer, error }) => [
          status,
          durationMs,
          answer,
          error
        ]),
        [
          [500, 7, "no", null],
          [204, 7, "no", null]
        ]
      )
      assert.isNull((yield* endpoints.find(null, endpoint.id)).failingSince)
      assert.lengthOf(
        (yield* messages.list(endpoint.id, { ...any, state: "failed" }, { after: null, limit: 10 }))
          .data,
        0
      )
    })
  )

  it.effect("receivers take turns, one that fails has one attempt at a time", () =>
    Effect.gen(function* () {
      const messages = yield* WebhookMessages
      const own = yield* organization(100n)
      const { organizationId } = own
      const ids = [
        (yield* endpointOf(organizationId, ["video.failed"])).endpoint.id,
        (yield* endpointOf(organizationId, ["video.failed"])).endpoint.id
      ]
      const [first = "", second = ""] = ids
      for (let nth = 0; nth < 4; nth++) yield* ended(own)
      const count = (claimed: ReadonlyArray<ClaimedMessage>) =>
        ids.map((id) => claimed.filter(({ endpointId }) => endpointId === id).length)
      // Three of one run already.
      const running = new Map([[first, 3]])
      const some = yield* claim(ids, { maxPerReceiver: 4, runningByReceiver: running })
      assert.deepStrictEqual(count(some), [1, 4])
      for (const message of some) yield* messages.recordAttempt(message, attempt, again)
      // Both fail now; what is left of the first is due.
      assert.deepStrictEqual(count(yield* claim(ids, { maxFailing: 0 })), [0, 0])
      const byOrganization = new Map([[organizationId, 5]])
      const none = { maxPerOrganization: 5, runningByOrganization: byOrganization }
      assert.deepStrictEqual(count(yield* claim(ids, none)), [0, 0])
      assert.deepStrictEqual(count(yield* claim(ids)), [1, 0])
      assert.deepStrictEqual(count(yield* claim(ids)), [1, 0])
      assert.strictEqual(yield* messages.redeliverSince(second, new Date(0)), 4)
      assert.deepStrictEqual(count(yield* claim(ids)), [1, 1])
    })
  )

  it.effect("410 disables an endpoint for good, and its owner's others hear of it", () =>
    Effect.gen(function* () {
      const messages = yield* WebhookMessages
      const endpoints = yield* WebhookEndpoints
      const own = yield* organization(100n)
      const { endpoint } = yield* endpointOf(own.organizationId, ["video.failed"])
      const { endpoint: other } = yield* endpointOf(own.organizationId, ["balance.low"])
      yield* ended(own)
      yield* ended(own)
      const [message] = yield* claim([endpoint.id], { maxPerReceiver: 1 })
      if (message === undefined) throw new Error("nothing was claimed")
      yield* messages.recordAttempt(message, { ...attempt, status: 410 }, { _tag: "Gone" })
      const gone = yield* endpoints.find(own.organizationId, endpoint.id)
      assert.isNotNull(gone.disabledAt)
      assert.strictEqual(gone.disabledReason, "it answered 410 Gone")
      const { data } = yield* messages.list(
        endpoint.id,
        { ...any, state: "failed" },
        { after: null, limit: 10 }
      )
      assert.lengthOf(data, 2)
      const [told] = yield* claim([other.id])
      assert.strictEqual(told?.type, "webhook_endpoint.disabled")
      assert.deepStrictEqual(told?.data, {
        id: endpoint.id,
        name: "test",
        url: "https://example.com/hooks",
        reason: "it answered 410 Gone"
      })
    })
  )

  it.effect("operators are told of channels and models that rest, and not of keys", () =>
    Effect.gen(function* () {
      const records = yield* ChannelRecords
      const { endpoint } = yield* endpointOf(OPERATORS, ["channel.down", "channel.up"])
      const channelId = jobId("vt")
      const channel = { channelId, keyName: null, model: null, organizationId: null }
      const cause = { reason: "timeout", status: null, isAlone: false }
      const begin = (of: CooldownTarget, why: Partial<typeof cause> = {}) =>
        records.beginCooldown(of, { ...cause, ...why }, { min: 3600, max: 3600 })
      let seen = 0
      const news = Effect.map(claim([endpoint.id]), (messages) => {
        const told = messages.filter(({ data }) => JSON.stringify(data).includes(channelId))
        seen += told.length
        return told.map(({ type, data }) => [type, data])
      })
      const event = (type: "down" | "up", model: string | null) => [
        `channel.${type}`,
        { id: channelId, model, reason: "timeout", status: null }
      ]

      yield* begin(channel)
      yield* begin(channel, { reason: "other" })
      yield* begin(keyTarget(channelId, "k"))
      yield* records.endCooldown(keyTarget(channelId, "k"))
      assert.deepStrictEqual(yield* news, [event("down", null)])
      yield* records.endCooldown(channel)
      yield* records.endCooldown(channel)
      assert.deepStrictEqual(yield* news, [event("up", null)])

      // Of an organisation beside which others are served there is nothing to tell.
      const model = { ...channel, model: "a" }
      const slowed = { ...model, organizationId: "org_1" }
      yield* begin(slowed)
      yield* records.endCooldown(slowed)
      assert.deepStrictEqual(yield* news, [])

      // The model is down once, for the one that was alone and then for everybody.
      yield* begin(slowed, { isAlone: true })
      assert.deepStrictEqual(yield* news, [event("down", "a")])
      yield* begin(model)
      yield* begin({ ...model, model: "b" })
      assert.deepStrictEqual(yield* news, [event("down", "b")])
      yield* records.endCooldown(model)
      assert.deepStrictEqual(yield* news, [])
      yield* records.contradict(slowed)
      assert.deepStrictEqual(yield* news, [event("up", "a")])
      yield* records.endCooldown(slowed)
      yield* records.endCooldown({ ...model, model: "b" })
      assert.deepStrictEqual(yield* news, [event("up", "b")])
      assert.strictEqual(seen, 6)
      yield* (yield* WebhookEndpoints).remove(OPERATORS, endpoint.id)
    })
  )

  it.effect("a secret that is replaced signs on for a day, where that is asked for", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const { organizationId } = yield* organization(0n)
      const { endpoint, secret } = yield* endpointOf(organizationId, ["video.failed"])
      const secrets = Effect.map(endpoints.secrets(endpoint.id), (all) => all.map(Redacted.value))
      assert.deepStrictEqual(yield* secrets, [Redacted.value(secret)])
      const kept = yield* endpoints.rotate(organizationId, endpoint.id, true)
      assert.deepStrictEqual(yield* secrets, [kept.secret, secret].map(Redacted.value))
      assert.include(Redacted.value(kept.secret), kept.endpoint.secretHint.slice(-4))
      const alone = yield* endpoints.rotate(organizationId, endpoint.id, false)
      assert.deepStrictEqual(yield* secrets, [Redacted.value(alone.secret)])
      assert.deepStrictEqual(yield* endpoints.secrets("whe_none"), [])
    })
  )

  it.effect("endpoints belong to their owner, and the receiver of callbacks stays", () =>
    Effect.gen(function* () {
      const endpoints = yield* WebhookEndpoints
      const { organizationId } = yield* organization(0n)
      const { organizationId: stranger } = yield* organization(0n)
      const { endpoint } = yield* endpointOf(organizationId, ["video.failed"])
      for (const foreign of [
        endpoints.find(stranger, endpoint.id),
        endpoints.change(stranger, endpoint.id, { name: "mine" }),
        endpoints.rotate(stranger, endpoint.id, false),
        endpoints.remove(stranger, endpoint.id)
      ]) {
        assert.strictEqual((yield* Effect.flip(foreign))._tag, "not_found")
      }
      const callbacks = yield* endpoints.callbacks(organizationId)
      assert.deepStrictEqual(yield* endpoints.callbacks(organizationId), callbacks)
      yield* Effect.flip(endpoints.remove(organizationId, callbacks.id))
      yield* Effect.flip(endpoints.change(organizationId, callbacks.id, { url: "https://a.b" }))
      const page = { after: null, limit: 10 }
      const { data } = yield* endpoints.list(organizationId, page)
      assert.deepStrictEqual(
        data.map(({ id }) => id),
        [endpoint.id]
      )
      const changed = yield* endpoints.change(organizationId, endpoint.id, {
        eventTypes: ["image.failed"]
      })
      assert.deepInclude(changed, { name: "test", url: "https://example.com/hooks" })
      assert.deepStrictEqual([...changed.eventTypes], ["image.failed"])
      yield* endpoints.remove(organizationId, endpoint.id)
      assert.strictEqual(
        (yield* Effect.flip(endpoints.find(organizationId, endpoint.id)))._tag,
        "not_found"
      )
    })
  )

  it.effect("a balance is low once a crossing", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const { organizationId } = yield* organization(5n)
      const { endpoint } = yield* endpointOf(organizationId, ["balance.low"])
      assert.isNull(yield* ledger.lowBalance(organizationId))
      yield* ledger.setLowBalance(organizationId, 6n)
      assert.strictEqual(yield* ledger.lowBalance(organizationId), 6n)
      yield* ledger.deposit(organizationId, 2n, "above")
      yield* ledger.setLowBalance(organizationId, 10n)
      const told = yield* claim([endpoint.id])
      assert.sameDeepMembers(
        told.map(({ data }) => data),
        [
          { balance: "0.000000005", threshold: "0.000000006" },
          { balance: "0.000000007", threshold: "0.00000001" }
        ]
      )
      const unknown = yield* Effect.flip(ledger.setLowBalance("none", 1n))
      assert.strictEqual(unknown._tag, "not_found")
    })
  )
}
