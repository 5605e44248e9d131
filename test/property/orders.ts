/** Sends the orders of plans to a gateway on real sockets, and collects all that came of each. */
import { randomUUID } from "node:crypto"
import { Agent, request as httpRequest } from "node:http"
import { Context, Effect, Layer, Queue, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { toNano } from "../support/amounts.ts"
import { bodyAs, type Customer, Gateway, quickSettings } from "../support/gateway.ts"
import { leastInput, protocolCatalog } from "../support/protocolCatalog.ts"
import type { Dice } from "../support/randomOrders.ts"
import { TALK_PRICES } from "../support/textCatalog.ts"
import type { Mark } from "./answerParts.ts"
import type { Case, Prices, Received, Round } from "./judge.ts"
import {
  type AnswerPlan,
  CLOUD_LISTENER,
  CLOUD_VOICE,
  ELEVEN_MODEL,
  isResponse,
  MESSAGE,
  OWN_RESPONSE,
  otherModels,
  type Plan,
  plain,
  responseModels,
  SHOTS_MODEL,
  VEO_MODEL
} from "./plans.ts"
import { scriptedVendor, type VendorRequest } from "./scriptedVendor.ts"
import { orderText, pollText } from "./shapes.ts"
import { jobIdOf, polled } from "./videoForms.ts"
import { encodeAnswer, type Written } from "./wire.ts"

/** Orders run side by side, each with a customer and with channels of its own. */
export const LANES = 32

export const PRICES: Prices = { image: 170_000_000n, outputToken: 8_000n }

/** Tasks that are never told to be done end soon enough to be waited for. */
export const settings = {
  ...quickSettings,
  taskDeadlineSeconds: 2,
  unknownGraceSeconds: 1,
  submitDeadlineSeconds: 10
}

// The vendor of every lane

interface Job {
  readonly plan: Plan
  readonly mark: Mark
  orders: number
  polls: number
}

const idle: Written = { pieces: [], end: "end" }

const answerOf = (job: Job, { method, target }: VendorRequest): Written => {
  const { plan, mark } = job
  if (method === "POST") {
    job.orders += 1
    return encodeAnswer(plan.answer, orderText(plan.answer, plan, mark), mark)
  }
  const poll: AnswerPlan = plan.polls[Math.min(job.polls, 1)] ?? plain
  job.polls += 1
  const task = polled(poll, mark, plan, jobIdOf(plan.answer, mark), target)
  return encodeAnswer(poll, pollText(poll, plan, mark, task), mark)
}

export class Vendor extends Context.Service<
  Vendor,
  { readonly url: string; readonly jobs: Map<number, Job> }
>()("test/property/Vendor") {
  static readonly layer = Layer.effect(
    Vendor,
    Effect.gen(function* () {
      const jobs = new Map<number, Job>()
      const { url } = yield* scriptedVendor((request) => {
        const job = jobs.get(Number(/^\/lane(\d+)\//.exec(request.target)?.[1]))
        return job === undefined ? idle : answerOf(job, request)
      })
      return { url, jobs }
    })
  )
}

const laneCatalog = (url: string, lane: number): typeof CatalogWrite.Encoded => {
  const named = (name: string) => `lane${lane}-${name}`
  const vendorUrl = `${url}/lane${lane}`
  const media = protocolCatalog(vendorUrl)
  const text = named("text")
  const talk = { modality: "chat", protocol: "openai", prices: TALK_PRICES } as const
  const vector = { kind: "tokens", per_million_input: "0.5" } as const
  const voice = { kind: "characters", per_million_characters: "100" } as const
  const listen = { kind: "audio_seconds", per_second: "0.0001" } as const
  const paint = { kind: "image", per_image: "0.17" } as const
  const film = { kind: "second_video", per_second: { "720p": "0.6", "768p": "0.6" } } as const
  return {
    channels: [
      ...media.channels.map((channel) => ({ ...channel, id: named(channel.id) })),
      ...[...new Set(otherModels.map(({ protocol }) => protocol))].map((protocol) => ({
        id: named(protocol),
        name: protocol,
        base_url: `${vendorUrl}/${protocol}`,
        api_key: "vendor-key-1"
      })),
      { id: text, name: "text", base_url: `${vendorUrl}/v1`, api_key: "vendor-key-t" },
      { id: named("eleven"), name: "eleven", base_url: vendorUrl, api_key: "vendor-key-e" },
      { id: named("cloud"), name: "cloud", base_url: vendorUrl, api_key: "vendor-key-q" }
    ],
    models: [
      ...media.models.map((model) => ({ ...model, id: named(model.id) })),
      ...otherModels.map(({ model, modality, protocol }) => ({
        id: named(model),
        modality,
        protocol,
        prices: modality === "video" ? film : paint
      })),
      { id: named("talk"), ...talk },
      { id: named(MESSAGE), ...talk },
      ...responseModels.map((model) => ({
        id: named(model),
        ...talk,
        protocol: model === OWN_RESPONSE ? "openai_responses" : "openai"
      })),
      { id: named("vector"), modality: "embedding", protocol: "openai", prices: vector },
      { id: named("rank"), modality: "rerank", protocol: "jina", prices: vector },
      { id: named("voice"), modality: "tts", protocol: "openai", prices: voice },
      { id: named(ELEVEN_MODEL), modality: "tts", protocol: "elevenlabs", prices: voice },
      { id: named(CLOUD_VOICE), modality: "tts", protocol: "dashscope", prices: voice },
      { id: named("listen"), modality: "asr", protocol: "openai", prices: listen },
      { id: named(CLOUD_LISTENER), modality: "asr", protocol: "dashscope", prices: listen }
    ],
    mounts: [
      ...media.mounts.map((mount) => ({
        ...mount,
        model: named(mount.model),
        channel: named(mount.channel)
      })),
      ...otherModels.map(({ model, protocol, upstream }) => ({
        model: named(model),
        channel: named(protocol),
        upstream_model: upstream
      })),
      ...["talk", MESSAGE, ...responseModels, "vector", "rank", "voice", "listen"].map((name) => ({
        model: named(name),
        channel: text
      })),
      { model: named(ELEVEN_MODEL), channel: named("eleven") },
      { model: named(CLOUD_VOICE), channel: named("cloud") },
      { model: named(CLOUD_LISTENER), channel: named("cloud") }
    ]
  }
}

/** Every model once for each lane. */
export const catalogAt = (url: string): typeof CatalogWrite.Encoded => {
  const lanes = Array.from({ length: LANES }, (_, lane) => laneCatalog(url, lane))
  return {
    channels: lanes.flatMap(({ channels }) => channels),
    models: lanes.flatMap(({ models }) => models),
    mounts: lanes.flatMap(({ mounts }) => mounts)
  }
}

// The client

/** Both are longer than any deadline of the settings and the limits of vendors. */
const PATIENCE = "20 seconds"
const CLIENT_PATIENCE_MILLIS = 20_000

/** A connection each: one that is used again may have been closed by the other side. */
const agent = new Agent({ keepAlive: false })

/** One request, and every byte of its answer, also of one that breaks off. */
const exchange = (
  url: string,
  key: string,
  json: object | null,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Received> =>
  Effect.callback((resume) => {
    const received: { status: number | null; headers: string; chunks: Array<Buffer> } = {
      status: null,
      headers: "",
      chunks: []
    }
    const end = (isWhole: boolean) => {
      const { status, headers, chunks } = received
      resume(Effect.succeed({ status, headers, body: Buffer.concat(chunks), isWhole }))
    }
    const sent = httpRequest(url, {
      agent,
      method: json === null ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(json === null ? {} : { "content-type": "application/json" }),
        ...headers
      }
    })
    sent.on("response", (response) => {
      received.status = response.statusCode ?? null
      received.headers = Object.entries(response.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join("\n")
      response.on("data", (chunk: Buffer) => received.chunks.push(chunk))
      response.on("error", () => undefined)
      response.on("close", () => end(response.complete))
    })
    sent.on("error", () => end(false))
    sent.setTimeout(CLIENT_PATIENCE_MILLIS, () => sent.destroy())
    sent.end(json === null ? undefined : JSON.stringify(json))
    return Effect.sync(() => sent.destroy())
  })

const paths = {
  image: "/v1/images/generations",
  video: "/v1/videos/generations",
  chat: "/v1/chat/completions",
  embedding: "/v1/embeddings",
  rerank: "/v1/rerank",
  speech: "/v1/audio/speech",
  transcription: "/v1/audio/transcriptions"
} as const

const pathOf = ({ kind, model }: Plan): string =>
  isResponse(model) ? "/v1/responses" : model === MESSAGE ? "/v1/messages" : paths[kind]

const DOCUMENTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
const SHOTS = [
  { prompt: "a lighthouse", seconds: 3 },
  { prompt: "its keeper", seconds: 4 }
]
const SOUND = `data:audio/wav;base64,${Buffer.from(makeSound("wav", 2000)).toString("base64")}`

const bodyOf = ({ model, kind, streamed, format, n }: Plan, lane: number): object => {
  const name = { model: `lane${lane}-${model}` }
  const stream = streamed ? { stream: true } : {}
  switch (kind) {
    case "image":
      return { ...name, prompt: "a lighthouse", n, ...stream }
    case "video": {
      if (model === SHOTS_MODEL) return { ...name, shots: SHOTS }
      const length = model === VEO_MODEL ? { duration: 8 } : {}
      return { ...name, prompt: "a lighthouse", ...length, ...leastInput(model) }
    }
    case "chat":
      if (isResponse(model)) return { ...name, input: "hello", max_output_tokens: 50, ...stream }
      return { ...name, messages: [{ role: "user", content: "hello" }], max_tokens: 50, ...stream }
    case "embedding":
      return { ...name, input: "hello" }
    case "rerank":
      return { ...name, query: "hello", documents: DOCUMENTS }
    case "speech":
      return {
        ...name,
        input: "hello",
        voice: "voice",
        ...(format === undefined ? {} : { response_format: format }),
        ...(streamed ? { stream_format: "sse" } : {})
      }
    case "transcription":
      return { ...name, file: SOUND, ...stream }
  }
}

const AGENT_REVISION = "2026-07-28"
const AGENT_TOOLS = { image: "order_images", video: "order_video" } as const
/** Far above the price of every order. */
const AGENT_LIMIT = "1000000"

const ToolAnswer = Schema.fromJsonString(
  Schema.Struct({
    result: Schema.Struct({
      structuredContent: Schema.Struct({ id: Schema.optionalKey(Schema.String) }),
      isError: Schema.optionalKey(Schema.Boolean)
    })
  })
)
const decodeToolAnswer = Schema.decodeUnknownEffect(ToolAnswer)

// An order, from its request to the end of all that it began

const Task = Schema.fromJsonString(
  Schema.Struct({ id: Schema.String, task_status: Schema.optionalKey(Schema.String) })
)
const decodeTask = Schema.decodeUnknownOption(Task)
const Films = Schema.Array(Schema.Struct({ url: Schema.String }))
const Orphans = Schema.Array(Schema.Struct({ count: Schema.Int }))

const markOf = (dice: Dice): Mark => {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnopqrstuvwxyz23456789"
  const text = Array.from({ length: 10 }, () => letters[dice.roll(letters.length)]).join("")
  return { text: `Qz${text}`, digits: `7${100_000_000_000 + dice.roll(2 ** 31) * 7 + 3}` }
}

interface Lane {
  readonly lane: number
  readonly customer: Customer
}

export const makeOrders = Effect.gen(function* () {
  const gateway = yield* Gateway
  const vendor = yield* Vendor
  const sql = yield* SqlClient.SqlClient
  const lanes = yield* Queue.unbounded<Lane>()
  for (let lane = 0; lane < LANES; lane += 1) {
    Queue.offerUnsafe(lanes, { lane, customer: yield* gateway.customer("1000000000") })
  }

  const orphansOf = ({ organizationId }: Customer) =>
    sql`SELECT count(*)::int AS count FROM orphans WHERE organization_id = ${organizationId}`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Orphans)),
      Effect.map(([row]) => row?.count ?? 0),
      Effect.orDie
    )

  /** The pool once nothing is held of it any more, or when it was waited for long enough. */
  const settled = (customer: Customer) =>
    Effect.repeat(Effect.delay(gateway.balance(customer), "20 millis"), {
      until: ({ held }) => held === "0"
    }).pipe(Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => gateway.balance(customer) }))

  /** The answer with the film to which the gateway's link leads. */
  const linkedFilm = (answer: Received, id: string): Effect.Effect<Received> =>
    sql`SELECT video_url AS url FROM tasks WHERE id = ${id}`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Films)),
      Effect.map(([film]) => ({ ...answer, body: Buffer.from(film?.url ?? "") })),
      Effect.orDie
    )

  const awaitTask = Effect.fnUntraced(function* (customer: Customer, first: Received) {
    const task = decodeTask(first.body.toString())
    if (first.status !== 200 || task._tag === "None") return []
    const url = `${gateway.url}/v1/videos/${task.value.id}`
    const last = yield* exchange(`${url}?wait=15`, customer.key, null)
    const again = yield* exchange(url, customer.key, null)
    const isLink = last.body.includes(`"video_url":"${gateway.url}`)
    return isLink ? [last, again, yield* linkedFilm(again, task.value.id)] : [last, again]
  })

  /** Sends the order as a client of the HTTP API does. */
  const orderDirectly = Effect.fnUntraced(function* (
    { plan }: Job,
    { lane, customer }: Lane,
    headers: Readonly<Record<string, string>>
  ) {
    const url = `${gateway.url}${pathOf(plan)}`
    const first = yield* exchange(url, customer.key, bodyOf(plan, lane), headers)
    const later = plan.kind === "video" ? yield* awaitTask(customer, first) : []
    return [first, ...later] as const
  })

  /** Sends the order as an agent does, by a tool. A tool's error is an answer without an order. */
  const orderByTool = Effect.fnUntraced(function* (
    { plan }: Job,
    { lane, customer }: Lane,
    tool: (typeof AGENT_TOOLS)[keyof typeof AGENT_TOOLS]
  ) {
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: tool,
        arguments: { ...bodyOf(plan, lane), max_cost: AGENT_LIMIT },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": AGENT_REVISION,
          "io.modelcontextprotocol/clientInfo": { name: "agent", version: "1" },
          "io.modelcontextprotocol/clientCapabilities": {}
        }
      }
    }
    const first = yield* exchange(`${gateway.url}/mcp`, customer.key, message, {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": AGENT_REVISION,
      "mcp-method": "tools/call",
      "mcp-name": tool
    })
    const { result } = yield* Effect.orDie(decodeToolAnswer(first.body.toString()))
    const { id } = result.structuredContent
    if (result.isError === true || plan.kind !== "video" || id === undefined)
      return [first] as const
    const task = { ...first, body: Buffer.from(JSON.stringify({ id })) }
    return [first, ...(yield* awaitTask(customer, task))] as const
  })

  const sendOnce = Effect.fnUntraced(function* (
    job: Job,
    { customer }: Lane,
    send: Effect.Effect<Round["answers"]>
  ): Effect.fn.Return<Round> {
    const before = yield* gateway.balance(customer)
    const orphansBefore = yield* orphansOf(customer)
    const ordersBefore = job.orders
    const answers = yield* send
    const now = yield* gateway.balance(customer)
    const after = now.held === "0" ? now : yield* settled(customer)
    return {
      answers,
      charge: toNano(before.balance) - toNano(after.balance),
      orphans: (yield* orphansOf(customer)) - orphansBefore,
      orders: job.orders - ordersBefore,
      held: toNano(after.held)
    }
  })

  /** Runs the effect on a free lane, whose vendor follows the plan. */
  const onLane = <A>(plan: Plan, dice: Dice, use: (job: Job, lane: Lane) => Effect.Effect<A>) =>
    Effect.acquireUseRelease(
      Queue.take(lanes),
      (lane) => {
        const job: Job = { plan, mark: markOf(dice), orders: 0, polls: 0 }
        vendor.jobs.set(lane.lane, job)
        return use(job, lane)
      },
      (lane) => Queue.offer(lanes, lane)
    )

  /** Runs the plan on a free lane. */
  const run = (plan: Plan, dice: Dice): Effect.Effect<Case> =>
    onLane(
      plan,
      dice,
      Effect.fnUntraced(function* (job, lane) {
        const headers = plan.repeated ? { "idempotency-key": randomUUID() } : {}
        const send = sendOnce(job, lane, orderDirectly(job, lane, headers))
        const first = yield* send
        if (!plan.repeated) return { plan, mark: job.mark, rounds: [first] as const }
        return { plan, mark: job.mark, rounds: [first, yield* send] as const }
      })
    )

  /** Runs the plan of images or of a video on a free lane, ordered by an agent. */
  const runByAgent = (plan: Plan, dice: Dice, kind: keyof typeof AGENT_TOOLS) =>
    onLane(plan, dice, (job, lane) =>
      Effect.map(
        sendOnce(job, lane, orderByTool(job, lane, AGENT_TOOLS[kind])),
        (round): Case => ({ plan, mark: job.mark, rounds: [round] })
      )
    )

  /** Records an operator can read, of all lanes. */
  const listedOrphans = Effect.gen(function* () {
    const Page = Schema.Struct({
      data: Schema.Array(Schema.Struct({ id: Schema.String })),
      has_more: Schema.Boolean
    })
    let listed = 0
    let after = ""
    for (;;) {
      const page = yield* bodyAs(Page, yield* gateway.admin(`/orphans?limit=100${after}`))
      listed += page.data.length
      if (!page.has_more) return listed
      after = `&after=${page.data.at(-1)?.id}`
    }
  })

  return { run, runByAgent, listedOrphans }
})
