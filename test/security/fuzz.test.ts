/**
 * Bodies derived from the routes' schemas and bodies that are nearly right, headers, addresses and
 * bytes nobody should send. Whatever comes, the gateway answers in its own words, never fails, and
 * keeps its books. FUZZ_REQUESTS sets how many, FUZZ_SEED repeats a run.
 */
import { assert, layer } from "@effect/vitest"
import { Arbitrary, Effect, Layer, Logger, Predicate, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { errorTable } from "../../src/domain/Errors.ts"
import { seedOfDay } from "../support/day.ts"
import { type Customer, Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import type { HttpAnswer } from "../support/http.ts"
import { mutated } from "../support/mutations.ts"
import { createVideo } from "../support/orders.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { rawRequest } from "../support/rawSocket.ts"
import { type DeclaredRoute, declaredRoutes, examplesOf } from "../support/routes.ts"
import { textCatalog } from "../support/textCatalog.ts"

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1200)
const SEED = Number(process.env.FUZZ_SEED ?? seedOfDay)
const CONCURRENCY = 24
/** Schema-derived bodies of each route; they are taken in turn. */
const DERIVED = 200

const told: Array<string> = []
const layerTold = Logger.layer([
  Logger.map(Logger.formatJson, (line) => {
    if (/"level":"(?:ERROR|FATAL)"/i.test(line)) told.push(line)
  })
])

const ErrorBody = Schema.Struct({
  error: Schema.StructWithRest(
    Schema.Struct({
      message: Schema.NonEmptyString,
      type: Schema.NonEmptyString,
      param: Schema.NullOr(Schema.String),
      code: Schema.String
    }),
    [Schema.Record(Schema.String, Schema.Unknown)]
  )
})
const isErrorBody = Schema.is(ErrorBody)

/** The error of a message of the Model Context Protocol, in which nothing failed within the gateway. */
const isRpcError = Schema.is(
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    error: Schema.Struct({
      code: Schema.Int.check(Schema.makeFilter((code) => code !== -32603)),
      message: Schema.NonEmptyString
    })
  })
)
const isCode = (code: string): code is keyof typeof errorTable => Object.hasOwn(errorTable, code)

/** Codes of answers above 499 that have their reason outside the gateway. */
const outside: ReadonlySet<string> = new Set(["upstream_error"])

/** What is wrong with an answer; null when nothing is. */
const faultOf = ({ status, headers, body }: HttpAnswer): string | null => {
  if (!/^req_[0-9a-f-]{36}$/.test(headers.get("x-request-id") ?? "")) return "it has no request id"
  if (status < 400) return null
  if (isRpcError(body)) return null
  if (!isErrorBody(body)) return "the body is not that of an error"
  const { code, type } = body.error
  if (!isCode(code)) return "the code is in no table"
  if (type !== errorTable[code].type) return "the type is not that of the code"
  // A busy machine may be late with a request, in whatever words that comes.
  if (outside.has(code) || status === 408) return null
  if (status !== errorTable[code].status) return "the status is not that of the code"
  return status >= 500 ? "it is a failure of the gateway" : null
}

const writes = declaredRoutes.filter(({ bodies }) => bodies.length > 0)
const reads = declaredRoutes.filter(({ method }) => method === "GET")
const [firstWrite, ...otherWrites] = writes
const [firstOrder, ...otherOrders] = writes.filter(({ path }) => path.startsWith("/v1/"))
const [firstRead, ...otherReads] = reads
if (firstWrite === undefined || firstOrder === undefined || firstRead === undefined) {
  throw new Error("there are no routes")
}

/**
 * Random texts are hardly ever the address of a vendor or of a video, or a file in base64, so the
 * bodies of these routes are changed examples alone.
 */
const rareBodies: ReadonlySet<string> = new Set([
  "POST /admin/v1/channels/test",
  "POST /v1/audio/transcriptions",
  "POST /v1/audio/translations",
  "POST /v1/videos/edits",
  "POST /v1/videos/extensions"
])
const hasRareBodies = ({ method, path }: DeclaredRoute) => rareBodies.has(`${method} ${path}`)

const derivedBodies = (route: DeclaredRoute) =>
  Effect.forEach(hasRareBodies(route) ? [] : route.bodies, (schema) =>
    Arbitrary.sampleEffect(Arbitrary.schema(Schema.toEncoded(schema)), {
      count: DERIVED,
      seed: SEED,
      maxDiscards: 100_000
    })
  ).pipe(Effect.map((lists) => lists.flat()))

type Pair = readonly [name: string, value: string]

const strangeHeaders: readonly [Pair, ...ReadonlyArray<Pair>] = [
  ["content-type", "text/plain"],
  ["content-type", "application/json; charset=utf-16"],
  ["content-type", "multipart/form-data; boundary=x"],
  ["content-type", "application/x-www-form-urlencoded"],
  ["content-type", ";;;"],
  ["content-encoding", "br"],
  ["idempotency-key", "same-for-all"],
  ["idempotency-key", "with space"],
  ["idempotency-key", "x".repeat(300)],
  ["accept", "text/event-stream"],
  ["accept", "text/csv"],
  ["traceparent", "00-zz-1-1"],
  ["x-client-request-id", "\u00e9"],
  ["x-forwarded-for", "127.0.0.1"],
  ["x-http-method-override", "DELETE"],
  ["cookie", "a=b; __proto__=c"]
]

const strangeQueries = [
  "",
  "?wait=0",
  "?wait=1e9",
  "?wait[]=1",
  "?limit=0",
  "?limit=100&limit=1",
  "?after=%00",
  "?after=%ff%fe",
  "?after=us_1&after=us_2",
  "?modality=__proto__",
  "?resolved=maybe",
  "?__proto__[x]=1",
  `?after=${"x".repeat(3000)}`
] as const

const strangeIds = [
  "vt_nobody",
  "__proto__",
  "%00",
  "%",
  "%E0%A4%A",
  "..%2f..%2fetc",
  "x".repeat(1000),
  "' OR 1=1 --"
] as const

/** An id as it stands in an address, with its faulty escapes. */
const rawId = (id: string) => encodeURI(id).replaceAll("%25", "%")

interface Fuzz {
  readonly customer: Customer
  /** Of things that exist, by the route's path up to them. */
  readonly ids: ReadonlyMap<string, string>
  readonly derived: ReadonlyMap<DeclaredRoute, ReadonlyArray<unknown>>
}

const fill = (dice: Dice, path: string, ids: Fuzz["ids"]): string =>
  path.replace(/:[^/]+/g, (_, at: number) =>
    dice.chance(80) ? (ids.get(path.slice(0, at)) ?? "nobody") : rawId(dice.pick(strangeIds))
  )

/** One request, and how to name it where it goes wrong. */
const requestOf = (dice: Dice, { customer, ids, derived }: Fuzz) => {
  const writing = dice.chance(88)
  const ordering = writing && dice.chance(40)
  const route = ordering
    ? dice.pick([firstOrder, ...otherOrders])
    : writing
      ? dice.pick([firstWrite, ...otherWrites])
      : dice.pick([firstRead, ...otherReads])
  const path =
    fill(dice, route.path, ids) + (dice.chance(writing ? 2 : 60) ? dice.pick(strangeQueries) : "")
  const isAdmin = route.path.startsWith("/admin/")
  const headers = Object.fromEntries(dice.chance(8) ? [dice.pick(strangeHeaders)] : [])
  const samples = derived.get(route) ?? []
  const body = () => {
    const sample = dice.chance(25) ? samples[dice.roll(samples.length)] : undefined
    if (sample === undefined) return mutated(dice, dice.pick(examplesOf(route)))
    const ordered = !isAdmin && Predicate.isObject(sample) && dice.chance(70)
    const json = ordered ? { ...sample, ...dice.pick(examplesOf(route)) } : sample
    return dice.chance(50) ? JSON.stringify(json) : mutated(dice, json)
  }
  return {
    path,
    options: {
      method: route.method,
      headers,
      ...(dice.chance(97) && !isAdmin ? { key: customer.key } : {}),
      ...(writing ? { body: body() } : {})
    },
    isAdmin
  }
}

const nonsense = [
  "\r\n\r\n\r\n\r\n",
  "GET / HTTP/9.9\r\nhost: x\r\n\r\n",
  "HELLO\r\n\r\n",
  "GET  HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\nno colon here\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\n: empty\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\nx: a\u0000b\r\n\r\n",
  `GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(100_000)}\r\n\r\n`,
  `GET /${"y".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ncontent-length: 1e3\r\n\r\n",
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\nhello",
  `POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;${"e".repeat(50_000)}\r\nx\r\n0\r\n\r\n`,
  "POST /v1/videos/generations HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
  "GET http://[::1:bad/ HTTP/1.1\r\nhost: x\r\n\r\n",
  "GET //// HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "GET * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "CONNECT 127.0.0.1:1 HTTP/1.1\r\nhost: x\r\n\r\n",
  "TRACE / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
  "GET /v1/models HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade, close\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
  "GET /v1/videos/%00%ff%E0 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
] as const

const settings = {
  ...quickSettings,
  headSeconds: 0.5,
  requestSeconds: 2,
  // One key sends it all, and what it sends is to be read.
  keyQuotesPerMinute: 0,
  keyModelsPerMinute: 0,
  keyRefusalsPerMinute: 0,
  // Deadlines short enough that what a vendor never answers is over soon.
  submitDeadlineSeconds: 5
}

layer(
  layerTestGateway("postgres", settings, { catalogFor: textCatalog() }).pipe(
    Layer.provide(layerTold)
  ),
  {
    excludeTestServices: true,
    timeout: "60 seconds"
  }
)("whatever is sent", (it) => {
  it.effect(
    `is answered in the gateway's own words, and the books hold (FUZZ_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sql = yield* SqlClient.SqlClient
        const customer = yield* gateway.customer("1000000")
        const other = yield* gateway.customer("5")
        const ids = new Map([
          ["/v1/videos/", yield* createVideo(customer, { model: "film-1" })],
          ["/admin/v1/organizations/", other.organizationId],
          ["/admin/v1/members/", other.memberId]
        ])
        const derived = new Map<DeclaredRoute, ReadonlyArray<unknown>>()
        for (const route of writes) derived.set(route, yield* derivedBodies(route))
        const fuzz = { customer, ids, derived }
        const faults: Array<string> = []
        const statuses = new Map<number, number>()

        yield* Effect.forEach(
          Array.from({ length: REQUESTS }, (_, index) => index),
          Effect.fnUntraced(function* (index) {
            const { path, options, isAdmin } = requestOf(diceOf(SEED + index), fuzz)
            const answer = yield* isAdmin
              ? gateway.admin(path.slice("/admin/v1".length), options)
              : gateway.call(path, options)
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
            const fault = faultOf(answer)
            if (fault === null) return
            const sent = "body" in options ? Buffer.from(options.body).toString().slice(0, 500) : ""
            faults.push(
              `FUZZ_SEED=${SEED} request ${index}: ${fault}: ${options.method} ${path.slice(0, 200)} ` +
                `${JSON.stringify(options.headers)} ${sent} -> ${answer.status} ${answer.text.slice(0, 500)}`
            )
          }),
          { concurrency: CONCURRENCY, discard: true }
        )
        yield* Effect.logInfo(`answers by status: ${JSON.stringify([...statuses].toSorted())}`)
        assert.deepEqual(faults.slice(0, 5), [])
        // Orders are among what got through, or nothing of this would mean much.
        assert.isAtLeast(statuses.get(200) ?? 0, REQUESTS / 20)
        assert.isAtLeast(statuses.get(400) ?? 0, REQUESTS / 5)
        assert.deepEqual(told, [])

        yield* gateway
          .balance(customer)
          .pipe(
            Effect.delay("20 millis"),
            Effect.repeat({ until: ({ held }) => held === "0" }),
            Effect.timeout("30 seconds")
          )
        yield* gateway.verify
        const [books] = yield* sql`
          SELECT (SELECT count(*)::int FROM orders WHERE state = 'open') AS open,
                 (SELECT count(*)::int FROM pools p
                   WHERE p.balance <> coalesce((SELECT sum(CASE t.credit WHEN 'pool' THEN t.amount ELSE -t.amount END)
                                      FROM transfers t
                                     WHERE t.organization_id = p.organization_id), 0)
                                    - coalesce((SELECT sum(o.charge) FROM orders o
                                     WHERE o.organization_id = p.organization_id), 0)) AS wrong`
        assert.deepEqual(books, { open: 0, wrong: 0 })
        const { balance } = yield* gateway.balance(customer)
        assert.isBelow(Number(balance), 1_000_000)
      }),
    60_000 + REQUESTS * 20
  )

  it.effect("is answered at every address, whatever stands there for an id", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const customer = yield* gateway.customer("5")
      const requests = declaredRoutes
        .filter(({ path }) => path.includes("/:"))
        .flatMap((route) => strangeIds.map((id) => ({ route, id })))
      const faults = yield* Effect.forEach(
        requests,
        Effect.fnUntraced(function* ({ route, id }) {
          const { method, path, bodies } = route
          const address = path.replace(/:[^/]+/g, rawId(id))
          const body = bodies.length > 0 ? { json: examplesOf(route)[0] } : {}
          const answer = yield* path.startsWith("/admin/")
            ? gateway.admin(address.slice("/admin/v1".length), { method, ...body })
            : gateway.call(address, { method, key: customer.key, ...body })
          return `${faultOf(answer)}: ${method} ${address.slice(0, 100)} ${answer.text.slice(0, 300)}`
        }),
        { concurrency: CONCURRENCY }
      )
      assert.isAbove(requests.length, 400)
      assert.deepEqual(
        faults.filter((fault) => !fault.startsWith("null: ")),
        []
      )
      assert.deepEqual(told, [])
    })
  )

  it.effect("is answered or cut also where it is no request at all", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const dice = diceOf(SEED)
      const noise = Array.from({ length: 40 }, () =>
        Uint8Array.from({ length: 1 + dice.roll(200) }, () => dice.roll(256))
      )
      const cut = nonsense.slice(0, 12).map((text) => text.slice(0, dice.roll(text.length)))
      const answers = yield* Effect.forEach(
        [...nonsense, ...noise, ...cut],
        (bytes) =>
          Effect.map(rawRequest(gateway.url, [bytes]), (answer) => ({ bytes, answer })).pipe(
            Effect.timeout("20 seconds")
          ),
        { concurrency: "unbounded" }
      )
      for (const { bytes, answer } of answers) {
        if (answer === null) continue
        const label = `FUZZ_SEED=${SEED}: ${JSON.stringify(String(bytes).slice(0, 100))}: ${JSON.stringify(answer)}`
        assert.isBelow(answer.status, 500, label)
        if (answer.status < 400 || answer.body === "") continue
        assert.include(answer.head, "x-request-id: req_", label)
        assert.isTrue(isErrorBody(JSON.parse(answer.body)), label)
      }
      // A line that is plainly no HTTP is told so.
      const hello = answers.find(({ bytes }) => bytes === "HELLO\r\n\r\n")?.answer
      assert.strictEqual(hello?.status, 400)
      assert.include(hello?.body, "invalid_request")
      assert.strictEqual((yield* gateway.call("/healthz")).status, 200)
      assert.deepEqual(told, [])
    })
  )
})
