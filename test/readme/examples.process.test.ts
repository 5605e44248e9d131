/** Every example of every README, run as it stands there. */
import { spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Result, Schema } from "effect"
import { inject } from "vitest"
import { loadConfig } from "../../src/config.ts"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { Prices } from "../../src/domain/catalog/Prices.ts"
import { decodeQueueDocument } from "../../src/domain/queue/decodeQueueDocument.ts"
import { videoProtocols } from "../../src/domain/video/VideoProtocol.ts"
import { signInConfigOf } from "../../src/features/signIn/SignInConfig.ts"
import { ADMIN_TOKEN, clusterSecrets, startGateway } from "../support/cluster.ts"
import { asAdmin, temporaryDataDir } from "../support/databases.ts"
import { Gateway, layerTestGateway, quickSettings } from "../support/gateway.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { freePort } from "../support/postgresServer.ts"
import { startProcess } from "../support/processes.ts"
import { byItsName } from "../support/sources.ts"
import { newestHold, timelineOf } from "../support/timelines.ts"
import { example, examples, read, root } from "./documents.ts"

/** Runs a program at the package's root; dies unless it ends well. */
const run = (
  command: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  cwd = root
): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      // A bash whose input is a socket takes itself for a remote one, and reads its start files.
      stdio: ["ignore", "pipe", "pipe"]
    })
    const out: Array<string> = []
    const keep = (piece: Buffer) => out.push(piece.toString())
    child.stdout.on("data", keep)
    child.stderr.on("data", keep)
    child.once("error", (error) => resume(Effect.die(error)))
    child.once("close", (code) => {
      const text = out.join("")
      resume(
        code === 0 ? Effect.succeed(text) : Effect.die(new Error(`ended with ${code}: ${text}`))
      )
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "media-gateway-readme-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The example with the gateway's real address in it. */
const addressed = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  assert.include(code, "http://127.0.0.1:8080")
  return code.replaceAll("http://127.0.0.1:8080", gateway.url)
})

/** A refusal ends the run, where a reader would see it. */
const strict = (code: string): string =>
  code.replaceAll(/^curl -s/gm, "curl -sSf").replaceAll("$(curl -s ", "$(curl -sSf ")

const bash = (code: string, env: Readonly<Record<string, string>>, cwd?: string) =>
  run("bash", ["-euo", "pipefail", "-c", strict(code)], env, cwd)

const node = (code: string, args: ReadonlyArray<string>, key: string) =>
  run(process.execPath, [...args, "-e", code], { GATEWAY_KEY: key })

/** The scripts of an example are there; the test that starts them is named beside it. */
const scripts = (code: string) =>
  Effect.sync(() => {
    const named: object = JSON.parse(read("package.json")).scripts
    const missing = [...code.matchAll(/npm (?:run )?([\w:]+)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "ci" && !(name in named))
    assert.deepStrictEqual(missing, [])
  })

/** What is written here is what another file has, which is checked with the sources. */
const standsIn = (file: string) => (code: string) =>
  Effect.sync(() => assert.strictEqual(code, read(file)))

const curl = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer("100")
  const said = yield* bash(yield* addressed(code), { GATEWAY_KEY: customer.key })
  assert.include(said, '"hold":"4.968"')
  assert.include(said, "event: video.succeeded")
  assert.include(said, '"completion_tokens":108900')
  assert.include(said, "data: [DONE]")
  assert.include(said, '"object":"receipt"')
  assert.isBelow(Number((yield* gateway.balance(customer)).balance), 94.8)
})

const openai = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer("100")
  const said = yield* node(yield* addressed(code), ["--input-type=module"], customer.key)
  const lines = said.trim().split("\n")
  assert.match(lines[0] ?? "", /^http:\/\/127/)
  assert.isAbove((lines[1] ?? "").length, 0)
  assert.deepStrictEqual(
    [lines[2]?.split(" ")[0], lines[3]],
    ["succeeded", "400 invalid_request n"]
  )
})

/** The catalog gets the alias that the text says to add. */
const openaiVideos = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const catalog = demoCatalog(gateway.simulator.url)
  const models = catalog.models.map((model) =>
    model.id === "film-1" ? { ...model, aliases: ["sora-2"] } : model
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: { ...catalog, models } })
  const customer = yield* gateway.customer("100")
  const said = yield* node(yield* addressed(code), ["--input-type=module"], customer.key)
  yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
  assert.deepStrictEqual(said.trim().split("\n"), ["completed film-1", "video/mp4"])
})

const typedClient = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  yield* standsIn("test/readme/typedClient.ts")(code)
  const customer = yield* gateway.customer("100")
  const args = [...byItsName, "--input-type=module-typescript"]
  const said = yield* node(yield* addressed(code), args, customer.key)
  assert.strictEqual(said, "succeeded\n")
  const usage = yield* gateway.call("/v1/usage", { key: customer.key })
  assert.include(usage.text, '"modality":"video"')
})

const promiseClient = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  yield* standsIn("test/readme/promiseClient.ts")(code)
  const customer = yield* gateway.customer("100")
  const args = [...byItsName, "--input-type=module-typescript"]
  const said = yield* node(yield* addressed(code), args, customer.key)
  assert.match(said, /^succeeded\n\{.*\n\[DONE\]\naudio\/mpeg \d+\n$/s)
})

const aiSdk = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer("100")
  const args = [...byItsName, "--input-type=module"]
  const said = yield* node(yield* addressed(code), args, customer.key)
  const [text = "", ...others] = said.trim().split("\n")
  assert.isAbove(text.length, 0)
  assert.deepStrictEqual(others, [
    "image/png",
    "video/mp4 108900",
    "audio/mpeg 1",
    "video_sku_invalid duration 15"
  ])
})

/** The packages have the versions that the provider is for. */
const peers = (code: string) =>
  Effect.sync(() => {
    const [, , own, ...named] = code.trim().split(" ")
    const { name, peerDependencies } = JSON.parse(read("package.json"))
    assert.strictEqual(own, name)
    assert.includeMembers(
      Object.entries(peerDependencies).map(([peer, range]) =>
        String(range).replace(/^\^(\d+)\..*$/, `${peer}@$1`)
      ),
      named
    )
  })

/** One account of the demo's vendor in trouble, and well again afterwards. */
const troubledAccount = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  assert.include(code, "http://127.0.0.1:8081")
  const trouble = (words: string) =>
    bash(words.replaceAll("http://127.0.0.1:8081", gateway.simulator.url), {})
  yield* trouble(code)
  const who = yield* gateway.customer("100")
  const json = { model: "paint-1", prompt: "a lighthouse" }
  const answer = yield* gateway.call("/v1/images/generations", { key: who.key, json })
  assert.strictEqual(answer.status, 200, answer.text)
  const { attempts } = yield* timelineOf(yield* newestHold(who.organizationId))
  assert.deepStrictEqual(
    attempts.map(({ channel, reason }) => [channel, reason]),
    [
      ["demo-ip_a", "rate_limited"],
      ["demo-ip_a-2", null]
    ]
  )
  yield* trouble(code.replace("sim:refuse=429", ""))
})

/** Sets up a gateway of its own, as the catalog is replaced. */
const setUp = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* startGateway({ DATA_DIR: yield* temporaryDataDir({ initialised: true }) })
  const folder = yield* temporaryFolder
  writeFileSync(join(folder, "catalog.json"), example("src/operations/README.md json 1"))
  const said = yield* bash(
    code.replaceAll("http://127.0.0.1:8080", gateway.url),
    { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
    folder
  )
  assert.include(said, '"balance":"500"')
  assert.include(said, '"key":"mg_')
  assert.include(said, '{"ok":true,"violations":[]}')
}, Effect.scoped)

/** Runs the example as an operator, for an organisation that has ordered an image. */
const forOrganization = Effect.fnUntraced(function* (code: string, folder?: string) {
  const gateway = yield* Gateway
  const who = yield* gateway.customer("100")
  yield* gateway.call("/v1/images/generations", {
    key: who.key,
    json: { model: "paint-1", prompt: "a lighthouse" }
  })
  const env = { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN, ORG: who.organizationId }
  return yield* bash(yield* addressed(code), env, folder)
})

const budget = Effect.fnUntraced(function* (code: string) {
  assert.include(yield* forOrganization(code), '"thresholds":[50,100]')
})

const series = Effect.fnUntraced(function* (code: string) {
  assert.include(yield* forOrganization(code), '"model":"paint-1","count":1')
})

const statement = Effect.fnUntraced(function* (code: string) {
  const folder = yield* temporaryFolder
  const output = yield* forOrganization(code, folder)
  assert.include(output, '"closing_balance":"99.')
  const fileText = (name: string) => readFileSync(join(folder, name), "utf8")
  assert.include(output, createHash("sha256").update(fileText("month.csv")).digest("hex"))
  assert.include(fileText("month.html"), "<h1>Statement")
  assert.match(fileText("focus.csv"), /^BilledCost,/)
}, Effect.scoped)

const reconciliation = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const catalog: unknown = JSON.parse(example("src/operations/README.md json 1"))
  yield* gateway.admin("/catalog", { method: "PUT", json: catalog })
  const said = yield* bash(
    yield* addressed(code),
    { GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN },
    yield* temporaryFolder
  )
  yield* gateway.admin("/catalog", { method: "PUT", json: demoCatalog(gateway.simulator.url) })
  assert.include(said, '"missing_here":{"count":1')
  assert.include(said, "1,missing_here,unknown,cgt-17,2,1,")
}, Effect.scoped)

/** The catalog with the model of the example beside its own is valid. */
const limitedModel = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const catalog = demoCatalog(gateway.simulator.url)
  const model: unknown = JSON.parse(code)
  const json = { ...catalog, models: [...catalog.models, model] }
  const answer = yield* gateway.admin("/catalog/preview", { json })
  assert.strictEqual(answer.status, 200, answer.text)
})

const Row = Schema.Record(Schema.String, Schema.Unknown)

const prices = (code: string) => Effect.asVoid(Schema.decodeUnknownEffect(Prices)(JSON.parse(code)))

/** The row has the fields of those that are there. */
const row = (code: string) =>
  Effect.sync(() => {
    const written: unknown = new Function(`return {${code}}`)()
    const { vp_g } = Schema.decodeUnknownSync(Schema.Struct({ vp_g: Row }))(written)
    assert.sameMembers(Object.keys(vp_g), Object.keys(videoProtocols.vp_a))
  })

const vendorOfTheReader = `
import { videoProtocols } from "${root}/src/domain/video/VideoProtocol.ts"
export { makeVpA as makeVpToy } from "${root}/src/adapters/vp_a.ts"
export const vpToyRow = videoProtocols.vp_a`

/** With the sources in place of what is built from them, and a vendor of ours in place of the reader's. */
/** The variables of a sign-in are all that one needs. */
const signInVariables = (code: string) =>
  Effect.gen(function* () {
    const variables = Object.fromEntries(
      [...code.matchAll(/(GATEWAY_[A-Z_]+)=(?:'([^']*)'|(\S+))/g)].map(
        ([, name = "", quoted, plain]) => [name, quoted ?? plain]
      )
    )
    const config = yield* Effect.provideService(
      loadConfig,
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown(variables)
    )
    const signIn = yield* Effect.fromResult(signInConfigOf(config))
    assert.deepStrictEqual(
      [signIn?.roles.length, signIn?.organizations.length, signIn?.issuer],
      [2, 2, "https://login.example.com"]
    )
  }).pipe(Effect.orDie)

const ownProgram = Effect.fnUntraced(function* (code: string) {
  const folder = yield* temporaryFolder
  const program = code
    .replaceAll('"media-gateway/extend"', `"${root}/src/extend.ts"`)
    .replaceAll(/"(@?effect[^"]*)"/g, (_, name: string) => `"${import.meta.resolve(name)}"`)
  assert.notInclude(program, "media-gateway/")
  writeFileSync(join(folder, "vp_toy.ts"), vendorOfTheReader)
  writeFileSync(join(folder, "program.ts"), program)
  const port = yield* Effect.promise(freePort)
  const child = yield* startProcess({
    entry: join(folder, "program.ts"),
    env: { PORT: String(port), DATA_DIR: yield* temporaryDataDir({ initialised: true }) }
  })
  const healthy = Effect.exit(call(`http://127.0.0.1:${port}/healthz`)).pipe(
    Effect.delay("50 millis"),
    Effect.repeat({ until: Exit.isSuccess })
  )
  const ended = Effect.flatMap(child.end, () => Effect.die(new Error(child.stderr())))
  assert.strictEqual((yield* yield* Effect.raceFirst(healthy, ended)).status, 200)
}, Effect.scoped)

/** A role and a database of the name, as the README makes them. */
const serverOf = Effect.fnUntraced(function* (name: string) {
  const statements = (place: number) =>
    example(`src/postgres/README.md sql ${place}`).replaceAll("gateway", name).trim().split("\n")
  yield* Effect.acquireRelease(Effect.forEach([...statements(1), ...statements(2)], asAdmin), () =>
    Effect.orDie(
      Effect.andThen(asAdmin(`DROP DATABASE ${name} WITH (FORCE)`), asAdmin(`DROP ROLE ${name}`))
    )
  )
  const url = new URL(inject("postgresUrl"))
  url.username = name
  url.password = "secret"
  url.pathname = name
  return url.href
})

/** Two gateways that start together on an empty database, by a role that owns nothing else. */
const severalGateways = Effect.fnUntraced(function* (code: string) {
  const url = yield* serverOf(`readme_${randomUUID().replaceAll("-", "")}`)
  const script = join(yield* temporaryFolder, "gateway.sh")
  const command = code
    .replace(/'postgres:[^']*'/, `'${url}'`)
    .replace("MASTER_KEY='...'", `MASTER_KEY='${clusterSecrets.GATEWAY_MASTER_KEY}'`)
    .replace("ADMIN_TOKEN='...'", `ADMIN_TOKEN='${ADMIN_TOKEN}'`)
    .replace("HOST=0.0.0.0", "HOST=127.0.0.1")
    .replace("npm run gateway", `exec ${process.execPath} ${shippedEntry}`)
  assert.notInclude(command, "...")
  assert.include(command, shippedEntry)
  writeFileSync(script, command)
  const start = startGateway({}, script, ["bash"])
  const gateways = yield* Effect.all([start, start], { concurrency: 2 })
  for (const { url } of gateways) {
    assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
  }
}, Effect.scoped)

const keys = Effect.fnUntraced(function* (code: string) {
  const [masterKey = "", token = ""] = (yield* bash(code, {})).trim().split("\n")
  assert.lengthOf(Buffer.from(masterKey, "base64"), 32)
  assert.match(token, /^[0-9a-f]{48}$/)
})

/** The settings that PgBouncer must pass over are those a session is opened with. */
const pooler = (code: string) =>
  Effect.sync(() => {
    const [, list = ""] = /ignore_startup_parameters = (.*)/.exec(code) ?? []
    const [, opened = ""] =
      /startupParameters: \{([^}]*)\}/.exec(read("src/postgres/client/databaseClient.ts")) ?? []
    const names = [...opened.matchAll(/(\w+):/g)].map(([, name = ""]) => name)
    // PgBouncer follows the time zone by itself.
    assert.sameMembers(
      list.split(","),
      names.filter((name) => name !== "TimeZone")
    )
  })

const webhook = Effect.fnUntraced(function* (code: string) {
  const gateway = yield* Gateway
  const customer = yield* gateway.customer("100")
  const port = yield* Effect.promise(freePort)
  const program = (yield* addressed(code)).replaceAll("9000", String(port))
  assert.include(program, `:${port}/hooks`)
  const said = yield* node(program, ["--input-type=module"], customer.key)
  assert.strictEqual(said, "video.completed succeeded\n")
})

/** The document of a vendor has no fault. */
const vendorDocument: Check = (code) =>
  Effect.sync(() => {
    const document = decodeQueueDocument(JSON.parse(code))
    assert.deepStrictEqual(Result.isFailure(document) ? document.failure : [], [])
  })

/** Checked together with another. */
const partOf = (name: string) => () => Effect.sync(() => example(name))

type Check = (code: string) => Effect.Effect<unknown, unknown, Gateway>

const checks: Readonly<Record<string, Check>> = {
  // `test/e2e/demo.test.ts` starts the demo, and `test/scripts/walkDemo.test.ts` walks it.
  "README.md sh 1": scripts,
  "README.md sh 2": scripts,
  "README.md sh 3": scripts,
  "README.md sh 4": partOf("README.md sh 5"),
  "README.md sh 5": curl,
  "README.md js 1": openai,
  "src/adapters/README.md json 1": vendorDocument,
  "src/adapters/README.md sh 1": troubledAccount,
  "src/adapters/README.md ts 1": row,
  "src/adapters/README.md ts 2": ownProgram,
  "src/ai-sdk/README.md js 1": aiSdk,
  "src/ai-sdk/README.md sh 1": peers,
  "src/client/README.md ts 1": typedClient,
  "src/client/README.md ts 2": promiseClient,
  "src/http/README.md js 1": openaiVideos,
  "src/operations/README.md sh 1": setUp,
  "src/operations/README.md json 1": partOf("src/operations/README.md sh 1"),
  "src/operations/README.md json 2": limitedModel,
  "src/operations/README.md json 3": prices,
  "src/postgres/README.md sh 1": keys,
  "src/postgres/README.md sh 2": severalGateways,
  "src/postgres/README.md sql 1": partOf("src/postgres/README.md sh 2"),
  "src/postgres/README.md sql 2": partOf("src/postgres/README.md sh 2"),
  "src/postgres/README.md ini 1": pooler,
  "src/features/budgets/README.md sh 1": budget,
  "src/features/reconciliations/README.md sh 1": reconciliation,
  "src/features/signIn/README.md sh 1": signInVariables,
  "src/features/statements/README.md sh 1": statement,
  "src/features/usage/README.md sh 1": series,
  "src/features/webhooks/README.md js 1": webhook,
  "src/testing/README.md ts 1": standsIn("test/readme/doubles.test.ts"),
  "src/testing/README.md ts 2": standsIn("test/readme/doublesFetch.test.ts")
}

const settings = { ...quickSettings, webhookAllowPrivate: true }

layer(layerTestGateway("postgres", settings, { catalogFor: demoCatalog }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("the READMEs' examples", (it) => {
  it("all have a check", () => {
    assert.sameMembers(Object.keys(checks), [...examples.keys()])
  })

  for (const [name, check] of Object.entries(checks)) {
    it.effect(name, () => check(example(name)))
  }
})
