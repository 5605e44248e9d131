import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { formatNano, parseNano } from "../../src/domain/money/Money.ts"
import { CostView } from "../../src/features/usage/UsageSumsApi.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { talk } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

type Catalog = typeof CatalogWrite.Encoded

const ORDERS = Number(process.env.COSTED_ORDERS ?? 300)

const accounts = ["aaaa", "bbbb", "cccc"] as const
/** What an image costs at each account, in billionths; nobody has told of the last one. */
const imageNano: Readonly<Record<string, bigint>> = { aaaa: 100_000_001n, bbbb: 149_999_999n }

const film = (without_video: string) => ({
  kind: "token_video" as const,
  per_million_tokens: { base: { without_video } }
})
const tokens = (per_million_input: string, per_million_output: string) => ({
  kind: "tokens" as const,
  per_million_input,
  per_million_output
})

const catalogFor = (simulatorUrl: string): Catalog => ({
  channels: [
    ...accounts.map((account) => ({
      id: account,
      name: account,
      base_url: `${simulatorUrl}/ip_a/v1`,
      api_key: `vendor-key-${account}`
    })),
    { id: "films", name: "F", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-f" },
    { id: "texts", name: "T", base_url: `${simulatorUrl}/openai/v1`, api_key: "vendor-key-t" }
  ],
  models: [
    {
      id: "paint-1",
      modality: "image",
      protocol: "ip_a",
      prices: { kind: "image", per_image: "0.2" }
    },
    { id: "film-1", modality: "video", protocol: "vp_a", prices: film("46") },
    { id: "talk-1", modality: "chat", protocol: "openai", prices: tokens("2", "8") }
  ],
  mounts: [
    ...accounts.map((channel) => {
      const nano = imageNano[channel]
      return {
        model: "paint-1",
        channel,
        upstream_model: "vendor-paint-1",
        ...(nano === undefined
          ? {}
          : { cost: { kind: "image" as const, per_image: formatNano(nano) } })
      }
    }),
    { model: "film-1", channel: "films", upstream_model: "vendor-film-1", cost: film("30") },
    { model: "talk-1", channel: "texts", upstream_model: "vendor-talk-1", cost: tokens("1", "3") }
  ]
})

const Costs = Schema.Struct({ data: Schema.Array(CostView), has_more: Schema.Boolean })

/** From long before to long after the tests, whatever the day. */
const costsBy = Effect.fnUntraced(function* (by: string, more = "") {
  const gateway = yield* Gateway
  const [from, to] = ["2020-01-01", "2090-12-31"]
  const answer = yield* gateway.admin(`/costs?from=${from}&to=${to}&by=${by}${more}`)
  assert.strictEqual(answer.status, 200, answer.text)
  return yield* bodyAs(Costs, answer)
})

const nanoOf = (decimal: string) => Effect.orDie(Effect.fromResult(parseNano(decimal)))

const totals = Effect.fnUntraced(function* (lines: typeof Costs.Type.data) {
  let [count, charge, cost, withoutCost] = [0, 0n, 0n, 0]
  for (const line of lines) {
    count += line.count
    charge += yield* nanoOf(line.charge)
    cost += yield* nanoOf(line.cost)
    withoutCost += line.without_cost
    const margin = (yield* nanoOf(line.charge)) - (yield* nanoOf(line.cost))
    assert.strictEqual(line.margin, line.without_cost === 0 ? formatNano(margin) : null)
  }
  return { count, charge, cost, withoutCost }
})

const usageOf = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const answer = yield* gateway.admin(`/organizations/${organizationId}/usage?limit=1`)
  const Usage = Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        charge: Schema.String,
        cost: Schema.NullOr(Schema.String),
        input: Schema.Int,
        output: Schema.Int
      })
    )
  })
  const [newest] = (yield* bodyAs(Usage, answer)).data
  return newest ?? assert.fail(answer.text)
})

layer(layerTestGateway("postgres", undefined, { catalogFor }), {
  excludeTestServices: true,
  timeout: "600 seconds"
})("what channels cost", (it) => {
  it.effect(
    "charges less costs are the margin, to the last unit, by every name; it is null beside an unknown cost",
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const customers = yield* Effect.all([
          gateway.customer("1000000"),
          gateway.customer("1000000")
        ])
        yield* Effect.forEach(
          Array.from({ length: ORDERS }, (_, index) => index),
          (index) =>
            Effect.gen(function* () {
              const who = customers[index % 2] ?? assert.fail()
              const made = yield* orderImages(who, { model: "paint-1", n: 1 + (index % 3) })
              assert.strictEqual(made.status, 200, made.text)
            }),
          { concurrency: 32, discard: true }
        )
        const { data: channels } = yield* costsBy("channel")
        const sums = yield* totals(channels)
        assert.strictEqual(sums.count, ORDERS)
        for (const by of ["model", "organization", "day"]) {
          assert.deepStrictEqual(yield* totals((yield* costsBy(by)).data), sums, by)
        }
        // By the vendor's own book.
        const book = yield* gateway.simulator.book
        for (const { channel = "", cost, count, without_cost } of channels) {
          const accepted = book.flatMap((entry) =>
            entry.event === "accepted" && entry.key_hint === channel ? [entry.order.n ?? 0] : []
          )
          const images = accepted.reduce((sum, n) => sum + n, 0)
          assert.strictEqual(count, accepted.length)
          assert.isAbove(count, ORDERS / 6)
          assert.strictEqual(cost, formatNano(BigInt(images) * (imageNano[channel] ?? 0n)))
          assert.strictEqual(without_cost, channel === "cccc" ? count : 0)
        }
        const first = yield* costsBy("channel", "&limit=2")
        assert.isTrue(first.has_more)
        const rest = yield* costsBy("channel", `&limit=2&after=${first.data[1]?.channel}`)
        assert.deepStrictEqual([...first.data, ...rest.data], [...channels])
        assert.deepStrictEqual((yield* costsBy("model")).data[0]?.model, "paint-1")
      })
  )

  it.effect("videos and texts cost what the vendor counted, and what failed costs nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "film-1", prompt: "x" })
      assert.strictEqual((yield* finishVideo(who, id)).task_status, "succeeded")
      const video = yield* usageOf(who)
      assert.strictEqual(video.cost, formatNano(BigInt(video.output) * 30_000n))

      const failed = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
      assert.strictEqual((yield* finishVideo(who, failed)).task_status, "failed")
      assert.deepStrictEqual(yield* usageOf(who), video)

      assert.strictEqual((yield* ask(who, talk("hello"))).status, 200)
      const text = yield* usageOf(who)
      const nano = BigInt(text.input) * 1_000n + BigInt(text.output) * 3_000n
      assert.strictEqual(text.cost, formatNano(nano))
      const own = yield* gateway.call("/v1/usage", { key: who.key })
      assert.notInclude(own.text, "cost")
      yield* gateway.verify
    })
  )

  it.effect("the cost is frozen with the order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("100")
      const id = yield* createVideo(who, { model: "film-1", prompt: "x sim:slow=2" })
      const catalog = catalogFor(gateway.simulator.url)
      const dearer = catalog.mounts.map((mount) =>
        mount.model === "film-1" ? { ...mount, cost: film("40") } : mount
      )
      const put = (mounts: Catalog["mounts"]) =>
        gateway.admin("/catalog", { method: "PUT", json: { ...catalog, mounts } })
      assert.strictEqual((yield* put(dearer)).status, 200)
      yield* finishVideo(who, id)
      const { cost, output } = yield* usageOf(who)
      assert.strictEqual(cost, formatNano(BigInt(output) * 30_000n))
      yield* put(catalog.mounts)
    })
  )

  it.effect("what is asked wrongly is named", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const rows = [
        ["from=2026-11-31&to=2026-12-01&by=day", "from"],
        ["from=2026-11-02&to=2026-11-01&by=day", "to"],
        ["from=2026-11-01&to=2026-11-01&by=member", "by"],
        ["from=2026-11-01&by=day", "to"]
      ] as const
      for (const [query, param] of rows) {
        const refused = yield* gateway.admin(`/costs?${query}`)
        assert.strictEqual(refused.status, 400, refused.text)
        assert.deepInclude(yield* errorOf(refused), { code: "invalid_request", param }, query)
      }
      const catalog = catalogFor(gateway.simulator.url)
      const tiers = { kind: "token_video", per_million_tokens: { "8K": { without_video: "1" } } }
      const mounts = catalog.mounts.map((mount) => ({ ...mount, cost: tiers }))
      const unknown = yield* gateway.admin("/catalog", {
        method: "PUT",
        json: { ...catalog, mounts }
      })
      assert.strictEqual(unknown.status, 400, unknown.text)
      const { param } = yield* errorOf(unknown)
      assert.match(param ?? "", /^mounts\[0\]\.cost\.per_million_tokens\.8K/)
      const day = yield* gateway.admin("/costs?from=2020-01-01&to=2020-01-31&by=day")
      assert.deepStrictEqual(day.body, { object: "list", data: [], has_more: false })
    })
  )
})
