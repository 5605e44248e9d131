/** Every statement that an order or its client waits for names the organisation. */
import { readFile } from "node:fs/promises"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { sealDueMonths } from "../../../src/features/statements/StatementSealer.ts"
import { applySchema } from "../../../src/postgres/schema/applySchema.ts"
import { CallLog } from "../../../src/services/CallLog.ts"
import { WebhookMessages } from "../../../src/services/delivery/WebhookMessages.ts"
import { IdempotencyKeys } from "../../../src/services/IdempotencyKeys.ts"
import { TaskRepo } from "../../../src/services/TaskRepo.ts"
import { layerDatabaseAt } from "../../support/databases.ts"
import { type Customer, Gateway, layerTestGateway } from "../../support/gateway.ts"
import { createVideo, finishVideo, orderImages, orderVideo } from "../../support/orders.ts"
import { startPostgres } from "../../support/postgresServer.ts"
import { makeReceiver } from "../../support/receiver.ts"
import { makeStatementPlans, type Planned, planSettings } from "../../support/statementPlans.ts"
import { talk, textCatalog } from "../../support/textCatalog.ts"
import { ask } from "../../support/texts.ts"
import { PNG, uploaded } from "../../support/uploads.ts"
import { create, images, webhookSettings } from "../../support/webhooks.ts"

/** Statements over all organisations, by words of theirs, and why they are. */
const overAll: ReadonlyArray<readonly [words: RegExp, why: string]> = [
  [/^\s*WITH RECURSIVE channels AS/, "claims take the due tasks of every channel"],
  [
    /FROM tasks t\s+WHERE t.state = 'submitting'/,
    "the sweep gives back what a gateway left behind"
  ],
  [/FROM orders o\s+WHERE o.created_at >= settled/, "the audit reads what is open, by its time"],
  [/FROM \(SELECT l.organization_id, l.id FROM lingering_orders/, "and what stays open"],
  [/^\s*INSERT INTO lingering_orders/, "the sweep lists what stays open"],
  [/^\s*WITH lingering AS MATERIALIZED/, "the sweep reads what stays open"],
  [/t\.deadline <= now\(\) - make_interval/, "the sweep reads the tasks past their deadline"],
  [/AS "submittingTasks"/, "gauges of the metrics"],
  [/AS "channelId", count\(\*\)/, "gauges of the channels"],
  [/AS "tookSeconds"/, "usual times are of a model, whoever ordered it"],
  [/^\s*WITH RECURSIVE receivers/, "claims take the due messages of every receiver"],
  [/^\s*WITH\s+moved AS/, "the audit of every minute"],
  [/FROM audit_ledger/, "the audit reads who is stopped"],
  [/^\s*WITH forgotten AS/, "accounts of channels are removed once no task uses them"],
  [/AS "auditedAt"/, "readiness tells of the audit"],
  [/^\s*INSERT INTO ledger_audited_(pools|months)/, "the audit sums up what it has read"],
  [/LEFT JOIN ledger_audited_pools/, "the audit chooses whom it reads whole"],
  [/AS pools FROM pools/, "the audit counts the pools"],
  [/stopped_reason AS reason FROM pools/, "the audit finds who may spend again"],
  [
    /DELETE FROM idempotency_keys q\s+USING \(SELECT organization_id, key/,
    "retention of idempotency keys"
  ],
  [/DELETE FROM webhook_messages m\s+USING/, "retention of messages"],
  [/FROM files d\s+WHERE d.due_at/, "claims take the files that are due to be removed"],
  [/DELETE FROM responses r\s+USING \(SELECT organization_id, id/, "retention of responses"],
  [/DELETE FROM upstream_calls_other/, "retention of the log"],
  [/to_char\(next.month, 'YYYY-MM'\)/, "the sealer finds months that are over"],
  [
    /WHERE m.endpoint_id =/,
    "messages of an endpoint: those of the operators hear of every organisation"
  ]
]

const Responded = Schema.Struct({
  id: Schema.String,
  output: Schema.Array(Schema.Struct({ id: Schema.String }))
})

const plans = makeStatementPlans()

/** With a log of its own. */
const layerReadServer = Layer.unwrap(
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => startPostgres({ settings: planSettings, onLog: plans.onLog })),
      ({ stop }) => Effect.promise(stop)
    )
    yield* Effect.orDie(Effect.provide(applySchema, layerDatabaseAt(server.url), { local: true }))
    return layerDatabaseAt(server.url)
  })
)

/** What runs in the background comes again soon: lines of the log that several write at once are lost. */
const settings = { ...webhookSettings, auditSeconds: 0.5 }

const distributed = Effect.promise(async () => {
  const file = new URL("../../../src/postgres/citus/distribute.sql", import.meta.url)
  const text = await readFile(file, "utf8")
  const [, names = ""] = /organization_tables CONSTANT text\[\] := ARRAY\[([^\]]+)/.exec(text) ?? []
  return new Set([...names.matchAll(/'(\w+)'/g)].map(([, name = ""]) => name))
})

const Listed = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** Every kind of order and of its end, and every list that a key can read. */
const useEverything = Effect.gen(function* () {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100", { monthlyCap: "90" })
  const receiver = yield* makeReceiver()
  const hook = yield* create(who, `${receiver.url}/hooks`, ["video.completed", "image.completed"])
  const get = (path: string) =>
    Effect.tap(gateway.call(path, { key: who.key }), ({ status, text }) =>
      Effect.sync(() => assert.strictEqual(status, 200, `${path}: ${text}`))
    )
  const tag = { metadata: { team: "red" } }
  const video = yield* createVideo(who, { model: "film-1", ...tag })
  yield* finishVideo(who, video)
  const failed = yield* createVideo(who, { model: "film-1", prompt: "x sim:fail" })
  yield* finishVideo(who, failed)
  yield* finishVideo(who, yield* createVideo(who, { model: "clip-1" }))
  yield* orderVideo(who, { model: "film-down" })
  yield* orderVideo(who, { model: "film-badkey" })
  yield* orderImages(who, { model: "paint-1", ...tag })
  const image = yield* images(who)
  yield* get(`/v1/images/${image}?wait=30`)
  for (const _ of [1, 2]) {
    yield* gateway.call("/v1/images/generations", {
      key: who.key,
      headers: { "idempotency-key": "one" },
      json: { model: "paint-1", prompt: "x" }
    })
  }
  yield* ask(who, talk("a lighthouse"))
  yield* ask(who, talk("a lighthouse", { stream: true }))
  yield* gateway.call("/v1/embeddings", { key: who.key, json: { model: "vector-1", input: "x" } })
  yield* gateway.call("/v1/quotes", { key: who.key, json: { model: "film-1", prompt: "x" } })
  yield* receiver.awaited(3)
  yield* useFiles(who)
  yield* useResponses(who)
  for (const path of ["orders", "files", "videos", "images", "usage", "balance", "me", "models"]) {
    yield* get(`/v1/${path}`)
  }
  const used = yield* get("/v1/usage")
  const { data } = yield* Effect.orDie(Schema.decodeUnknownEffect(Listed)(used.body))
  yield* get(`/v1/usage/${data[0]?.id}`)
  yield* get(`/v1/usage?after=${data[0]?.id}`)
  yield* get(`/v1/orders/${video}`)
  yield* get(`/v1/orders?tag.team=red`)
  yield* get("/v1/usage/series?from=2026-01-01&to=2026-01-03&step=day")
  yield* get(`/v1/videos/${video}/events`)
  yield* get(`/v1/webhook_endpoints/${hook.id}/deliveries`)
  yield* gateway.call(`/v1/videos/${video}`, { key: who.key, method: "DELETE" })
  yield* ofTheOrganization(who)
})

/** A picture that is uploaded, made a video of, read and removed. */
const useFiles = Effect.fnUntraced(function* (who: Customer) {
  const { key } = who
  const gateway = yield* Gateway
  const id = yield* uploaded(who, PNG)
  yield* gateway.call("/v1/videos/generations", { key, json: { model: "film-1", image: id } })
  yield* gateway.call(`/v1/files/${id}/content`, { key })
  yield* gateway.call(`/v1/files/${id}`, { key, method: "DELETE" })
})

/** A response that is continued, referred to, read and deleted. */
const useResponses = Effect.fnUntraced(function* ({ key }: Customer) {
  const gateway = yield* Gateway
  const respond = (json: object) =>
    gateway.call("/v1/responses", { key, json: { model: "talk-1", ...json } })
  const first = yield* respond({ input: "a lighthouse" })
  assert.strictEqual(first.status, 200, first.text)
  const { id, output } = yield* Effect.orDie(Schema.decodeUnknownEffect(Responded)(first.body))
  yield* respond({ input: [{ id: output[0]?.id }], previous_response_id: id })
  yield* gateway.call(`/v1/responses/${id}/input_items`, { key })
  yield* gateway.call(`/v1/responses/${id}`, { key, method: "DELETE" })
})

/** What operators do to one organisation. */
const ofTheOrganization = Effect.fnUntraced(function* ({ organizationId }: Customer) {
  const gateway = yield* Gateway
  const at = `/organizations/${organizationId}`
  yield* gateway.admin(`${at}/deposits`, { json: { amount: "1", reference: "again" } })
  yield* gateway.admin(`${at}/ledger`)
  yield* gateway.admin(`${at}/usage`)
})

/** What a gateway does when it starts and every hour. */
const rareRounds = Effect.gen(function* () {
  yield* Effect.flatMap(CallLog, (log) => log.prune)
  yield* Effect.flatMap(WebhookMessages, (messages) => messages.prune)
  yield* Effect.flatMap(IdempotencyKeys, (keys) => keys.purge)
  yield* Effect.flatMap(TaskRepo, (tasks) => tasks.overdue(60, 1))
  yield* sealDueMonths
})

const nameless = (statements: ReadonlyArray<Planned>, tables: ReadonlySet<string>) =>
  statements.filter(({ reads }) =>
    reads.some(({ table, isByOrganization }) => tables.has(table) && !isByOrganization)
  )

layer(
  layerTestGateway("postgres", settings, {
    catalogFor: textCatalog(),
    database: layerReadServer
  }),
  { excludeTestServices: true, timeout: "60 seconds" }
)("statements on the way of an order", (it) => {
  it.effect("read rows of given organisations, but for those listed here", () =>
    Effect.gen(function* () {
      const tables = yield* distributed
      yield* useEverything
      const missing = () => {
        const statements = plans.statements()
        const touched = new Set(statements.flatMap((statement) => statement.tables))
        return [
          ...overAll.flatMap(([words, why]) =>
            nameless(statements, tables).some(({ text }) => words.test(text)) ? [] : [why]
          ),
          ...[...tables].filter((table) => !touched.has(table))
        ]
      }
      // The log is a moment late, and what runs in the background has its turns.
      yield* Effect.andThen(rareRounds, Effect.sync(missing)).pipe(
        Effect.delay("50 millis"),
        Effect.repeat({ until: (left) => left.length === 0 }),
        Effect.timeoutOption("20 seconds")
      )
      assert.deepStrictEqual(missing(), [], "reasons for nothing, and tables that nobody used")
      assert.deepStrictEqual(
        nameless(plans.statements(), tables)
          .filter(({ text }) => !overAll.some(([words]) => words.test(text)))
          .map(({ text }) => text.replaceAll(/\s+/g, " ").slice(0, 300)),
        []
      )
    })
  )
})
