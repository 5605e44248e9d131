/** A vendor that tells one job to several orders: one of them is charged, whoever ordered and wherever. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { brokenVendor } from "../support/brokenVendor.ts"
import { layerDatabaseAt, temporaryServerDatabase } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { errorOf } from "../support/orders.ts"
import { protocolCatalog } from "../support/protocolCatalog.ts"

/** A second gateway on the database of the first. */
class Second extends Context.Service<Second, Gateway["Service"]>()("test/Second") {}

const videoDone = (id: string) => ({
  id,
  status: "succeeded",
  content: { video_url: "https://files.test/o.mp4" },
  usage: { completion_tokens: 108_900 }
})

/** How a vendor answers an order and a question about its job. */
const kinds = {
  videos: {
    path: "/v1/videos/generations",
    model: "film-a",
    channel: "ch-vp_a",
    accepted: (id: string) => ({ id }),
    done: videoDone
  },
  "images that are waited for": {
    path: "/v1/images/generations",
    model: "paint-b",
    channel: "ch-ip_b",
    accepted: (id: string) => ({
      request_id: "r",
      output: { task_id: id, task_status: "PENDING" }
    }),
    done: (id: string) => ({
      request_id: "r",
      output: {
        task_id: id,
        task_status: "SUCCEEDED",
        choices: [{ message: { content: [{ image: "https://files.test/1.png" }] } }]
      }
    })
  }
} as const
type KindName = keyof typeof kinds

let jobs = 0
/** The one job that the vendors tell, whatever is ordered. */
let job = ""
const nextJob = () => {
  job = `job-${jobs++}`
}

/**
 * The catalog with the kinds' channels at vendors that tell one job alone. Both gateways load it
 * before the first order, as another gateway learns of a change a moment later.
 */
const makeCatalog = Effect.gen(function* () {
  const addresses = new Map<string, string>()
  for (const { channel, accepted, done } of Object.values(kinds)) {
    const { url } = yield* brokenVendor(({ method }) => ({
      body: method === "POST" ? accepted(job) : done(job)
    }))
    addresses.set(channel, url)
  }
  return (simulatorUrl: string) => {
    const catalog = protocolCatalog(simulatorUrl)
    const channels = catalog.channels.map((one) => ({
      ...one,
      base_url: addresses.get(one.id) ?? one.base_url
    }))
    return { ...catalog, channels }
  }
})

const layerPair = Layer.effectContext(
  Effect.gen(function* () {
    const url = yield* temporaryServerDatabase
    const catalogFor = yield* makeCatalog
    const gateway = Effect.gen(function* () {
      const layer = layerTestGateway("postgres", quickSettings, {
        catalogFor,
        database: layerDatabaseAt(url)
      })
      return yield* Layer.buildWithMemoMap(layer, yield* Layer.makeMemoMap, yield* Effect.scope)
    })
    const first = yield* gateway
    return Context.add(first, Second, Second.of(Context.get(yield* gateway, Gateway)))
  })
)
const layerAlone = Layer.unwrap(
  Effect.map(makeCatalog, (catalogFor) =>
    Layer.provideMerge(
      Layer.effect(
        Second,
        Effect.map(Gateway, (own) => Second.of(own))
      ),
      layerTestGateway("embedded", quickSettings, { catalogFor })
    )
  )
)

const order = (
  gateway: Gateway["Service"],
  kind: KindName,
  { key }: Customer,
  headers: Readonly<Record<string, string>> = {}
) =>
  gateway.call(kinds[kind].path, {
    key,
    headers,
    json: { model: kinds[kind].model, prompt: "a lighthouse" }
  })

const Made = Schema.Struct({ id: Schema.optionalKey(Schema.String) })

/** Waits for the end of what was accepted; others are told the error without a charge. */
const settled = Effect.fnUntraced(function* (who: Customer, answer: HttpAnswer) {
  const gateway = yield* Gateway
  if (answer.status === 200) {
    const { id } = yield* bodyAs(Made, answer)
    if (id !== undefined) yield* gateway.call(`/v1/videos/${id}?wait=30`, { key: who.key })
    return true
  }
  assert.strictEqual(answer.status, 502, answer.text)
  assert.strictEqual(answer.headers.get("x-should-retry"), "false")
  const { code, upstream } = yield* errorOf(answer)
  assert.deepStrictEqual([code, upstream], ["upstream_error", { status: null, body: null }])
  return false
})

const Orphans = Schema.Struct({
  data: Schema.Array(Schema.Struct({ reason: Schema.String, upstream_id: Schema.String }))
})

const orphansOf = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const path = `/orphans?organization_id=${organizationId}`
  return (yield* bodyAs(Orphans, yield* gateway.admin(path))).data
})

type Place = readonly [gateway: "first" | "second", customer: 0 | 1]

const rows: ReadonlyArray<
  readonly [name: string, how: "in turn" | "at once", places: ReadonlyArray<Place>]
> = [
  [
    "two orders of one customer, the second after the end",
    "in turn",
    [
      ["first", 0],
      ["first", 0]
    ]
  ],
  [
    "two customers, the second after the end",
    "in turn",
    [
      ["first", 0],
      ["first", 1]
    ]
  ],
  [
    "two customers at two gateways",
    "in turn",
    [
      ["first", 0],
      ["second", 1]
    ]
  ],
  [
    "two customers at two gateways at once",
    "at once",
    [0, 1, 2].flatMap(
      (): ReadonlyArray<Place> => [
        ["first", 0],
        ["second", 1],
        ["first", 1],
        ["second", 0]
      ]
    )
  ]
]

for (const [database, gateways] of [
  ["embedded", layerAlone],
  ["postgres, two gateways", layerPair]
] as const) {
  layer(gateways, { excludeTestServices: true, timeout: "60 seconds" })(
    `a job that a vendor tells several orders (${database})`,
    (it) => {
      for (const kind of ["videos", "images that are waited for"] as const) {
        // Images take two seconds each.
        const tried = kind === "videos" ? rows : rows.slice(-1)
        it.effect.each([...tried])(`${kind}: %s are charged once`, ([, how, places]) =>
          Effect.gen(function* () {
            const first = yield* Gateway
            const second = yield* Second
            nextJob()
            const customers = [yield* first.customer("100"), yield* first.customer("100")] as const
            const made = yield* Effect.forEach(
              places,
              ([place, customer]) =>
                Effect.flatMap(
                  order(place === "first" ? first : second, kind, customers[customer]),
                  (answer) => settled(customers[customer], answer)
                ),
              { concurrency: how === "at once" ? "unbounded" : 1 }
            )
            assert.lengthOf(made.filter(Boolean), 1)
            const balances = yield* Effect.forEach(customers, first.balance)
            assert.deepStrictEqual(
              balances.map(({ held }) => held),
              ["0", "0"]
            )
            const price = kind === "videos" ? 5.0094 : 0.17
            const left = balances.reduce((sum, { balance }) => sum + Number(balance), 0)
            assert.closeTo(left, 200 - price, 1e-9)
            const orphans = (yield* Effect.forEach(customers, orphansOf)).flat()
            assert.deepStrictEqual(
              orphans,
              Array.from({ length: places.length - 1 }, () => ({
                reason: "duplicate_job",
                upstream_id: job
              }))
            )
            yield* first.verify
          })
        )
      }

      it.effect(
        "a key of the client stands for the refusal, and the vendor is not asked again",
        () =>
          Effect.gen(function* () {
            const gateway = yield* Gateway
            nextJob()
            const who = yield* gateway.customer("10")
            yield* order(gateway, "videos", who)
            const headers = { "idempotency-key": "one" }
            const refused = yield* order(gateway, "videos", who, headers)
            const repeated = yield* order(gateway, "videos", who, headers)
            assert.strictEqual(refused.status, 502)
            assert.deepStrictEqual([repeated.status, repeated.text], [refused.status, refused.text])
            assert.strictEqual(repeated.headers.get("idempotency-replayed"), "true")
            assert.lengthOf(yield* orphansOf(who), 1)
          })
      )
    }
  )
}
