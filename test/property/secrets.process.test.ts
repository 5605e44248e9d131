/**
 * A stored secret goes only where it was stored for, and a running task is asked where it was made,
 * whatever operators do to the catalog meanwhile. PROPERTY_CASES sets how many sequences of steps are
 * tried on the stores in memory (a share of them on PostgreSQL, and over HTTP with vendors that listen),
 * PROPERTY_SEED repeats a run.
 */
import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, Result, Schema } from "effect"
import { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { originOf } from "../../src/domain/catalog/origin.ts"
import { Catalog } from "../../src/services/Catalog.ts"
import {
  ChannelCredentials,
  type KeyedAccount
} from "../../src/services/channels/ChannelCredentials.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { brokenVendor } from "../support/brokenVendor.ts"
import { databasesInTurn } from "../support/databases.ts"
import { seedOfDay } from "../support/day.ts"
import { Gateway, layerTestGateway } from "../support/gateway.ts"
import { layerStoresOf } from "../support/ledger.ts"
import { errorOf, finishVideo, orderVideo } from "../support/orders.ts"
import { type Dice, diceOf } from "../support/randomOrders.ts"
import { claimAgain, layerEager, submittedTasks, upstream } from "../support/tasks.ts"
import { type Addresses, addresses, type ChannelJson, makeSecretsModel } from "./secretSteps.ts"

const CASES = Number(process.env.PROPERTY_CASES ?? 150)
const SEED = Number(process.env.PROPERTY_SEED ?? seedOfDay)

const MOST_STEPS = 12

interface RunningTask {
  readonly channelId: string
  readonly organizationId: string
  readonly id: string
  /** Where it was made, with which key and value. */
  readonly place: string
  readonly keyName: string
  readonly secret: string
}

const decodeCatalog = Schema.decodeUnknownSync(CatalogWrite)
const catalogOf = (channels: ReadonlyArray<ChannelJson>) =>
  decodeCatalog({ channels, models: [], mounts: [] })

/** One sequence of steps; fails with what went elsewhere, or was not asked where it was made. */
const sequence = Effect.fnUntraced(function* (dice: Dice, name: string, seen: Map<string, number>) {
  const catalog = yield* Catalog
  const credentials = yield* ChannelCredentials
  const repo = yield* TaskRepo
  const ledger = yield* Ledger
  const channelIds = [`${name}-one`, `${name}-two`]
  const model = makeSecretsModel(addresses, channelIds)
  const running: Array<RunningTask> = []
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)

  /** As it would be sent: the value, and where the address leads. */
  const send = (account: KeyedAccount) => {
    const place = model.placeOf(account.baseUrl)
    const secret = Redacted.value(account.apiKey)
    assert.strictEqual(model.givenFor.get(secret), place, `${secret} goes to ${account.baseUrl}`)
    return { place, secret }
  }

  const edit = Effect.gen(function* () {
    const channels = model.drawCatalog(dice)
    const faults = model.faults(channels)
    const written = catalogOf(channels)
    const previewed = yield* Effect.result(catalog.preview(written))
    const replaced = yield* Effect.result(catalog.replace(written))
    for (const result of [previewed, replaced]) {
      const paths =
        Result.isFailure(result) && result.failure._tag === "invalid_request"
          ? (result.failure.faults ?? []).map(({ path }) => path)
          : []
      assert.deepStrictEqual(paths, faults, JSON.stringify(channels))
    }
    if (Result.isSuccess(replaced)) model.apply(channels)
    count(faults.length > 0 ? "refused" : "edited")
  })

  const use = Effect.gen(function* () {
    const id = dice.pick(["one", "two"])
    const channelId = `${name}-${id}`
    const current = model.current(channelId)
    const accounts = yield* Effect.result(credentials.accounts(channelId))
    if (Result.isFailure(accounts)) {
      assert.strictEqual(current?.keys.size ?? 0, 0)
      count("without a key")
      return
    }
    const { all, forOrders } = accounts.success
    assert.deepStrictEqual(
      Object.fromEntries(all.map((account) => [account.keyName, send(account).secret])),
      Object.fromEntries(current?.keys ?? [])
    )
    const [account, ...others] = forOrders
    if (account === undefined) return
    const { keyName, origin, version } = dice.pick([account, ...others])
    const submitted = yield* submittedTasks(channelId, 1)
    const { organizationId } = submitted
    const [taskId = ""] = submitted.ids
    const vendorTask = { ...upstream(`job of ${taskId}`), origin, accountVersion: version, keyName }
    assert.isTrue(yield* repo.accept(organizationId, taskId, vendorTask, 3600))
    const place = current?.place ?? ""
    const secret = current?.keys.get(keyName) ?? ""
    running.push({ channelId, organizationId, id: taskId, place, keyName, secret })
    count("ordered")
  })

  const poll = Effect.gen(function* () {
    for (const task of running) {
      const { accountVersion, keyName } = yield* claimAgain(task.organizationId, task.id)
      assert.strictEqual(keyName, task.keyName)
      const accounts = yield* Effect.result(
        credentials.taskAccounts(task.channelId, accountVersion)
      )
      const asked = Result.isSuccess(accounts) ? accounts.success : []
      for (const account of asked) assert.strictEqual(send(account).place, task.place)
      const maker = asked.find(
        (account) => account.keyName === keyName && account.version === accountVersion
      )
      if (maker === undefined) count("key forgotten")
      else assert.strictEqual(Redacted.value(maker.apiKey), task.secret)
      if (model.current(task.channelId)?.place !== task.place) count("asked at an address before")
    }
  })

  const end = Effect.gen(function* () {
    const [task] = running.splice(dice.roll(running.length), 1)
    if (task === undefined) return
    yield* ledger.release({
      organizationId: task.organizationId,
      holdId: task.id,
      by: "sweep",
      orphan: null,
      answer: null,
      forgetKey: false,
      task: { from: "processing", state: "failed", errorCode: "x", errorMessage: "x" }
    })
    yield* credentials.forgetSuperseded(0)
  })

  yield* edit
  for (let step = 2 + dice.roll(MOST_STEPS); step > 0; step--) {
    yield* dice.pick([edit, edit, use, use, poll, end])
  }
  yield* poll
})

const sequences = Effect.fnUntraced(function* (
  first: number,
  count: number,
  seen: Map<string, number>
) {
  for (let seed = SEED + first; seed < SEED + first + count; seed++) {
    yield* sequence(diceOf(seed), `s${seed}`, seen).pipe(
      Effect.catchDefect((defect) =>
        Effect.die(new Error(`PROPERTY_SEED=${seed} PROPERTY_CASES=1: ${String(defect)}`))
      )
    )
  }
})

/** A run without some of each would prove little. */
const expected = [
  "refused",
  "edited",
  "without a key",
  "ordered",
  "key forgotten",
  "asked at an address before"
]

it("addresses of the table lead where it says", () => {
  const origins = Object.values(addresses).map((all) => new Set(all.map(originOf)))
  for (const own of origins) assert.strictEqual(own.size, 1, [...own].join(" "))
  assert.strictEqual(new Set(origins.flatMap((own) => [...own])).size, origins.length)
})

const quiet = Logger.layer([])

/** Stores grow with every case, so each few begin with empty ones. */
const CASES_TOGETHER = 50

it.live(
  `no key goes where it was not given for, in memory (PROPERTY_SEED=${SEED})`,
  () =>
    Effect.gen(function* () {
      const seen = new Map<string, number>()
      for (let first = 0; first < CASES; first += CASES_TOGETHER) {
        const stores = layerStoresOf("memory").pipe(Layer.provide([layerEager, quiet]))
        yield* sequences(first, Math.min(CASES_TOGETHER, CASES - first), seen).pipe(
          Effect.provide(stores)
        )
      }
      if (CASES >= 1000) assert.includeMembers([...seen.keys()], expected)
    }),
  1_800_000
)

for (const kind of databasesInTurn(import.meta.filename)) {
  layer(layerStoresOf(kind).pipe(Layer.provide([layerEager, quiet])), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`keys at rest (${kind})`, (it) => {
    it.effect(
      `no key goes where it was not given for (PROPERTY_SEED=${SEED})`,
      () => sequences(0, Math.ceil(CASES / 40), new Map()),
      1_800_000
    )
  })
}

/** A vendor of vp_a that knows the jobs it has made, and what was said to it under which name. */
const makeListener = Effect.fnUntraced(function* (name: string) {
  const jobs = new Map<string, number>()
  const hosts = new Map<string, string>()
  const vendor = yield* brokenVendor(({ method, target, headers }) => {
    if (method === "POST") {
      const id = `${name}-${jobs.size}`
      jobs.set(id, 0)
      hosts.set(id, String(headers.host))
      return { body: { id } }
    }
    const id = target.slice(target.lastIndexOf("/") + 1)
    const polls = hosts.get(id) === headers.host ? jobs.get(id) : undefined
    if (polls === undefined) return { status: 404, body: { error: { code: "NotFound" } } }
    jobs.set(id, polls + 1)
    const content = { video_url: "https://files.test/o.mp4" }
    return { body: polls < 2 ? { id, status: "running" } : { id, status: "succeeded", content } }
  })
  const { port } = new URL(vendor.url)
  const table: Addresses = {
    [name]: [
      `http://127.0.0.1:${port}`,
      `HTTP://0x7f.1:${port}/v1`,
      `http://2130706433:${port}/other`,
      `http://127.1:0${port}/`
    ],
    [`${name} by name`]: [`http://localhost:${port}`, `http://LocalHost:${port}/v1`]
  }
  return { ...vendor, name, table }
})

type Listener = Effect.Success<ReturnType<typeof makeListener>>

/** Fails with what a listener heard that was not meant for it. */
const judge = Effect.fnUntraced(function* (
  { name, requests }: Listener,
  givenFor: ReadonlyMap<string, string>
) {
  for (const { headers } of yield* requests) {
    const secret = String(headers.authorization).replace("Bearer ", "")
    const place = String(headers.host).startsWith("localhost") ? `${name} by name` : name
    assert.strictEqual(givenFor.get(secret), place, `${secret} came to ${headers.host}`)
  }
})

const film = (id: string) => ({
  id: `film-${id}`,
  modality: "video" as const,
  protocol: "vp_a",
  prices: {
    kind: "token_video" as const,
    per_million_tokens: { base: { without_video: "46", with_video: "28" } }
  }
})

const overHttp = Effect.fnUntraced(function* (dice: Dice, listeners: ReadonlyArray<Listener>) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("1000")
  const channelIds = ["one", "two"].map((name) => `${name}-${dice.roll(2 ** 30)}`)
  const table = Object.assign({}, ...listeners.map((listener) => listener.table))
  const model = makeSecretsModel(table, channelIds)
  const made: Array<{ readonly id: string; readonly channelId: string; readonly place: string }> =
    []

  const edit = Effect.gen(function* () {
    const channels = model.drawCatalog(dice)
    const faults = model.faults(channels)
    const json = {
      channels,
      models: channels.map(({ id }) => film(id)),
      mounts: channels.map(({ id }) => ({ model: `film-${id}`, channel: id }))
    }
    const answer = yield* gateway.admin("/catalog", { method: "PUT", json })
    if (faults.length === 0) {
      assert.strictEqual(answer.status, 200, answer.text)
      return model.apply(channels)
    }
    assert.strictEqual(answer.status, 400, answer.text)
    const { faults: said = [] } = yield* errorOf(answer)
    assert.deepStrictEqual(
      said.map(({ path }) => path),
      faults
    )
  })

  const test = Effect.suspend(() =>
    gateway.admin(`/channels/${channelIds[dice.roll(2)]}/test`, { method: "POST" })
  )

  const order = Effect.gen(function* () {
    const channelId = channelIds[dice.roll(2)] ?? ""
    const { status, body } = yield* orderVideo(who, { model: `film-${channelId}` })
    if (status !== 200) return
    const { id } = yield* Effect.orDie(Schema.decodeUnknownEffect(Accepted)(body))
    made.push({ id, channelId, place: model.current(channelId)?.place ?? "" })
  })

  yield* edit
  for (let step = 4 + dice.roll(8); step > 0; step--) {
    yield* dice.pick([edit, edit, order, order, test])
  }
  for (const { id, channelId, place } of made) {
    if (!model.isAskable(channelId, place)) continue
    const { task_status } = yield* finishVideo(who, id)
    assert.strictEqual(task_status, "succeeded", `${id} was made at ${place}`)
  }
  yield* Effect.forEach(listeners, (listener) => judge(listener, model.givenFor), { discard: true })
})

const Accepted = Schema.Struct({ id: Schema.String })

layer(layerTestGateway("embedded").pipe(Layer.provide(quiet)), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("vendors that listen", (it) => {
  it.effect(
    `hear only what was given for them, and are asked for what they made (PROPERTY_SEED=${SEED})`,
    () =>
      Effect.gen(function* () {
        for (let seed = SEED; seed < SEED + Math.ceil(CASES / 100); seed++) {
          yield* Effect.gen(function* () {
            const listeners = yield* Effect.forEach(["A", "B"], makeListener)
            yield* overHttp(diceOf(seed), listeners)
          }).pipe(
            Effect.scoped,
            Effect.catchDefect((defect) =>
              Effect.die(new Error(`PROPERTY_SEED=${seed} PROPERTY_CASES=1: ${String(defect)}`))
            )
          )
        }
      }),
    1_800_000
  )
})
