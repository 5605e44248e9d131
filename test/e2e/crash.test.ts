import { assert, it, layer } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { responseIdOf } from "../../src/domain/responses/responseIds.ts"
import type { Failpoint } from "../../src/runtime/Failpoints.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import { type DatabaseKind, sharedKind } from "../support/databases.ts"
import { shareOfDay } from "../support/day.ts"
import { ELEVEN_VOICE } from "../support/elevenVoice.ts"
import {
  type Environment,
  prepareCustomer,
  processEnvironment,
  settledBalance
} from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { awaitJob } from "../support/operator.ts"
import type { ProcessEnded } from "../support/processes.ts"
import { respond, responsesCatalog } from "../support/responses.ts"
import { archiveEnvironment } from "../support/s3Server.ts"
import { layerSurvivor, Survivor } from "../support/survivor.ts"

const environmentOf = Effect.fnUntraced(function* (kind: DatabaseKind) {
  return {
    ...(yield* processEnvironment(kind)),
    ...(yield* archiveEnvironment),
    GATEWAY_LEASE_SECONDS: "1",
    GATEWAY_SUBMIT_DEADLINE_SECONDS: "1",
    GATEWAY_IMAGE_DEADLINE_SECONDS: "1",
    GATEWAY_TEXT_DEADLINE_SECONDS: "1",
    GATEWAY_TEXT_TOKENS_PER_HOUR: "1000000000",
    GATEWAY_TEXT_STREAM_DEADLINE_SECONDS: "1"
  }
})

const talk = { model: "talk-1", messages: [{ role: "user", content: "a lighthouse" }] }
const stream = { ...talk, stream: true }
const message = { ...talk, max_tokens: 100 }
const response = respond("a lighthouse")
const ownResponse = { ...response, model: "talk-own" }
const responseStream = { ...response, stream: true }
const ownStream = { ...ownResponse, stream: true }
const voice = { model: "voice-1", input: "a lighthouse" }
const eleven = { model: "voice-eleven", input: "a lighthouse", voice: ELEVEN_VOICE }
const cloud = { model: "voice-cloud", input: "a lighthouse", voice: "Cherry" }
const film = { model: "film-1", prompt: "a lighthouse" }
/** Of a vendor that a document describes, which is asked for the result after the status. */
const queueFilm = { model: "film-fal", prompt: "a lighthouse" }
/** Of Google, whose job is an operation, and of MiniMax, whose answers have a status of their own. */
const veoFilm = { model: "film-veo", prompt: "a lighthouse", duration: 8 }
const minimaxFilm = { model: "film-minimax", prompt: "a lighthouse", resolution: "768p" }
const paint = { model: "paint-1", prompt: "a lighthouse" }
/** Of a vendor whose queue they can leave. */
const queuePaint = { model: "paint-fal", prompt: "a lighthouse" }
const paintStream = { ...paint, stream: true, partial_images: 1 }
/** Their first channel cannot be reached, and the second one can. */
const filmDown = { ...film, model: "film-down" }
const paintDown = { ...paint, model: "paint-down" }
const refused = (order: object) => ({ ...order, prompt: "sim:moderate-input" })
/** Where each kind is ordered. */
const paths = {
  videos: "videos/generations",
  images: "images/generations",
  later: "images/generations",
  texts: "chat/completions",
  responses: "responses",
  messages: "messages",
  speech: "audio/speech",
  "speech later": "audio/speech"
} as const

/** Whether the order is answered with a task. */
const isTask = (resource: keyof typeof paths): boolean => resource.endsWith("later")

/**
 * How a repeat with the same key is answered after the restart. `gone` is what was made and charged,
 * and was known to nobody but the gateway that died.
 */
type Repeat = "as before" | "given up" | "refused" | "ordered" | "gone"

/**
 * Where the process dies, what was ordered, jobs the vendor took on by then, what is left of 100,
 * and what a repeat of the request comes to.
 */
const places: ReadonlyArray<
  readonly [Failpoint, keyof typeof paths, object, jobs: number, left: string, repeat: Repeat]
> = [
  ["video.placed", "videos", film, 0, "100", "ordered"],
  ["video.held", "videos", film, 0, "100", "given up"],
  ["video.reassigned", "videos", filmDown, 0, "100", "given up"],
  ["video.refused", "videos", refused(film), 0, "100", "given up"],
  ["video.returned", "videos", refused(film), 0, "100", "refused"],
  ["video.made", "videos", film, 1, "100", "given up"],
  ["video.finished", "videos", film, 1, "94.9906", "as before"],
  ["video.claimed", "videos", film, 1, "94.9906", "as before"],
  ["video.verdict", "videos", film, 1, "94.9906", "as before"],
  ["video.settled", "videos", film, 1, "94.9906", "as before"],
  ["video.held", "videos", queueFilm, 0, "100", "given up"],
  ["video.returned", "videos", refused(queueFilm), 0, "100", "refused"],
  ["video.made", "videos", queueFilm, 1, "100", "given up"],
  ["video.finished", "videos", queueFilm, 1, "97", "as before"],
  ["video.claimed", "videos", queueFilm, 1, "97", "as before"],
  ["video.verdict", "videos", queueFilm, 1, "97", "as before"],
  ["video.settled", "videos", queueFilm, 1, "97", "as before"],
  ["video.made", "videos", veoFilm, 1, "100", "given up"],
  ["video.verdict", "videos", veoFilm, 1, "95.2", "as before"],
  ["video.made", "videos", minimaxFilm, 1, "100", "given up"],
  ["video.verdict", "videos", minimaxFilm, 1, "97", "as before"],
  ["image.placed", "images", paint, 0, "100", "ordered"],
  ["image.held", "images", paint, 0, "100", "given up"],
  ["image.reassigned", "images", paintDown, 0, "100", "given up"],
  ["image.refused", "images", refused(paint), 0, "100", "given up"],
  ["image.returned", "images", refused(paint), 0, "100", "refused"],
  ["image.made", "images", paint, 1, "100", "given up"],
  ["image.made", "images", paintDown, 1, "100", "given up"],
  ["image.finished", "images", paint, 1, "99.8", "as before"],
  ["image.made", "images", paintStream, 1, "100", "given up"],
  ["image.finished", "images", paintStream, 1, "99.8", "gone"],
  ["image.held", "later", paint, 0, "100", "as before"],
  ["image.refused", "later", refused(paint), 0, "100", "as before"],
  ["image.made", "later", paint, 1, "100", "as before"],
  ["image.finished", "later", paint, 1, "99.8", "as before"],
  ["text.held", "texts", talk, 0, "100", "given up"],
  ["text.made", "texts", stream, 1, "100", "given up"],
  ["text.finished", "texts", talk, 1, "99.999804", "gone"],
  ["text.finished", "texts", stream, 1, "99.999804", "gone"],
  ["text.made", "responses", response, 1, "100", "given up"],
  ["response.stored", "responses", response, 1, "100", "given up"],
  ["response.stored", "responses", ownStream, 1, "100", "given up"],
  ["text.finished", "responses", response, 1, "99.999804", "as before"],
  ["text.finished", "responses", responseStream, 1, "99.999804", "as before"],
  ["text.finished", "responses", ownResponse, 1, "99.999804", "as before"],
  ["text.finished", "responses", ownStream, 1, "99.999804", "as before"],
  ["text.finished", "responses", { ...response, store: false }, 1, "99.999804", "gone"],
  ["text.held", "messages", message, 0, "100", "given up"],
  ["text.made", "messages", { ...message, stream: true }, 1, "100", "given up"],
  ["text.finished", "messages", message, 1, "99.999804", "gone"],
  ["text.held", "speech", voice, 0, "100", "given up"],
  ["text.made", "speech", voice, 1, "100", "given up"],
  ["text.finished", "speech", voice, 1, "99.9988", "gone"],
  ["text.made", "speech", eleven, 1, "100", "given up"],
  ["text.finished", "speech", eleven, 1, "99.9988", "gone"],
  ["text.made", "speech", cloud, 1, "100", "given up"],
  ["text.finished", "speech", cloud, 1, "99.9988", "gone"],
  ["speech.held", "speech later", voice, 0, "100", "as before"],
  ["speech.made", "speech later", voice, 1, "100", "as before"],
  ["speech.finished", "speech later", voice, 1, "99.9988", "as before"]
]

const catalogFor = (simulatorUrl: string) => {
  const catalog = responsesCatalog()(simulatorUrl)
  const second = { priority: 1, upstream_model: "vendor-second" }
  const prices = { kind: "characters", per_million_characters: "100" } as const
  const perSecond = { "720p": "0.6", "768p": "0.6" }
  const queueFilmPrices = { kind: "second_video", per_second: perSecond } as const
  const mounts = [
    {
      model: "film-fal",
      channel: "ch-f",
      upstream_model: "fal-ai/bytedance/seedance/v1/pro/text-to-video"
    },
    { model: "paint-fal", channel: "ch-f", upstream_model: "fal-ai/flux/dev" },
    { model: "film-veo", channel: "ch-g", upstream_model: "veo-3.1-generate-preview" },
    { model: "film-minimax", channel: "ch-m", upstream_model: "MiniMax-H3" },
    { model: "voice-1", channel: "ch-t" },
    { model: "voice-eleven", channel: "ch-e", upstream_model: "eleven_v3" },
    { model: "voice-cloud", channel: "ch-q", upstream_model: "sim-tts" },
    { model: "film-down", channel: "ch-a", ...second },
    { model: "paint-down", channel: "ch-i", ...second }
  ]
  return {
    ...catalog,
    channels: [
      ...catalog.channels,
      { id: "ch-f", name: "F", base_url: `${simulatorUrl}/fal`, api_key: "vendor-key-f" },
      { id: "ch-g", name: "G", base_url: `${simulatorUrl}/veo`, api_key: "vendor-key-g" },
      { id: "ch-m", name: "M", base_url: `${simulatorUrl}/minimax`, api_key: "vendor-key-m" },
      { id: "ch-e", name: "E", base_url: `${simulatorUrl}/elevenlabs`, api_key: "vendor-key-e" },
      { id: "ch-q", name: "Q", base_url: `${simulatorUrl}/dashscope`, api_key: "vendor-key-q" }
    ],
    models: [
      ...catalog.models,
      { id: "film-fal", modality: "video" as const, protocol: "fal", prices: queueFilmPrices },
      {
        id: "paint-fal",
        modality: "image" as const,
        protocol: "fal",
        prices: { kind: "image" as const, per_image: "0.2" }
      },
      { id: "film-veo", modality: "video" as const, protocol: "veo", prices: queueFilmPrices },
      {
        id: "film-minimax",
        modality: "video" as const,
        protocol: "minimax",
        prices: queueFilmPrices
      },
      { id: "voice-1", modality: "tts" as const, protocol: "openai", prices },
      { id: "voice-eleven", modality: "tts" as const, protocol: "elevenlabs", prices },
      { id: "voice-cloud", modality: "tts" as const, protocol: "dashscope", prices }
    ],
    mounts: [...catalog.mounts, ...mounts]
  }
}

/**
 * An order goes on to its second channel, or comes to its end, early in its time, for which even a
 * busy machine needs some.
 */
const slowly = (place: Failpoint, order: object): Environment =>
  order === filmDown || order === paintDown || place.endsWith(".finished")
    ? {
        GATEWAY_SUBMIT_DEADLINE_SECONDS: "6",
        GATEWAY_IMAGE_DEADLINE_SECONDS: "6",
        GATEWAY_TEXT_DEADLINE_SECONDS: "6",
        GATEWAY_TEXT_STREAM_DEADLINE_SECONDS: "6"
      }
    : {}

const statusOf: Record<Repeat, number> = {
  "as before": 200,
  "given up": 504,
  refused: 400,
  ordered: 200,
  gone: 409
}

/**
 * Where a gateway dies with an order that waits for a place, how its task ends, and what is left of
 * 100: the channel's other video costs 5.0094.
 */
const waitingPlaces = [
  ["video.joined", "no order", "94.9906"],
  ["video.waiting", "succeeded", "89.9812"],
  ["video.dispatched", "succeeded", "89.9812"],
  ["video.started", "failed", "94.9906"]
] as const satisfies ReadonlyArray<readonly [Failpoint, string, string]>

/** Where a gateway dies with a task that its vendor has just cancelled. */
const cancelPlaces = [
  ["video.cancelled", "videos", film],
  ["image.cancelled", "images", queuePaint]
] as const satisfies ReadonlyArray<readonly [Failpoint, "videos" | "images", object]>

/** Where a gateway dies whose successor dies too, while it gives the hold back. */
const sweptPlace = ["video.held", "videos", film, 0, "100", "given up"] as const

/** Rounds over all places; without them a run takes the places of its day. */
const ROUNDS = process.env.CRASH_ROUNDS
/** Within as many days each place has its turn. */
const DAYS = 3
/**
 * Simulated worlds have such orders too and drop gateways between any two of their operations, so that
 * their places need fewer kills of real processes.
 */
const simulatedResources: ReadonlySet<string> = new Set(["videos", "images", "later", "texts"])
const SIMULATED_DAYS = 12

const isSimulated = ([, resource]: (typeof places)[number]) => simulatedResources.has(resource)
const simulatedPlaces = [
  ...places.filter(isSimulated),
  ...waitingPlaces,
  ...cancelPlaces,
  sweptPlace
]
const placesOfDay: ReadonlySet<unknown> = new Set([
  ...shareOfDay(simulatedPlaces, SIMULATED_DAYS),
  ...shareOfDay(
    places.filter((place) => !isSimulated(place)),
    DAYS
  )
])

/** Those whose turn it is. */
const inTurn = <A>(rows: ReadonlyArray<A>): ReadonlyArray<A> =>
  ROUNDS === undefined
    ? rows.filter((row) => placesOfDay.has(row))
    : Array.from({ length: Number(ROUNDS) }, () => rows).flat()

const OrdersOf = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })) })

/** A response can be read if its order is charged, and then its repeat had the same id. */
const checkResponse = Effect.fnUntraced(function* (
  { url }: GatewayNode,
  key: string,
  repeated: string,
  { resource, repeat }: { readonly resource: keyof typeof paths; readonly repeat: Repeat }
) {
  if (resource !== "responses") return
  const orders = yield* call(`${url}/v1/orders`, { key })
  const { data } = yield* Schema.decodeUnknownEffect(OrdersOf)(orders.body)
  assert.lengthOf(data, 1)
  const id = responseIdOf(data[0]?.id ?? "")
  const isStored = repeat === "as before"
  assert.strictEqual(
    (yield* call(`${url}/v1/responses/${id}`, { key })).status,
    isStored ? 200 : 404
  )
  assert.strictEqual(repeated.includes(id), isStored)
})

/** Orders from a gateway that dies at the place, and looks at what `survivor` makes of it. */
const killedAt = (
  [place, resource, json, jobs, left, repeat]: (typeof places)[number],
  env: Environment,
  survivor: Effect.Effect<GatewayNode, ProcessEnded, Scope.Scope>
) =>
  Effect.gen(function* () {
    const simulator = yield* Simulator
    const first = yield* startGateway({ ...env, ...slowly(place, json), KILL_AT: place })
    const { key, organizationPath } = yield* prepareCustomer(
      first,
      "100",
      catalogFor(simulator.url)
    )
    const count = Effect.map(
      simulator.book,
      (book) => book.filter((entry) => entry.event === "accepted").length
    )
    const before = yield* count
    const order = (url: string) =>
      call(`${url}/v1/${paths[resource]}`, {
        key,
        json,
        headers: {
          "idempotency-key": "the-order",
          ...(isTask(resource) ? { prefer: "respond-async" } : {})
        }
      })
    yield* Effect.forkChild(Effect.exit(order(first.url)))
    assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

    const second = yield* survivor
    assert.strictEqual(yield* settledBalance(second, organizationPath), left)
    assert.strictEqual((yield* count) - before, jobs)

    const again = yield* order(second.url)
    assert.strictEqual(again.status, isTask(resource) ? 202 : statusOf[repeat], again.text)
    if (isTask(resource) && repeat === "as before") {
      const location = again.headers.get("location") ?? ""
      const ended = yield* call(`${second.url}${location}`, { key })
      const status = left === "100" ? "failed" : "succeeded"
      assert.deepInclude(ended.body, { task_status: status })
    }
    yield* checkResponse(second, key, again.text, { resource, repeat })
    assert.strictEqual(
      again.headers.get("idempotency-replayed"),
      repeat === "ordered" || repeat === "gone" ? null : "true"
    )
    assert.strictEqual((yield* count) - before, repeat === "ordered" ? 1 : jobs)
  }).pipe(Effect.scoped)

it.live.each(inTurn(waitingPlaces))(
  "killed at %s of an order that waits for a place: it is %s, and nothing is sent twice",
  ([place, end, left]) =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const env = yield* environmentOf(sharedKind)
      const catalog = catalogFor(simulator.url)
      const channels = catalog.channels.map((channel) => ({ ...channel, max_tasks: 1 }))
      const first = yield* startGateway({ ...env, KILL_AT: place })
      const { key, organizationPath } = yield* prepareCustomer(first, "100", {
        ...catalog,
        channels
      })
      const order = (url: string, json: object, headers: Record<string, string> = {}) =>
        call(`${url}/v1/videos/generations`, { key, json: { ...film, ...json }, headers })
      yield* order(first.url, { prompt: "a lighthouse sim:waits" })
      const waiting = (url: string) =>
        order(url, { max_wait: 600 }, { "idempotency-key": "the-order" })
      yield* Effect.forkChild(Effect.exit(waiting(first.url)))
      if (place === "video.dispatched" || place === "video.started") yield* simulator.releaseTasks
      assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

      const second = yield* startGateway(env)
      yield* simulator.releaseTasks
      assert.strictEqual(yield* settledBalance(second, organizationPath), left)
      const again = yield* waiting(second.url)
      assert.strictEqual(again.status, 200, again.text)
      assert.strictEqual(
        again.headers.get("idempotency-replayed"),
        end === "no order" ? null : "true"
      )
      const { id, queue } = yield* Schema.decodeUnknownEffect(
        Schema.Struct({
          id: Schema.String,
          queue: Schema.optional(Schema.Struct({ position: Schema.Int }))
        })
      )(again.body)
      assert.isAtMost(queue?.position ?? 0, 1, "nothing waits before it")
      const task = yield* call(`${second.url}/v1/videos/${id}?wait=30`, { key })
      assert.deepInclude(task.body, { task_status: end === "no order" ? "succeeded" : end })
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)

it.live.each(inTurn(cancelPlaces))(
  "killed at %s of %s: cancelled again, the task ends as cancelled, and its hold is back",
  ([place, resource, json]) =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      // Nothing but the cancel ends the images of a dead gateway before their deadline.
      const env = { ...(yield* environmentOf(sharedKind)), GATEWAY_IMAGE_DEADLINE_SECONDS: "60" }
      const first = yield* startGateway({ ...env, KILL_AT: place })
      const { key, organizationPath } = yield* prepareCustomer(
        first,
        "100",
        catalogFor(simulator.url)
      )
      const created = yield* call(`${first.url}/v1/${resource}/generations`, {
        key,
        json: { ...json, prompt: "a lighthouse sim:waits" },
        headers: { prefer: "respond-async" }
      })
      const { id } = yield* Schema.decodeUnknownEffect(Schema.Struct({ id: Schema.String }))(
        created.body
      )
      yield* awaitJob(first, id)
      const cancel = (url: string) =>
        call(`${url}/v1/${resource}/${id}/cancel`, { method: "POST", key })
      yield* Effect.forkChild(Effect.exit(cancel(first.url)))
      assert.strictEqual((yield* first.process.end).signal, "SIGKILL")

      const second = yield* startGateway(env)
      yield* cancel(second.url)
      assert.strictEqual(yield* settledBalance(second, organizationPath), "100")
      const error = { code: "cancelled", message: "The vendor cancelled the task" }
      assert.deepEqual((yield* cancel(second.url)).body, { id, task_status: "failed", error })
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)

/** A living gateway would settle the task before the other one gets there. */
const onlyAlone: ReadonlySet<Failpoint> = new Set([
  "video.claimed",
  "video.verdict",
  "video.settled"
])
/** Alone on its database a gateway gives back at its start what others leave to their deadlines. */
const onEmbedded: ReadonlySet<Failpoint> = new Set(["video.made", "image.made"])

/** What one database shows of these, the other would show alike. */
const onlyShared: ReadonlySet<object> = new Set([paintStream, veoFilm, minimaxFilm])

layer(layerSurvivor(environmentOf(sharedKind), catalogFor), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a gateway killed beside another one", (it) => {
  it.effect.each(inTurn(places.filter(([place]) => !onlyAlone.has(place))))(
    "at %s of %s: nothing is lost and nothing is sent twice",
    (row) =>
      Effect.flatMap(Survivor, ({ env, gateway }) => killedAt(row, env, Effect.succeed(gateway)))
  )
})

for (const kind of ["embedded", sharedKind] as const) {
  const rows = places.filter(([place, , order]) =>
    kind === "embedded" ? onEmbedded.has(place) && !onlyShared.has(order) : onlyAlone.has(place)
  )
  it.live.each(inTurn(rows))(
    `${kind}: killed at %s of %s and started again, nothing is lost and nothing is sent twice`,
    (row) =>
      Effect.gen(function* () {
        const env = yield* environmentOf(kind)
        yield* killedAt(row, env, startGateway(env))
      }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
    60_000
  )
}

it.live.each(inTurn([sweptPlace]))(
  "killed at %s, and again while the hold is given back",
  (row) =>
    Effect.gen(function* () {
      const env = yield* environmentOf(sharedKind)
      const sweeper = Effect.gen(function* () {
        const second = yield* startGateway({ ...env, KILL_AT: "sweep.found" })
        assert.strictEqual((yield* second.process.end).signal, "SIGKILL")
        return yield* startGateway(env)
      })
      yield* killedAt(row, env, sweeper)
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  60_000
)
