/**
 * Orders every video and image model of a demo gateway, one after the other, from the order to the
 * charge, and prints each result. Exits with 1 when an order failed.
 *
 * With GATEWAY_KEY it uses the gateway at GATEWAY_URL, otherwise it starts a demo.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Duration, Effect, Schema } from "effect"
import { formatNano, parseNano } from "../src/domain/money/Money.ts"
import { makeSound } from "../src/simulator/media/sound.ts"

interface Demo {
  readonly url: string
  readonly key: string
  /** The operator's token; null where it is unknown. */
  readonly adminToken: string | null
}

class WalkFailed extends Schema.TaggedError<WalkFailed>()("WalkFailed", {
  message: Schema.String
}) {}

const GIVE_UP_AFTER = "5 minutes"
/** Any address works: the gateway forwards it, and the simulated vendors do not fetch it. */
const PICTURE = "https://media.example/lighthouse.png"

const PROMPT = "a lighthouse at dusk"
/** A voice that every simulated vendor of speech has. */
const VOICE = "JBFqnCBsd6RMkjVDRZzb"

const Models = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      modality: Schema.String,
      status: Schema.String,
      input_forms: Schema.Array(Schema.String),
      durations: Schema.optionalKey(Schema.Struct({ default: Schema.Int })),
      resolutions: Schema.optionalKey(Schema.Array(Schema.String))
    })
  )
})
type Model = (typeof Models.Type)["data"][number]
const Balance = Schema.Struct({ balance: Schema.String, held: Schema.String })
const Created = Schema.Struct({ id: Schema.String })
const Task = Schema.Struct({
  task_status: Schema.String,
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
const Images = Schema.Struct({ data: Schema.NonEmptyArray(Schema.Unknown) })
const Ranking = Schema.Struct({ results: Schema.NonEmptyArray(Schema.Unknown) })
const Transcript = Schema.Struct({ text: Schema.NonEmptyString })
const Chat = Schema.Struct({ choices: Schema.NonEmptyArray(Schema.Unknown) })
const Vectors = Schema.Struct({ data: Schema.NonEmptyArray(Schema.Unknown) })
const Usage = Schema.Struct({
  data: Schema.Array(
    Schema.Struct({
      model: Schema.String,
      charge: Schema.String,
      task_id: Schema.NullOr(Schema.String)
    })
  )
})

/** Sends a request, and decodes its response with the schema. */
const fetchText = (url: string, key: string, json?: unknown) =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url, {
        method: json === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal
      })
      return { status: response.status, text: await response.text() }
    },
    catch: () => new WalkFailed({ message: `${url} cannot be reached` })
  })

const unusable = (status: number, text: string) =>
  new WalkFailed({ message: `HTTP ${status}: ${text.slice(0, 300)}` })

const call = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  url: string,
  key: string,
  json?: unknown
): Effect.Effect<S["Type"], WalkFailed> =>
  Effect.flatMap(fetchText(url, key, json), ({ status, text }) =>
    Schema.decodeEffect(Schema.fromJsonString(schema))(text).pipe(
      Effect.mapError(() => unusable(status, text))
    )
  )

const nano = (decimal: string): Effect.Effect<bigint, WalkFailed> =>
  Effect.fromResult(parseNano(decimal)).pipe(
    Effect.mapError((message) => new WalkFailed({ message }))
  )

const SOUND = `data:audio/wav;base64,${Buffer.from(makeSound("wav", 2000)).toString("base64")}`

interface DemoOrder {
  readonly description: string
  readonly order: object
}

const textOrders = {
  chat: { description: "a text", messages: [{ role: "user", content: PROMPT }] },
  vlm: {
    description: "a text about an image",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: PROMPT },
          { type: "image_url", image_url: { url: PICTURE } }
        ]
      }
    ]
  }
}

const mediaOrder = (model: Model): DemoOrder => {
  const seconds = model.durations?.default
  const resolution = model.resolutions?.find((name) => name === "720p") ?? model.resolutions?.[0]
  const needsPicture = model.input_forms.length > 0 && !model.input_forms.includes("text")
  return {
    description: [
      seconds === undefined ? "1 image" : `${seconds} s`,
      ...(resolution === undefined ? [] : [resolution]),
      `from ${needsPicture ? "an image" : "text"}`
    ].join(", "),
    order: {
      model: model.id,
      prompt: PROMPT,
      ...(seconds === undefined ? {} : { duration: seconds }),
      ...(resolution === undefined ? {} : { resolution }),
      ...(needsPicture ? { image: PICTURE } : {})
    }
  }
}

const orderOf = (model: Model): DemoOrder => {
  if (model.modality === "video" || model.modality === "image") return mediaOrder(model)
  switch (model.modality) {
    case "embedding":
      return { description: "a vector", order: { model: model.id, input: PROMPT } }
    case "rerank":
      return {
        description: "2 documents",
        order: { model: model.id, query: PROMPT, documents: [PROMPT, "a train"] }
      }
    case "tts":
      return {
        description: "a spoken text",
        order: { model: model.id, input: PROMPT, voice: VOICE }
      }
    case "asr":
      return { description: "2 s of sound", order: { model: model.id, file: SOUND } }
  }
  const { description, messages } = textOrders[model.modality === "vlm" ? "vlm" : "chat"]
  return { description, order: { model: model.id, messages, max_tokens: 16 } }
}

const walker = (demo: Demo) => {
  const ask = <S extends Schema.Top & { readonly DecodingServices: never }>(
    schema: S,
    path: string,
    json?: unknown
  ) => call(schema, `${demo.url}${path}`, demo.key, json)

  const held = Effect.flatMap(ask(Balance, "/v1/balance"), (balance) => nano(balance.held))

  const chargeOf = Effect.fnUntraced(function* (model: Model, taskId: string | null) {
    const { data } = yield* ask(Usage, "/v1/usage?limit=1")
    const [latest] = data
    return latest?.model === model.id && latest.task_id === taskId
      ? latest.charge
      : yield* new WalkFailed({ message: "it succeeded, and no charge is recorded" })
  })

  const video = Effect.fnUntraced(function* (model: Model, order: object) {
    const before = yield* held
    const { id } = yield* ask(Created, "/v1/videos/generations", order)
    const hold = formatNano((yield* held) - before)
    const task = yield* ask(Task, `/v1/videos/${id}?wait=60`).pipe(
      Effect.repeat({ until: ({ task_status }) => task_status !== "processing" }),
      Effect.timeoutOrElse({
        duration: GIVE_UP_AFTER,
        orElse: () =>
          Effect.fail(new WalkFailed({ message: `no end within ${GIVE_UP_AFTER} (${id})` }))
      })
    )
    if (task.error !== undefined) return yield* new WalkFailed({ message: task.error.message })
    return { hold, charge: yield* chargeOf(model, id), state: task.task_status }
  })

  /** Places an order whose hold is taken and captured within the request. */
  const atOnce = Effect.fnUntraced(function* <
    S extends Schema.Top & { readonly DecodingServices: never }
  >(model: Model, schema: S, path: string, order: object) {
    yield* ask(schema, path, order)
    return { hold: "-", charge: yield* chargeOf(model, null), state: "succeeded" }
  })

  const spoken = Effect.fnUntraced(function* (model: Model, order: object) {
    const url = `${demo.url}/v1/audio/speech`
    const { status, text } = yield* fetchText(url, demo.key, order)
    if (status !== 200) return yield* unusable(status, text)
    return { hold: "-", charge: yield* chargeOf(model, null), state: "succeeded" }
  })

  const run = (model: Model, order: object) => {
    switch (model.modality) {
      case "video":
        return video(model, order)
      case "image":
        return atOnce(model, Images, "/v1/images/generations", order)
      case "embedding":
        return atOnce(model, Vectors, "/v1/embeddings", order)
      case "rerank":
        return atOnce(model, Ranking, "/v1/rerank", order)
      case "asr":
        return atOnce(model, Transcript, "/v1/audio/transcriptions", order)
      case "tts":
        return spoken(model, order)
      default:
        return atOnce(model, Chat, "/v1/chat/completions", order)
    }
  }

  const walk = Effect.fnUntraced(function* (model: Model) {
    const { description, order } = orderOf(model)
    const [duration, result] = yield* Effect.timed(Effect.result(run(model, order)))
    const { hold, charge, state } =
      result._tag === "Success"
        ? result.success
        : { hold: "-", charge: "-", state: `failed: ${result.failure.message}` }
    return {
      hasFailed: result._tag === "Failure",
      cells: [
        model.id,
        model.modality,
        description,
        hold,
        charge,
        Duration.toSeconds(duration).toFixed(1),
        state
      ]
    }
  })

  const listModels = Effect.map(ask(Models, "/v1/models"), ({ data }) =>
    data.filter(({ status }) => status === "open")
  )

  return { listModels, walk }
}

const widths = [27, 10, 27, 9, 10, 8, 0]
const printRow = (cells: ReadonlyArray<string>) =>
  Console.log(cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" "))

const verify = Effect.fnUntraced(function* (url: string, adminToken: string) {
  const Books = Schema.Struct({ ok: Schema.Boolean })
  const { ok } = yield* call(Books, `${url}/admin/v1/ledger/verify`, adminToken)
  if (!ok) return yield* new WalkFailed({ message: "the ledger does not verify" })
  yield* Console.log("\nThe ledger verifies.")
})

const walkAll = Effect.fnUntraced(function* (demo: Demo) {
  const { listModels, walk } = walker(demo)
  const models = yield* listModels
  if (models.length === 0) return yield* new WalkFailed({ message: "there is no model to order" })
  yield* printRow(["model", "modality", "ordered", "hold", "charge", "seconds", "state"])
  const rows = yield* Effect.forEach(models, (model) =>
    Effect.tap(walk(model), ({ cells }) => printRow(cells))
  )
  if (demo.adminToken !== null) yield* verify(demo.url, demo.adminToken)
  const failures = rows.filter(({ hasFailed }) => hasFailed).length
  if (failures > 0) {
    return yield* new WalkFailed({ message: `${failures} of ${rows.length} models failed` })
  }
})

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** The addresses and keys that the demo prints; null until all of them are printed. */
const readDemo = (printed: string): Demo | null => {
  const [, url] = /gateway +(http\S+)\n/.exec(printed) ?? []
  const [, key] = /API key +(mg_\S+)\n/.exec(printed) ?? []
  const [, adminToken] = /admin token +(\S+)\n/.exec(printed) ?? []
  return url === undefined || key === undefined || adminToken === undefined
    ? null
    : { url, key, adminToken }
}

/** A gateway on an empty database and free ports. All its files are removed at the end. */
const startDemo = Effect.acquireRelease(
  Effect.sync(() => {
    const dataDir = mkdtempSync(join(tmpdir(), "media-gateway-walk-"))
    // Other variables are left out: the user's environment may configure a real gateway, which must
    // stay untouched.
    const { HOME, PATH, TMPDIR } = process.env
    const child = spawn(process.execPath, [main], {
      env: {
        HOME,
        PATH,
        TMPDIR,
        GATEWAY_DEMO: "1",
        DATA_DIR: dataDir,
        PORT: "0",
        GATEWAY_SIMULATOR_PORT: "0",
        GATEWAY_ASK_INTERVAL_SECONDS: "0.05"
      },
      stdio: ["ignore", "pipe", "inherit"]
    })
    return { child, dataDir, ended: once(child, "close") }
  }),
  ({ child, dataDir, ended }) =>
    Effect.promise(async () => {
      child.kill("SIGTERM")
      await ended
      rmSync(dataDir, { recursive: true, force: true })
    })
).pipe(
  Effect.flatMap(({ child }) =>
    Effect.callback<Demo, WalkFailed>((resume) => {
      let printed = ""
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        printed += chunk
        const demo = readDemo(printed)
        if (demo !== null) resume(Effect.succeed(demo))
      })
      child.on("close", () =>
        resume(Effect.fail(new WalkFailed({ message: `the demo did not start: ${printed}` })))
      )
    })
  )
)

const text = (name: string, fallback: string) =>
  Config.String(name).pipe(Config.withDefault(fallback))

const program = Effect.gen(function* () {
  const url = yield* text("GATEWAY_URL", "http://127.0.0.1:8080")
  const key = yield* text("GATEWAY_KEY", "")
  const configured: Demo = { url: url.replace(/\/+$/, ""), key, adminToken: null }
  yield* walkAll(key === "" ? yield* startDemo : configured)
}).pipe(
  Effect.scoped,
  Effect.tapError((error) => Console.error(`walk-demo: ${error.message}`))
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
