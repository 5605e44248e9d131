/**
 * Two gateways on one database: what is changed through the first is in force on the second, whose
 * connections pass through a wire that can be cut.
 */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../../src/runtime/Changes.ts"
import type { Settings } from "../../src/runtime/Settings.ts"
import { toyDocument } from "../domain/queue/documents.ts"
import { toNano } from "../support/amounts.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { layerDatabaseAt, sharedKinds, temporaryAddresses } from "../support/databases.ts"
import {
  bodyAs,
  Gateway,
  layerTestGateway,
  quickSettings,
  testCatalog
} from "../support/gateway.ts"
import { createVideo } from "../support/orders.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"
import { toyVendor, withToys } from "../support/toyVendor.ts"

const NEVER_SECONDS = 3600

/** Nothing is read again by itself, so whatever is noticed was told. */
const toldOnly: Settings = {
  ...quickSettings,
  cacheSeconds: NEVER_SECONDS,
  unheardCacheSeconds: NEVER_SECONDS
}
/** While listening nothing is read again by itself, so that must have ended before it is. */
const listening: Settings = { ...quickSettings, cacheSeconds: NEVER_SECONDS }

/** What a connection reads that tells of changes. */
const COUNTS = "change_counts"

const gatewayOn = (url: string, settings: Settings) =>
  Layer.build(
    Layer.fresh(layerTestGateway("postgres", settings, { database: layerDatabaseAt(url) }))
  )

/** Asks until the answer is true; the limit only keeps a failed test from hanging. */
const until = (question: Effect.Effect<boolean>) =>
  question.pipe(
    Effect.delay("5 millis"),
    Effect.repeat({ until: (answer) => answer }),
    Effect.timeout("30 seconds")
  )

const CreatedKey = Schema.Struct({ id: Schema.String, key: Schema.String })

/** Both gateways, the second listening, and a key that it has in memory. */
const makePair = Effect.fnUntraced(function* (
  settings: Settings,
  kind: (typeof sharedKinds)[number] = "postgres"
) {
  const [firstUrl, secondUrl] = yield* temporaryAddresses(kind)
  const url = new URL(secondUrl)
  const firstContext = yield* gatewayOn(firstUrl, settings)
  const first = Context.get(firstContext, Gateway)
  const sql = Context.get(firstContext, SqlClient.SqlClient)
  const wire = yield* startTcpProxy(Number(url.port))
  url.port = String(wire.port)
  const context = yield* gatewayOn(url.href, settings)
  const second = Context.get(context, Gateway)
  const { isListening } = Context.get(context, Changes)
  yield* until(isListening)

  const customer = yield* first.customer("100")
  const { id, key } = yield* bodyAs(
    CreatedKey,
    yield* first.admin(`/members/${customer.memberId}/keys`, { json: { name: "to be revoked" } })
  )
  const isAccepted = Effect.map(second.call("/v1/balance", { key }), ({ status }) => status === 200)
  assert.isTrue(yield* isAccepted)

  const revoke = Effect.gen(function* () {
    const answer = yield* first.admin(`/keys/${id}`, { method: "DELETE" })
    assert.strictEqual(answer.status, 200, answer.text)
    return performance.now()
  })
  const isRefused = Effect.map(second.call("/v1/balance", { key }), ({ status }) => status === 401)
  return { first, second, sql, wire, isListening, customer, revoke, isAccepted, isRefused }
})

/** Says how long it took, which no test depends on. */
const tell = (what: string, since: number) =>
  Effect.logInfo(`${what} ${Math.round(performance.now() - since)} ms after the answer`)

it.live.each(sharedKinds)(
  "a key revoked on one gateway is refused by the other, which is told (%s)",
  (kind) =>
    Effect.gen(function* () {
      const { revoke, isRefused } = yield* makePair(toldOnly, kind)
      const revokedAt = yield* revoke
      yield* until(isRefused)
      yield* tell("refused by notice", revokedAt)
    }).pipe(Effect.scoped)
)

const Hold = Schema.Struct({ hold: Schema.String })
const List = Schema.Struct({ id: Schema.String })

it.live("a price list, and who is on it, holds on the other gateway, which is told", () =>
  Effect.gen(function* () {
    const { first, second, customer } = yield* makePair(toldOnly)
    const json = { model: "paint-1", prompt: "a lighthouse" }
    const holdOf = Effect.flatMap(
      second.call("/v1/quotes", { key: customer.key, json }),
      (answer) => Effect.map(bodyAs(Hold, answer), ({ hold }) => hold)
    )
    const becomes = (hold: string) => until(Effect.map(holdOf, (now) => now === hold))
    assert.strictEqual(yield* holdOf, "0.2")
    const { id } = yield* bodyAs(
      List,
      yield* first.admin("/price-lists", { json: { name: "Told", factor: "0.5" } })
    )
    const put = (price_list: string | null) =>
      first.admin(`/organizations/${customer.organizationId}`, {
        method: "PATCH",
        json: { price_list }
      })
    yield* put(id)
    yield* becomes("0.1")
    yield* first.admin(`/price-lists/${id}`, {
      method: "PUT",
      json: { name: "Told", factor: "2" }
    })
    yield* becomes("0.4")
    yield* put(null)
    yield* becomes("0.2")
  }).pipe(Effect.scoped)
)

it.live("a key revoked while the other gateway's line is silently dead is refused there", () =>
  Effect.gen(function* () {
    const { wire, isListening, revoke, isAccepted, isRefused } = yield* makePair(listening)
    wire.swallow(COUNTS)
    yield* until(Effect.sync(() => wire.swallowed() > 0))
    yield* isAccepted
    const revokedAt = yield* revoke
    yield* until(isRefused)
    yield* tell("refused on a dead line", revokedAt)
    assert.isFalse(yield* isListening)
  }).pipe(Effect.scoped)
)

it.live("a key revoked while the other gateway could not listen is refused once it can", () =>
  Effect.gen(function* () {
    const { wire, isListening, revoke, isAccepted, isRefused } = yield* makePair(toldOnly)
    wire.swallow(COUNTS)
    wire.cutAll()
    yield* until(Effect.map(isListening, (heard) => !heard))
    const revokedAt = yield* revoke
    assert.isTrue(yield* isAccepted)
    wire.pass()
    yield* until(isRefused)
    yield* tell("refused after listening again", revokedAt)
  }).pipe(Effect.scoped)
)

it.live("a task deleted on one gateway is not found on the other, which had it in memory", () =>
  Effect.gen(function* () {
    const { first, second, customer } = yield* makePair(toldOnly)
    const id = yield* Effect.provideService(
      createVideo(customer, { model: "film-1" }),
      Gateway,
      second
    )
    const path = `/v1/videos/${id}`
    const statusAt = (gateway: typeof first) =>
      Effect.map(gateway.call(path, { key: customer.key }), ({ status }) => status)
    yield* second.call(`${path}?wait=30`, { key: customer.key })
    assert.deepStrictEqual([yield* statusAt(first), yield* statusAt(second)], [200, 200])
    const deleted = yield* first.call(path, { method: "DELETE", key: customer.key })
    assert.strictEqual(deleted.status, 200, deleted.text)
    assert.strictEqual(yield* statusAt(first), 404)
    yield* until(Effect.map(statusAt(second), (status) => status === 404))
  }).pipe(Effect.scoped)
)

it.live("a new price is in force on the other gateway, which is told", () =>
  Effect.gen(function* () {
    const { first, second, customer } = yield* makePair(toldOnly)
    const priceOfAnImage = Effect.gen(function* () {
      const before = yield* second.balance(customer)
      const answer = yield* second.call("/v1/images/generations", {
        key: customer.key,
        json: { model: "paint-1", prompt: "a lighthouse" }
      })
      assert.strictEqual(answer.status, 200, answer.text)
      return toNano(before.balance) - toNano((yield* second.balance(customer)).balance)
    })
    assert.strictEqual(yield* priceOfAnImage, toNano("0.2"))
    const catalog = testCatalog(second.simulator.url)
    const json = {
      ...catalog,
      models: catalog.models.map((model) =>
        model.id === "paint-1" ? { ...model, prices: { kind: "image", per_image: "0.3" } } : model
      )
    }
    const replaced = yield* first.admin("/catalog", { method: "PUT", json })
    assert.strictEqual(replaced.status, 200, replaced.text)
    const replacedAt = performance.now()
    yield* until(Effect.map(priceOfAnImage, (price) => price === toNano("0.3")))
    yield* tell("new price", replacedAt)
  }).pipe(Effect.scoped)
)

it.live(
  "a vendor's document stored on one gateway is used by the other, and a faulty one is not",
  () =>
    Effect.gen(function* () {
      const { first, second, sql, customer, revoke, isRefused } = yield* makePair(toldOnly)
      const vendor = yield* brokenVendor(toyVendor())
      const json = withToys(testCatalog(second.simulator.url), vendor.url)
      const order = { model: "toy-film", prompt: "a boat", duration: 4, tags: ["sea"] }
      const quoteStatus = Effect.map(
        second.call("/v1/quotes", { key: customer.key, json: order }),
        ({ status }) => status
      )
      assert.strictEqual(yield* quoteStatus, 404)
      const stored = yield* first.admin("/catalog", { method: "PUT", json })
      assert.strictEqual(stored.status, 200, stored.text)
      yield* until(Effect.map(quoteStatus, (status) => status === 200))
      const id = yield* Effect.provideService(createVideo(customer, order), Gateway, second)
      const done = yield* second.call(`/v1/videos/${id}?wait=30`, { key: customer.key })
      assert.propertyVal(done.body, "task_status", "succeeded", done.text)
      const [submission] = yield* vendor.requests
      assert.strictEqual(submission?.target, "/v2/film/one/jobs")
      assert.deepNestedInclude(JSON.parse(submission?.body ?? ""), { "options.tags": ["sea"] })

      // As a later release may write it: a document that this one finds faults in.
      const faulty = { ...toyDocument, calls: { ...toyDocument.calls, status: { method: "ASK" } } }
      yield* sql`
      INSERT INTO catalog_versions (version, document, author)
      SELECT version + 1, jsonb_set(document, '{protocols}', ${JSON.stringify([faulty])}::jsonb), 'later'
        FROM catalog_versions ORDER BY version DESC LIMIT 1`
      yield* sql`UPDATE change_counts SET changes = changes + 1 WHERE topic = 'catalog'`
      // The second has heard of the version when it has heard of the change after it.
      yield* revoke
      yield* until(isRefused)
      assert.strictEqual(yield* quoteStatus, 200)
      yield* Effect.provideService(createVideo(customer, order), Gateway, second)
      const { text } = yield* second.metrics
      assert.match(text, /^gateway_catalog_unusable 1$/m)
      yield* sql`DELETE FROM catalog_versions WHERE author = 'later'`
    }).pipe(Effect.scoped)
)

it.live.each([
  ["which is told", toldOnly, null],
  ["also while its line is silently dead", listening, COUNTS]
] as const)("a channel's new key is used by the other gateway, %s", ([, settings, swallowed]) =>
  Effect.gen(function* () {
    const { first, second, wire, customer } = yield* makePair(settings)
    const order = second.call("/v1/videos/generations", {
      key: customer.key,
      json: { model: "film-badkey", prompt: "a lighthouse" }
    })
    assert.strictEqual((yield* order).status, 502)
    if (swallowed !== null) {
      wire.swallow(swallowed)
      yield* until(Effect.sync(() => wire.swallowed() > 0))
    }
    const catalog = testCatalog(second.simulator.url)
    const json = {
      ...catalog,
      channels: catalog.channels.map((channel) =>
        channel.id === "ch-bad" ? { ...channel, api_key: "vendor-key-a" } : channel
      )
    }
    const replaced = yield* first.admin("/catalog", { method: "PUT", json })
    assert.strictEqual(replaced.status, 200, replaced.text)
    const replacedAt = performance.now()
    yield* until(Effect.map(order, ({ status }) => status === 200))
    yield* tell("new channel key", replacedAt)
  }).pipe(Effect.scoped)
)

it.live("a change of a topic that is not known counts for everything", () =>
  Effect.gen(function* () {
    const { sql, customer, isAccepted, isRefused } = yield* makePair(toldOnly)
    yield* sql`UPDATE api_keys SET revoked_at = now() WHERE member_id = ${customer.memberId}`
    assert.isTrue(yield* isAccepted)
    yield* sql`INSERT INTO change_counts (topic, changes) VALUES ('of a later release', 1)`
    yield* until(isRefused)
  }).pipe(Effect.scoped)
)
