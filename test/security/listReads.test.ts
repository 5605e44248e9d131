/** Lists of one organisation, however many and however they are sent, take nothing from the others. */
import { once } from "node:events"
import { connect } from "node:net"
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { GatewayApi } from "../../src/contract/GatewayApi.ts"
import { readOf } from "../../src/http/server/access/readLanes.ts"
import { MAX_PAGE_BYTES } from "../../src/runtime/Page.ts"
import { databasesInTurn } from "../support/databases.ts"
import {
  bodyAs,
  type Customer,
  Gateway,
  layerTestGateway,
  quickSettings
} from "../support/gateway.ts"
import { assertLimited } from "../support/limited.ts"
import { orderImages } from "../support/orders.ts"

const bounded = {
  ...quickSettings,
  keyRequestsPerMinute: 0,
  listsInFlight: 2,
  organizationLists: 1,
  organizationListQueue: 3
}

/** Holds a table that lists of files read, and orders do not, until the work beside it has ended. */
const whileFilesAreLocked = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const locked = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const lock = yield* Effect.forkChild(
      sql.withTransaction(
        sql`LOCK TABLE files IN ACCESS EXCLUSIVE MODE`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(end))
        )
      )
    )
    yield* Deferred.await(locked)
    return yield* Effect.ensuring(
      work,
      Effect.andThen(Deferred.succeed(end, undefined), Effect.ignore(Fiber.join(lock)))
    )
  })

/** Statements that wait to read the table at the moment. */
const waitingStatements = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    SELECT 1 FROM pg_locks
     WHERE relation = 'files'::regclass AND mode = 'AccessShareLock' AND NOT granted`
  return rows.length
})

const listFiles = (who: Customer) =>
  Effect.flatMap(Gateway, (gateway) => gateway.call("/v1/files?limit=100", { key: who.key }))

const assertOrdered = Effect.fnUntraced(function* (who: Customer) {
  const answer = yield* orderImages(who, { model: "paint-1" })
  assert.strictEqual(answer.status, 200, answer.text)
})

/** Sends requests on one connection without waiting for answers, and counts those by status. */
const pipelined = (url: string, path: string, key: string, count: number) =>
  Effect.promise(async () => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, "connect")
    const request = (extra = "") =>
      `GET ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${key}\r\n${extra}\r\n`
    let text = ""
    socket.setEncoding("latin1").on("data", (piece: string) => {
      text += piece
    })
    socket.write(request().repeat(count - 1) + request("connection: close\r\n"))
    await once(socket, "close")
    return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  })

layer(layerTestGateway("postgres", bounded), { excludeTestServices: true, timeout: "60 seconds" })(
  "lists that wait for the database",
  (it) => {
    it.effect("are few at a time, and orders of others are made beside them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [reader, second, other] = [
          yield* gateway.customer("10"),
          yield* gateway.customer("10"),
          yield* gateway.customer("10")
        ]
        const lists = yield* whileFilesAreLocked(
          Effect.gen(function* () {
            const running = yield* Effect.forEach(Array.from({ length: 30 }), () =>
              Effect.forkChild(listFiles(reader))
            )
            const others = yield* Effect.forEach([1, 2, 3], () =>
              Effect.forkChild(listFiles(second))
            )
            yield* waitingStatements.pipe(
              Effect.repeat({ until: (count) => count === bounded.listsInFlight })
            )
            for (const _ of [1, 2, 3]) {
              yield* assertOrdered(other)
              assert.isAtMost(yield* waitingStatements, bounded.listsInFlight)
            }
            // The one that reads so much is not kept from its own orders either.
            yield* assertOrdered(reader)
            return [...running, ...others]
          })
        )
        const answers = yield* Effect.forEach(lists, Fiber.join)
        const refused = answers.filter(({ status }) => status === 429)
        // One runs and three wait, of each; who came when others had ended may have come in as well.
        assert.isAtLeast(refused.length, 20)
        for (const answer of refused) {
          const { message } = yield* assertLimited(answer)
          assert.include(message, "3 reads waiting")
        }
        const again = yield* listFiles(reader)
        assert.strictEqual(again.status, 200, again.text)
      })
    )

    it.effect("wait behind one another on a connection, and none is refused", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [reader, other] = [yield* gateway.customer("10"), yield* gateway.customer("10")]
        const path = "/v1/usage?limit=100"
        const many = yield* Effect.forkChild(pipelined(gateway.url, path, reader.key, 300))
        for (const _ of [1, 2, 3]) {
          yield* assertOrdered(other)
          const list = yield* gateway.call(path, { key: other.key })
          assert.strictEqual(list.status, 200, list.text)
        }
        const statuses = yield* Fiber.join(many)
        assert.lengthOf(statuses, 300)
        assert.deepStrictEqual([...new Set(statuses)], [200])
      })
    )
  }
)

const Page = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String })),
  has_more: Schema.Boolean
})

/** Sixty orders whose notes come to more than a page may have. */
const ORDERS = 60
const metadata = Object.fromEntries(
  Array.from({ length: 16 }, (_, index) => [`note-${index}`, "x".repeat(500)])
)

describe.each([...databasesInTurn(import.meta.filename)])("on %s", (kind) => {
  layer(layerTestGateway(kind, { ...quickSettings, listsInFlight: 1 }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })("a page", (it) => {
    it.effect("ends early where its entries are long, and the next one goes on behind it", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const who = yield* gateway.customer("100")
        yield* Effect.forEach(
          Array.from({ length: ORDERS }),
          () => orderImages(who, { model: "paint-1", metadata }),
          { concurrency: 8 }
        )
        for (const path of ["/v1/usage", "/v1/orders"]) {
          const ids: Array<string> = []
          let pages = 0
          let after = ""
          do {
            const answer = yield* gateway.call(`${path}?limit=100${after}`, { key: who.key })
            assert.isBelow(answer.text.length, MAX_PAGE_BYTES + 10_000)
            const { data, has_more } = yield* bodyAs(Page, answer)
            ids.push(...data.map(({ id }) => id))
            after = has_more ? `&after=${data.at(-1)?.id}` : ""
            pages++
          } while (after !== "")
          assert.isAtLeast(pages, 2)
          assert.lengthOf(ids, ORDERS)
          assert.strictEqual(new Set(ids).size, ORDERS)
        }
        const csv = yield* gateway.call("/v1/usage?limit=100", {
          key: who.key,
          headers: { accept: "text/csv" }
        })
        assert.include(csv.headers.get("link"), 'rel="next"')
      })
    )

    it.effect("of one is read by many, and others order beside them", () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const [reader, other] = [yield* gateway.customer("10"), yield* gateway.customer("10")]
        yield* assertOrdered(reader)
        const lists = yield* Effect.forEach(Array.from({ length: 100 }), () =>
          Effect.forkChild(gateway.call("/v1/usage?limit=100", { key: reader.key }))
        )
        yield* assertOrdered(other)
        for (const list of lists) assert.strictEqual((yield* Fiber.join(list)).status, 200)
      })
    )
  })
})

describe("every route that reads", () => {
  const reads = Object.values(GatewayApi.groups).flatMap(({ endpoints }) =>
    Object.values(endpoints).filter(({ method }) => method === "GET")
  )
  /** Beside what one id names: these read a row or two, what is in memory, or wait for a task. */
  const cheap = [
    "/v1/balance",
    "/v1/me",
    "/v1/webhook_event_types",
    "/v1/videos/:task_id/events",
    "/v1/videos/:task_id/content",
    "/v1/images/:task_id/events",
    "/v1/audio/speech/:task_id/events",
    "/v1/audio/speech/:task_id/content",
    "/admin/v1/me",
    "/metrics"
  ]
  /** They wait for a task, or for the vendor whose file they pass on. */
  const waiting = [
    "/v1/videos/:task_id",
    "/v1/videos/:task_id/events",
    "/v1/videos/:task_id/content",
    "/v1/images/:task_id",
    "/v1/images/:task_id/events",
    "/v1/images/:task_id/content/:n",
    "/v1/audio/speech/:task_id",
    "/v1/audio/speech/:task_id/events",
    "/v1/audio/speech/:task_id/content"
  ]
  const unguarded = ["/healthz", "/readyz"]

  it("takes its turn among the lists, but for look-ups by an id and a few that are named", () => {
    const lookUps = reads.filter((endpoint) => readOf(endpoint) !== "list").map(({ path }) => path)
    const others = lookUps.filter((path) => !/\/:\w+$/.test(path) && !cheap.includes(path))
    assert.deepStrictEqual(others, [])
    const lists = reads.filter((endpoint) => readOf(endpoint) === "list").map(({ path }) => path)
    assert.includeMembers(lists, ["/v1/usage", "/v1/usage/series", "/v1/models", "/v1/files"])
    assert.includeMembers(lists, ["/admin/v1/ledger/verify", "/v1/statements/:month/focus"])
    assert.deepStrictEqual(
      reads.filter((endpoint) => readOf(endpoint) === "task").map(({ path }) => path),
      waiting
    )
    // No check of keys, and so no turns: they read what is in memory.
    assert.deepStrictEqual(
      reads.filter(({ middlewares }) => middlewares.size === 0).map(({ path }) => path),
      unguarded
    )
  })
})
