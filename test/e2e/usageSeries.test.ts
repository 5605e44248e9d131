/** Series of usage over HTTP: what they sum up, how they are asked for, and who may see what. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { formatNano, parseNano } from "../../src/domain/money/Money.ts"
import { list, UsageEntry } from "../../src/http/api/shared.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { createVideo, errorOf, finishVideo, orderImages } from "../support/orders.ts"
import { talk, textCatalog } from "../support/textCatalog.ts"
import { ask } from "../support/texts.ts"

const Line = Schema.Struct({
  start: Schema.String,
  model: Schema.optionalKey(Schema.String),
  member: Schema.optionalKey(Schema.String),
  tag: Schema.optionalKey(Schema.String),
  count: Schema.Int,
  failed: Schema.Int,
  charge: Schema.String,
  returned: Schema.String,
  units: Schema.NullOr(Schema.Int),
  unit: Schema.NullOr(Schema.String),
  currency: Schema.String,
  margin: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const Series = Schema.Struct({ object: Schema.Literal("list"), data: Schema.Array(Line) })

const own = (who: Customer, query = "") =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    return yield* bodyAs(Series, yield* gateway.call(`/v1/usage/series${query}`, { key: who.key }))
  })

const nanoOf = (decimal: string) => Effect.orDie(Effect.fromResult(parseNano(decimal)))
const sumOf = (amounts: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(amounts, nanoOf), (all) =>
    formatNano(all.reduce((sum, nano) => sum + nano, 0n))
  )

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerTestGateway(kind, quickSettings, { catalogFor: textCatalog() }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`series of usage (${kind})`, (it) => {
    it.effect("are what the records are, by model and by tag, and tell failures and refunds", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const video = yield* createVideo(who, { model: "film-1", metadata: { team: "red" } })
        yield* finishVideo(who, video)
        yield* orderImages(who, { model: "paint-1", n: 3, metadata: { team: "red" } })
        yield* orderImages(who, { model: "paint-1", n: 2, metadata: { team: "blue" } })
        yield* ask(who, talk("hello"))
        const records = (yield* bodyAs(
          list(UsageEntry),
          yield* gateway.call("/v1/usage", { key: who.key })
        )).data
        assert.lengthOf(records, 4)
        const [newest] = records.filter(({ model }) => model === "paint-1")
        const corrected = yield* gateway.admin(`/organizations/${who.organizationId}/adjustments`, {
          json: {
            kind: "correction",
            amount: "0.3",
            reason: "why",
            reference: "r",
            usage_id: newest?.id ?? ""
          }
        })
        assert.strictEqual(corrected.status, 200, corrected.text)

        for (const interval of ["hour", "day", "month"]) {
          const { data } = yield* own(who, `?interval=${interval}`)
          assert.strictEqual(
            yield* sumOf(data.map(({ charge }) => charge)),
            yield* sumOf(records.map(({ charge }) => charge))
          )
        }
        const byModel = (yield* own(who, "?interval=month&by=model")).data
        const paint = byModel.find(({ model }) => model === "paint-1")
        assert.deepInclude(paint, {
          count: 2,
          failed: 0,
          charge: "1",
          returned: "0.3",
          units: 5,
          unit: "image"
        })
        assert.notProperty(paint, "margin")
        const [whole] = (yield* own(who, "?interval=month")).data
        assert.deepInclude(whole, { count: 4, returned: "0.3", units: null, unit: null })
        const byTag = (yield* own(who, "?interval=month&by=tag&tag=team")).data
        assert.deepStrictEqual(
          byTag.map(({ tag, count }) => [tag, count]),
          [
            ["blue", 1],
            ["red", 2]
          ]
        )
        const red = (yield* own(who, "?interval=month&by=model&tag=team=red")).data
        assert.deepStrictEqual(
          red.map(({ model, count }) => [model, count]),
          [
            ["film-1", 1],
            ["paint-1", 1]
          ]
        )

        const path = `/usage/series?interval=month&by=member&organization_id=${who.organizationId}`
        const [seen] = (yield* bodyAs(Series, yield* gateway.admin(path))).data
        assert.deepInclude(seen, { count: 4, returned: "0.3" })
        assert.property(seen, "margin")
        assert.match(seen?.member ?? "", /^mem/)

        const other = yield* gateway.customer("1")
        assert.deepStrictEqual((yield* own(other)).data, [])
      })
    )

    it.effect("count what failed", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        const failing = { model: "film-1", prompt: "x sim:fail" }
        const video = yield* createVideo(who, failing)
        yield* finishVideo(who, video)
        const { data } = yield* own(who, "?by=model")
        assert.lengthOf(data, 1)
        assert.deepInclude(data[0], {
          model: "film-1",
          count: 0,
          failed: 1,
          charge: "0",
          units: 0,
          unit: null
        })
      })
    )

    it.effect.each([
      ["interval=week", "interval"],
      ["by=channel", "by"],
      ["by=tag", "tag"],
      ["from=yesterday", "from"],
      ["from=2026-02-30", "from"],
      ["to=2026-01-01T25:00:00Z", "to"],
      ["from=2026-02-01&to=2026-01-01", "to"],
      ["tag=%00", "tag"]
    ])("%s is refused, and named", ([query, param]) =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("1")
        const answer = yield* gateway.call(`/v1/usage/series?${query}`, { key: who.key })
        assert.strictEqual(answer.status, 400, answer.text)
        const error = yield* errorOf(answer)
        assert.deepStrictEqual([error.code, error.param], ["invalid_request", param])
      })
    )
  })
}
