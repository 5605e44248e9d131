/**
 * Secrets and private texts, each with a mark, are sent through every protocol past vendors that
 * answer well, refuse or fail while they repeat what they were sent. Afterwards the marks are looked
 * for, also encoded, in all the gateway has printed, traced, counted, stored and told its operator.
 */
import { fileURLToPath } from "node:url"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { layerPostgres } from "../../src/postgres/client/databaseClient.ts"
import { layerEmbedded } from "../../src/postgres/embedded/EmbeddedPostgres.ts"
import { makeSound } from "../../src/simulator/media/sound.ts"
import { layerSimulator, Simulator } from "../../src/simulator/Simulator.ts"
import { brokenVendor, type ReceivedRequest, type Reply } from "../support/brokenVendor.ts"
import { makeCollector } from "../support/collector.ts"
import {
  type DatabaseKind,
  databasesInTurn,
  temporaryDataDir,
  temporaryServerDatabase
} from "../support/databases.ts"
import { databaseColumns } from "../support/databaseText.ts"
import { ELEVEN_VOICE } from "../support/elevenVoice.ts"
import { bodyAs } from "../support/gateway.ts"
import { type CallOptions, call } from "../support/http.ts"
import { sendMcp } from "../support/mcp.ts"
import { startable, startProcess } from "../support/processes.ts"
import { protocolCatalog, ways } from "../support/protocolCatalog.ts"
import { responsesCatalog } from "../support/responses.ts"
import { speechCatalog } from "../support/speechCatalog.ts"

const entry = startable(fileURLToPath(new URL("../support/loudProcess.ts", import.meta.url)))

const adminToken = "canary-admin-token-5vXq8Lr2"
const masterKey = Buffer.from("canary-master-key-of-32-bytes-xx").toString("base64")
const channelKey = "canary-channel-key/9+tPz4Kd7"
const appId = "canary-app-id-3hWm6Bc1"
const prompt = 'canary prompt: zebras "crossing" at dusk, jT4nQ9'
const written = "canary completion: otters asleep by the weir, qV7zL2"
const picture = Buffer.from("canary-picture-".repeat(30)).toString("base64")
/** A sound whose samples are the picture, so that both are found by one mark. */
const sound = `data:audio/wav;base64,${Buffer.from(makeSound("wav", 100)).fill("canary-picture-", 48).toString("base64")}`
const signature = "canarySignatureOfMedia7fGy2Xe5"
const resultSignature = "canarySignatureOfResult1kRb8Nu4"
const linkToken = "canaryTokenOfLink6mYt3Dp8"

/** A text as it may stand somewhere: as it is, quoted, in an address, in bytes and in base64. */
const spellings = (text: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  // Base64 of a text inside another depends on where it begins; the ends are left out.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift === 0 ? 0 : 4, -4)
  )
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString("hex"),
    ...base64,
    ...base64.map((encoded) => encoded.replaceAll("+", "-").replaceAll("/", "_"))
  ]
}

/** Spellings by the name of their canary. */
type Canaries = Readonly<Record<string, ReadonlyArray<string>>>

const found = (canaries: Canaries, text: string): ReadonlyArray<string> =>
  Object.entries(canaries)
    .filter(([, all]) => all.some((spelling) => text.includes(spelling)))
    .map(([name]) => name)

/** Columns whose purpose is to keep it, or to answer it to the client again. */
const allowed: ReadonlySet<string> = new Set([
  "app id in catalog_versions.document",
  "app id in channel_accounts.app_id",
  "signature of the result in tasks.video_url",
  // What a vendor refused is answered to repeats of the request in the vendor's own words.
  "prompt in idempotency_keys.answer",
  "signature of the media in idempotency_keys.answer"
])

/** Repeats in a refusal all it was sent. */
const refusing = ({ headers, target, body }: ReceivedRequest): Reply => {
  const said = `Refused ${target} with ${JSON.stringify(headers)}: ${body.slice(0, 2000)}`
  return {
    status: 400,
    body: { code: "BadWords", message: said, error: { code: "BadWords", message: said }, headers }
  }
}

/** Takes an order as vp_a does, repeats it in a poll that fails, and the headers in its verdict. */
const failing = () => {
  let asked = 0
  let ordered = ""
  return ({ method, headers, body }: ReceivedRequest): Reply => {
    if (method === "POST") {
      ordered = body
      return { body: { id: "job-1", headers } }
    }
    asked += 1
    const message = `Not with ${JSON.stringify(headers)}`
    return asked === 1
      ? { status: 500, body: { error: { message: `${message}: ${ordered}` }, ordered } }
      : { body: { id: "job-1", status: "failed", error: { code: "Failed", message } } }
  }
}

const succeeding = ({ method, headers }: ReceivedRequest): Reply =>
  method === "POST"
    ? { body: { id: "job-2", headers } }
    : {
        body: {
          id: "job-2",
          status: "succeeded",
          content: { video_url: `https://files.test/o.mp4?Signature=${resultSignature}` },
          headers
        }
      }

/** Writes a response, whole or as a stream of its end alone. */
const writingResponse = (body: string): Reply => {
  const message = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: written }]
  }
  const response = { status: "completed", output: [message] }
  return body.includes('"stream":true')
    ? {
        headers: { "content-type": "text/event-stream" },
        body: `data: ${JSON.stringify({ type: "response.completed", response })}\n\n`
      }
    : { body: response }
}

/** Writes a text, whole or as a stream; of the vectors' answer only half comes. */
const writing = ({ target, body }: ReceivedRequest): Reply => {
  const completion = {
    choices: [{ index: 0, message: { content: written }, delta: { content: written } }]
  }
  if (target.endsWith("/responses")) return writingResponse(body)
  if (!target.endsWith("/completions"))
    return { body: JSON.stringify({ data: [written] }).slice(0, -2) }
  return body.includes('"stream":true')
    ? {
        headers: { "content-type": "text/event-stream" },
        body: `data: ${JSON.stringify(completion)}\n\n`
      }
    : { body: completion }
}

const Created = Schema.Struct({ id: Schema.String })
const CreatedKey = Schema.Struct({ key: Schema.String })
const CreatedEndpoint = Schema.Struct({ signing_secret: Schema.String })
const environment = Effect.fnUntraced(function* (kind: DatabaseKind) {
  const common = {
    PORT: "0",
    GATEWAY_ADMIN_TOKEN: adminToken,
    GATEWAY_MASTER_KEY: masterKey,
    GATEWAY_ASK_INTERVAL_SECONDS: "0.05",
    GATEWAY_POLLER_SECONDS: "0.05",
    GATEWAY_DRAIN_SECONDS: "0",
    GATEWAY_BREAKER_CALLS: "1000000"
  }
  if (kind === "embedded") {
    const dataDir = yield* temporaryDataDir({ initialised: true })
    return { env: { ...common, DATA_DIR: dataDir }, database: layerEmbedded({ dataDir }) }
  }
  const url = yield* temporaryServerDatabase
  return {
    env: { ...common, DATABASE_URL: url },
    database: layerPostgres({ url: Redacted.make(url), maxConnections: 1 })
  }
})

const mediaUrl = `https://files.test/in.png?Signature=${signature}`

const takesOnePicture = /^(?:image-|relay-d$)/

/** A model whose orders list their shots, beside the models of the table. */
const shotModel = { model: "film-shots", modality: "video" } as const

const orderedModels = [...ways, shotModel]

/** The least each model takes, with a prompt and media that must not be kept anywhere. */
const bodyFor = ({ model, modality }: (typeof orderedModels)[number]) => ({
  model,
  ...(model === shotModel.model
    ? {
        shots: [
          { prompt, seconds: 4 },
          { prompt: `Then: ${prompt}`, seconds: 3 }
        ]
      }
    : { prompt }),
  ...(modality === "image" || /^(?:text-|relay-f$|film-shots$)/.test(model)
    ? {}
    : {
        images: [
          `data:image/png;base64,${picture}`,
          ...(takesOnePicture.test(model) ? [] : [mediaUrl])
        ]
      }),
  ...(modality === "image"
    ? { image: `data:image/png;base64,${picture}`, negative_prompt: prompt, user: prompt }
    : {})
})

const texts = [
  [
    "chat/completions",
    {
      model: "talk-1",
      messages: [{ role: "user", name: prompt, content: prompt }],
      user: prompt
    }
  ],
  [
    "chat/completions",
    {
      model: "look-1",
      stream: true,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: prompt },
            { type: "image_url", image_url: { url: mediaUrl } },
            { type: "image_url", image_url: { url: `data:image/png;base64,${picture}` } }
          ]
        }
      ]
    }
  ],
  [
    "responses",
    {
      model: "talk-1",
      instructions: prompt,
      input: [
        { role: "user", content: prompt },
        { type: "function_call", call_id: prompt, name: "f", arguments: prompt },
        { type: "function_call_output", call_id: prompt, output: prompt }
      ],
      user: prompt
    }
  ],
  [
    "responses",
    {
      model: "talk-own",
      stream: true,
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: prompt },
            { type: "input_image", image_url: mediaUrl },
            { type: "input_image", image_url: `data:image/png;base64,${picture}` }
          ]
        }
      ]
    }
  ],
  ["embeddings", { model: "vector-1", input: [prompt] }],
  [
    "rerank",
    { model: "rank-tokens", query: prompt, documents: [prompt, { text: prompt }], user: prompt }
  ],
  ["audio/speech", { model: "voice-1", input: prompt, instructions: prompt }],
  ["audio/speech", { model: "voice-1", input: prompt, stream_format: "sse" }],
  [
    "audio/speech",
    { model: "voice-eleven", input: prompt, voice: ELEVEN_VOICE, previous_text: prompt }
  ],
  ["audio/transcriptions", { model: "listen-tokens", prompt, file: sound }],
  ["audio/speech", { model: "voice-cloud", input: prompt, voice: prompt }],
  ["audio/transcriptions", { model: "listen-cloud", prompt, file: sound }],
  ["audio/transcriptions", { model: "listen-cloud", prompt, file: sound, stream: true }]
] as const

const agentOrders = (name: string, model: string) =>
  orderedModels.filter((way) => way.model === model).map((way) => [name, bodyFor(way)] as const)

/** Calls of tools that order nothing. */
const idleCalls = [
  ["get_quote", { model: "voice-1", input: prompt, instructions: prompt }],
  ["order_images", { model: prompt, prompt: [prompt], n: prompt, image: prompt }],
  [prompt, { id: prompt }]
] as const

/** Calls of the tools of agents, those that order first. */
const agentCalls: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
  ...agentOrders("order_images", "paint-a"),
  ...agentOrders("order_video", "film-a"),
  ["order_speech", { model: "voice-1", input: prompt, instructions: prompt }],
  ...idleCalls
]

/** Calls every tool, adds what it answers to `told`, and returns the number of orders. */
const askTools = Effect.fnUntraced(function* (
  place: Parameters<typeof sendMcp>[0],
  round: string,
  told: Array<readonly [string, string]>
) {
  const orders = agentCalls.length - idleCalls.length
  for (const [index, [name, fields]] of agentCalls.entries()) {
    const terms = { max_cost: "1000", embed: true, call_id: `${round}-${index}` }
    const args = index < orders ? { ...fields, ...terms } : fields
    const answer = yield* sendMcp(place, "tools/call", { name, arguments: args })
    told.push([`the answer of the tool ${index}`, answer.text])
  }
  return orders
})

const telemetryTo = (url: string | undefined): Record<string, string> =>
  url === undefined
    ? {}
    : {
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_METRIC_EXPORT_INTERVAL: "1000",
        OTEL_BSP_SCHEDULE_DELAY: "200"
      }

/** Every model of the table and those of the texts, with the keys that must not be kept anywhere. */
const catalogAt = (simulatorUrl: string, baseUrl: string | null) => {
  const media = protocolCatalog(simulatorUrl, channelKey)
  const textual = responsesCatalog()(simulatorUrl)
  const spoken = speechCatalog(simulatorUrl)
  const channels = [...textual.channels, ...spoken.channels]
  const models = [...textual.models, ...spoken.models.filter(({ id }) => id !== "talk-1")]
  const mounts = [...textual.mounts, ...spoken.mounts]
  const shotChannel = {
    id: "ch-fal",
    name: "fal",
    base_url: `${simulatorUrl}/fal`,
    api_key: channelKey,
    app_id: null
  }
  const textModels = new Set(texts.map(([, { model }]): string => model))
  const textChannels = channels
    .filter(({ id }) => ["ch-t", "ch-r", "ch-o", "ch-j", "ch-e", "ch-q"].includes(id))
    .map((one) => ({ ...one, api_key: channelKey }))
  return {
    channels: [...media.channels, shotChannel, ...textChannels].map((channel) => ({
      ...channel,
      base_url: baseUrl ?? channel.base_url,
      app_id: (channel.app_id ?? null) === null ? null : appId
    })),
    models: [
      ...media.models,
      {
        id: shotModel.model,
        modality: shotModel.modality,
        protocol: "fal",
        prices: { kind: "second_video" as const, per_second: { "720p": "0.1" } }
      },
      ...models.filter(({ id }) => textModels.has(id))
    ],
    mounts: [
      ...media.mounts,
      {
        model: shotModel.model,
        channel: shotChannel.id,
        upstream_model: "fal-ai/kling-video/v3/pro/text-to-video"
      },
      ...mounts.filter(({ model }) => textModels.has(model))
    ]
  }
}

/** The ids of a trace are nothing for vendors. */
const assertNoTraceIds = Effect.fnUntraced(function* ({
  requests
}: Effect.Success<ReturnType<typeof brokenVendor>>) {
  const names = (yield* requests).flatMap(({ headers }) => Object.keys(headers))
  assert.isNotEmpty(names)
  assert.isEmpty(names.filter((name) => /^(traceparent|tracestate|baggage|b3|x-b3)/i.test(name)))
})

/** The ids of all holds, read page by page from the ledger. */
const holdIds = Effect.fnUntraced(function* <E, R>(
  read: (query: string) => Effect.Effect<{ readonly text: string }, E, R>
) {
  const ids = new Set<string>()
  let after = ""
  for (let hasMore = true; hasMore; ) {
    const { text } = yield* read(`limit=100${after}`)
    for (const [, id = ""] of text.matchAll(/"hold_id":"([^"]+)"/g)) ids.add(id)
    const last = [...text.matchAll(/"id":"([^"]+)"/g)].at(-1)?.[1] ?? ""
    hasMore = text.includes('"has_more":true')
    after = `&after=${encodeURIComponent(last)}`
  }
  return ids
})

/** The collector has everything that matters, and no canary. */
const assertExports = (
  { spans, logs, snapshots, exports }: Effect.Success<ReturnType<typeof makeCollector>>,
  canaries: Canaries
): void => {
  const names = new Set(spans.map(({ name }) => name))
  for (const name of ["vp_a.submit", "vendor POST", "poll vp_a", "hold", "capture"]) {
    assert.isTrue(names.has(name), name)
  }
  assert.isTrue(spans.some(({ name, status }) => name === "vp_d.submit" && status === 2))
  assert.isTrue(logs.some(({ level }) => level === "Debug"))
  assert.isNotEmpty(snapshots)
  const leaks = exports.flatMap(({ path, headers, bytes }) =>
    found(canaries, JSON.stringify(headers) + Buffer.from(bytes).toString()).map(
      (name) => `${name} in ${path}`
    )
  )
  assert.deepStrictEqual([...new Set(leaks)], [])
}

it.live.each([...databasesInTurn(import.meta.filename)])(
  "%s: no key, prompt, media or signed address is printed, traced, counted, stored or shown",
  (kind) =>
    Effect.gen(function* () {
      const simulator = yield* Simulator
      const { env, database } = yield* environment(kind)
      // One of the two prints its traces, and the other sends them away with its logs and metrics.
      const collector = kind === "postgres" ? yield* makeCollector() : null
      const telemetry = telemetryTo(collector?.url)
      const gateway = yield* startProcess({ entry, env: { ...env, ...telemetry } })
      const [, url = ""] = yield* gateway.waitForLine(/listens on (http:\S+)/)
      const admin = (path: string, options?: CallOptions) =>
        call(`${url}/admin/v1${path}`, { key: adminToken, ...options })

      const organization = yield* bodyAs(
        Created,
        yield* admin("/organizations", { json: { name: "Test" } })
      )
      const at = `/organizations/${organization.id}`
      yield* admin(`${at}/deposits`, { json: { amount: "10000", reference: "r" } })
      const member = yield* bodyAs(Created, yield* admin(`${at}/members`, { json: { name: "m" } }))
      const { key } = yield* bodyAs(
        CreatedKey,
        yield* admin(`/members/${member.id}/keys`, { json: { name: "k" } })
      )
      const { signing_secret: webhookSecret } = yield* bodyAs(
        CreatedEndpoint,
        yield* call(`${url}/v1/webhook_endpoints`, {
          key,
          json: { name: "w", url: "https://receiver.test/", event_types: ["video.completed"] }
        })
      )
      const linked = yield* call(`${url}/v1/videos/v/content?token=${linkToken}`, {})
      assert.strictEqual(linked.status, 401)
      const canaries: Canaries = {
        "admin token": spellings(adminToken),
        "master key": spellings(masterKey),
        "channel key": spellings(channelKey),
        "app id": spellings(appId),
        "client key": spellings(key),
        "webhook secret": spellings(webhookSecret.replace("whsec_", "")),
        "token of a link": spellings(linkToken),
        prompt: spellings(prompt),
        completion: spellings(written),
        picture: [picture.slice(100, 160)],
        "signature of the media": spellings(signature),
        "signature of the result": spellings(resultSignature)
      }

      const told: Array<readonly [string, string]> = []
      let orders = 0
      const orderAll = Effect.fnUntraced(function* (
        some: ReadonlyArray<(typeof orderedModels)[number]>
      ) {
        yield* Effect.forEach(
          some,
          Effect.fnUntraced(function* (way) {
            orders += 1
            const answer = yield* call(`${url}/v1/${way.modality}s/generations`, {
              key,
              headers: { "idempotency-key": `key-${orders}` },
              json: bodyFor(way)
            })
            const { body } = answer
            if (way.modality === "image" || !Schema.is(Created)(body)) {
              told.push([`the answer for ${way.model}`, answer.text])
              return
            }
            const done = yield* call(`${url}/v1/videos/${body.id}?wait=20`, { key })
            assert.match(done.text, /"task_status":"(?:succeeded|failed)"/)
            told.push([`the end of ${way.model}`, done.text])
          }),
          { concurrency: 4 }
        )
      })
      const writeAll = Effect.forEach(
        texts,
        Effect.fnUntraced(function* ([path, json]) {
          orders += 1
          const headers = { "idempotency-key": `key-${orders}` }
          const answer = yield* call(`${url}/v1/${path}`, { key, headers, json })
          told.push([`the answer of ${path}`, answer.text])
        }),
        { concurrency: 4 }
      )
      /** With every channel at another address than the simulator's, when there is one. */
      const load = Effect.fnUntraced(function* (baseUrl: string | null) {
        const json = catalogAt(simulator.url, baseUrl)
        const answer = yield* admin("/catalog", { method: "PUT", json })
        assert.strictEqual(answer.status, 200, answer.text)
      })

      yield* load(null)
      yield* orderAll(orderedModels)
      yield* writeAll
      orders += yield* askTools({ url, key }, "well", told)
      assert.include(told.at(-agentCalls.length)?.[1], "task_status")
      const refuser = yield* brokenVendor(refusing)
      yield* load(refuser.url)
      yield* writeAll
      yield* orderAll(orderedModels)
      orders += yield* askTools({ url, key }, "refused", told)
      yield* assertNoTraceIds(refuser)
      for (const reply of [failing(), succeeding]) {
        const vendor = yield* brokenVendor(reply)
        yield* load(vendor.url)
        yield* orderAll(ways.filter(({ model }) => model === "film-a"))
        yield* assertNoTraceIds(vendor)
      }
      for (const reply of ["reset", { body: "<html>" }, { body: "[" }] as const) {
        const vendor = yield* brokenVendor(reply)
        yield* load(vendor.url)
        yield* orderAll(orderedModels)
        yield* writeAll
      }
      const writer = yield* brokenVendor(writing)
      yield* load(writer.url)
      yield* writeAll
      const last = told.slice(-texts.length).map(([, text]) => text)
      assert.include(last.join(), "otters")
      // A client is answered what it sent, in the vendor's words, but none of our keys.
      const keys = ["admin token", "master key", "channel key", "app id", "client key"]
      const leaks = told.filter(([, text]) =>
        found(canaries, text).some((name) => keys.includes(name))
      )
      assert.deepStrictEqual(leaks, [])

      const ids = yield* holdIds((query) => admin(`${at}/ledger?${query}`))
      assert.strictEqual(ids.size, orders)
      const pages = ["/orphans?limit=100", "/audit?limit=100"]
      for (const path of [...[...ids].map((id) => `/tasks/${id}`), ...pages]) {
        const answer = yield* admin(path)
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(found(canaries, answer.text), [], `${path}: ${answer.text}`)
      }

      const metrics = yield* call(`${url}/metrics`, { key: adminToken })
      assert.match(metrics.text, /^gateway_/m)
      assert.deepStrictEqual(found(canaries, metrics.text), [])

      yield* gateway.kill("SIGTERM")
      yield* gateway.end
      const printed = gateway.stdout() + gateway.stderr()
      for (const sign of [" DEBUG ", "METRICS"]) assert.isTrue(printed.includes(sign), sign)
      if (collector !== null) assertExports(collector, canaries)
      else
        assert.isTrue(/SPAN vp_a\.submit/.test(printed) && /SPAN ERROR vp_d\.submit/.test(printed))
      const lines = printed.split("\n").filter((line) => found(canaries, line).length > 0)
      assert.deepStrictEqual(lines, [])

      const stored = yield* Effect.provide(databaseColumns, database)
      assert.include(
        stored.find(({ column }) => column === "upstream_calls.request")?.text,
        "characters"
      )
      const hits = stored.flatMap(({ column, text }) =>
        found(canaries, text).map((name) => `${name} in ${column}`)
      )
      assert.deepStrictEqual(
        hits.filter((hit) => !allowed.has(hit)),
        []
      )
    }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped),
  120_000
)
