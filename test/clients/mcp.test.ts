/** Agents that order media over the Model Context Protocol, with the official packages. */

import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import type { CallToolResult } from "@modelcontextprotocol/client"
import { resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client"
import { Effect, Fiber, Schema } from "effect"
import { archiving, bucket } from "../support/archives.ts"
import { bodyAs, type Customer, Gateway, layerTestGateway } from "../support/gateway.ts"
import { shippedEntry } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import {
  askMcp,
  connectMcp,
  connectOver,
  decodeRpc,
  messagesOver,
  metaOf,
  refusalOf,
  sendMcp,
  stdioOf,
  structuredOf,
  taskSession
} from "../support/mcp.ts"
import { done } from "../support/officialClients.ts"
import { speechCatalog } from "../support/speechCatalog.ts"
import { startTcpProxy } from "../support/tcpProxy.ts"

const Order = Schema.Struct({
  id: Schema.String,
  kind: Schema.String,
  task_status: Schema.String,
  files: Schema.Array(
    Schema.Struct({ url: Schema.String, name: Schema.String, embedded: Schema.Boolean })
  ),
  charge: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  next_step: Schema.optionalKey(Schema.String),
  replayed: Schema.optionalKey(Schema.Boolean)
})
const orderOf = structuredOf(Order)

const Quote = Schema.Struct({
  quote_id: Schema.String,
  max_cost: Schema.String,
  tool: Schema.String,
  expires_at: Schema.String
})
const quoteOf = structuredOf(Quote)

const Task = Schema.Struct({
  resultType: Schema.String,
  taskId: Schema.String,
  status: Schema.String,
  ttlMs: Schema.Null,
  pollIntervalMs: Schema.Int,
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})
const taskOf = (result: unknown) => Effect.orDie(Schema.decodeUnknownEffect(Task)(result))

/** A client of the gateway, and a function that calls a tool with it. */
const agentOf = Effect.fnUntraced(function* ({ key }: Pick<Customer, "key">) {
  const { url } = yield* Gateway
  const client = yield* connectMcp({ url, key })
  const tool = (name: string, args: Record<string, unknown> = {}) =>
    done(() => client.callTool({ name, arguments: args }))
  return { client, tool, place: { url, key } }
})

const namesOf = ({ tools }: { readonly tools: ReadonlyArray<{ readonly name: string }> }) =>
  tools.map(({ name }) => name)

const typesOf = ({ content }: CallToolResult) => content.map(({ type }) => type)

/** The other texts that decode to the bytes of a signature, whose last two bits have no meaning. */
const spellingsOf = (quoteId: string): ReadonlyArray<string> => {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  const last = digits.indexOf(quoteId.at(-1) ?? "")
  return [1, 2, 3].map((bits) => `${quoteId.slice(0, -1)}${digits[last ^ bits]}`)
}

const allTools = [
  "cancel_order",
  "get_balance",
  "get_order",
  "get_quote",
  "list_models",
  "list_orders",
  "order_images",
  "order_speech",
  "order_video"
]

const PICTURES = { model: "paint-1", prompt: "a lighthouse" }
const FILM = { model: "film-1", prompt: "a lighthouse" }
const SPOKEN = { model: "voice-1", input: "The harbour is calm." }

layer(layerTestGateway("postgres", archiving, { catalogFor: speechCatalog, bucket }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an agent over the Model Context Protocol", (it) => {
  it.effect("lists its tools, and the models that it may order", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { client, tool } = yield* agentOf(yield* gateway.customer("1"))
      const listed = yield* done(() => client.listTools())
      assert.deepStrictEqual(namesOf(listed), allTools)
      const ordering = listed.tools.find(({ name }) => name === "order_images")
      assert.deepInclude(ordering?.annotations, { readOnlyHint: false, openWorldHint: true })
      const fields = Object.keys(ordering?.inputSchema.properties ?? {})
      assert.includeMembers(fields, ["prompt", "n", "size", "max_cost", "quote_id", "call_id"])
      assert.notIncludeMembers(fields, ["stream"])
      // An agent reads all of it before it does anything.
      assert.isBelow(JSON.stringify(listed.tools).length, 64 * 1024)
      const Models = Schema.Struct({
        models: Schema.Array(Schema.Struct({ id: Schema.String, prices: Schema.Unknown }))
      })
      const found = yield* tool("list_models", { modality: "video", search: "FILM-1" })
      assert.deepStrictEqual(
        (yield* structuredOf(Models)(found)).models.map(({ id }) => id),
        ["film-1"]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("has only the tools of its key's scopes", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1", { key: { scopes: ["models", "images"] } })
      const { client, tool } = yield* agentOf(who)
      assert.deepStrictEqual(namesOf(yield* done(() => client.listTools())), [
        "cancel_order",
        "get_order",
        "get_quote",
        "list_models",
        "order_images"
      ])
      const refused = yield* refusalOf(yield* tool("order_video", { ...FILM, max_cost: "6" }))
      assert.deepInclude(refused, { isError: true, code: "permission_denied" })
    }).pipe(Effect.scoped)
  )

  it.effect("orders images by a quote once, and gets them as links and embedded", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { tool } = yield* agentOf(who)
      const quote = yield* quoteOf(yield* tool("get_quote", { n: 2, ...PICTURES }))
      assert.deepInclude(quote, { max_cost: "0.4", tool: "order_images" })
      assert.isAbove(Date.parse(quote.expires_at), Date.now())
      const args = { ...PICTURES, n: 2, quote_id: quote.quote_id }
      const made = yield* tool("order_images", { ...args, embed: true })
      assert.deepStrictEqual(typesOf(made), [
        "text",
        "resource_link",
        "resource_link",
        "image",
        "image"
      ])
      const order = yield* orderOf(made)
      assert.deepInclude(order, { kind: "image", task_status: "succeeded", charge: "0.4" })
      for (const { url, embedded } of order.files) {
        assert.isTrue(embedded)
        const served = yield* Effect.promise(() => fetch(url))
        assert.strictEqual(served.status, 200)
        assert.match(served.headers.get("content-type") ?? "", /^image\//)
      }
      const again = yield* tool("order_images", { ...args, call_id: "another" })
      assert.deepInclude(yield* orderOf(again), { id: order.id, replayed: true })
      assert.deepStrictEqual(typesOf(again), ["text", "resource_link", "resource_link"])
      for (const quote_id of spellingsOf(quote.quote_id)) {
        const repeat = yield* tool("order_images", { ...args, quote_id })
        assert.deepInclude(yield* orderOf(repeat), { id: order.id, replayed: true })
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "0.6", held: "0" })
    }).pipe(Effect.scoped)
  )

  it.effect("cannot order by a quote that is another key's, changed, or of other fields", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { tool } = yield* agentOf(who)
      const stranger = yield* agentOf(yield* gateway.customer("1"))
      const { quote_id } = yield* quoteOf(yield* tool("get_quote", PICTURES))
      const [end = "", hold = "", ...rest] = quote_id.split(".")
      const dearer = [end, `${hold}0`, ...rest].join(".")
      const refusals = [
        yield* stranger.tool("order_images", { ...PICTURES, quote_id }),
        yield* tool("order_images", { ...PICTURES, quote_id: dearer }),
        yield* tool("order_images", { ...PICTURES, quote_id: "nonsense" }),
        yield* tool("order_images", { ...PICTURES, n: 2, quote_id }),
        yield* tool("order_speech", { ...SPOKEN, quote_id })
      ]
      for (const refusal of refusals) {
        assert.deepInclude(yield* refusalOf(refusal), {
          isError: true,
          code: "invalid_request",
          param: "quote_id"
        })
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })
    }).pipe(Effect.scoped)
  )

  it.effect("orders a video as a task, which ends with the tool's result", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("20")
      const { client, place } = yield* agentOf(who)
      const session = yield* taskSession(client, place)
      const execution = yield* done(() =>
        session.callTool("order_video", { ...FILM, max_cost: "6", call_id: "film" })
      )
      assert.strictEqual(execution.kind, "task")
      const { outcome } = yield* done(() => execution.settle())
      const result = resultFromTaskOutcome(outcome)
      const Result = Schema.Struct({ structuredContent: Order })
      const { structuredContent: order } = yield* Effect.orDie(
        Schema.decodeUnknownEffect(Result)(result)
      )
      assert.deepInclude(order, { kind: "video", task_status: "succeeded" })
      assert.strictEqual(order.id, String(execution.handle?.taskId))
      const served = yield* Effect.promise(() => fetch(order.files[0]?.url ?? ""))
      assert.match(served.headers.get("content-type") ?? "", /^video\//)
      const args = { ...FILM, max_cost: "6", call_id: "film" }
      const again = yield* askMcp(
        place,
        "tools/call",
        { name: "order_video", arguments: args },
        {
          tasks: true
        }
      )
      assert.deepInclude(yield* taskOf(again.result), { resultType: "task", taskId: order.id })
      assert.strictEqual((yield* gateway.balance(who)).held, "0")
    }).pipe(Effect.scoped)
  )

  it.effect("gets the failure of a video as the tool's error, and a cancelled one as such", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("20")
      const { place } = yield* agentOf(who)
      const order = Effect.fnUntraced(function* (prompt: string) {
        const params = { name: "order_video", arguments: { ...FILM, prompt, max_cost: "6" } }
        const { result } = yield* askMcp(place, "tools/call", params, { tasks: true })
        return yield* taskOf(result)
      })
      const read = (taskId: string) =>
        Effect.flatMap(askMcp(place, "tasks/get", { taskId }, { tasks: true }), ({ result }) =>
          taskOf(result)
        )
      const ended = (taskId: string) =>
        Effect.repeat(read(taskId), { until: ({ status }) => status !== "working" })

      const failing = yield* order("a lighthouse sim:fail")
      assert.deepInclude(failing, { resultType: "task", status: "working", ttlMs: null })
      const failed = yield* ended(failing.taskId)
      assert.deepInclude(failed, { resultType: "complete", status: "completed" })
      assert.strictEqual(failed.result?.isError, true)

      const waiting = yield* order("a lighthouse sim:waits")
      const cancelled = yield* askMcp(
        place,
        "tasks/cancel",
        { taskId: waiting.taskId },
        { tasks: true }
      )
      assert.strictEqual(cancelled.result?.resultType, "complete")
      assert.deepInclude(yield* ended(waiting.taskId), { status: "cancelled" })
      assert.deepInclude(yield* gateway.balance(who), { balance: "20", held: "0" })
    }).pipe(Effect.scoped)
  )

  it.effect("follows and cancels orders without tasks", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("20")
      const { tool } = yield* agentOf(who)
      // The most that it can cost, which is above the formula that REST holds for it.
      const { max_cost } = yield* quoteOf(yield* tool("get_quote", FILM))
      assert.isAbove(Number(max_cost), 4.968)
      const less = `${Number(max_cost) - 0.001}`
      const refused = yield* refusalOf(yield* tool("order_video", { ...FILM, max_cost: less }))
      assert.include(refused.message, `Expected at least ${max_cost}`)
      const placed = yield* orderOf(yield* tool("order_video", { ...FILM, max_cost }))
      assert.strictEqual(placed.task_status, "processing")
      assert.include(placed.next_step, `get_order with the id ${placed.id}`)
      const made = yield* tool("get_order", { id: placed.id, wait: 30 })
      assert.deepInclude(yield* orderOf(made), { id: placed.id, task_status: "succeeded" })
      assert.deepStrictEqual(typesOf(made), ["text", "resource_link"])
      const waiting = yield* orderOf(
        yield* tool("order_video", { ...FILM, prompt: "sim:waits", max_cost: "6" })
      )
      const cancelled = yield* tool("cancel_order", { id: waiting.id })
      assert.deepInclude((yield* orderOf(cancelled)).error, { code: "cancelled" })
      const Orders = Schema.Struct({
        orders: Schema.Array(Schema.Struct({ id: Schema.String, state: Schema.String }))
      })
      const { orders } = yield* structuredOf(Orders)(yield* tool("list_orders", { limit: 2 }))
      assert.deepStrictEqual(orders, [
        { id: waiting.id, state: "failed" },
        { id: placed.id, state: "succeeded" }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("orders speech, and reads what its budget has left", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1", {
        key: { budget: { period: "total", amount: "0.5" } }
      })
      const { tool } = yield* agentOf(who)
      const spoken = yield* tool("order_speech", { ...SPOKEN, max_cost: "0.1", embed: true })
      assert.deepStrictEqual(typesOf(spoken), ["text", "resource_link", "audio"])
      assert.deepInclude(yield* orderOf(spoken), { kind: "speech", charge: "0.002" })
      const Balance = Schema.Struct({
        balance: Schema.String,
        budgets: Schema.Array(
          Schema.Struct({ scope: Schema.String, used: Schema.String, available: Schema.String })
        )
      })
      assert.deepStrictEqual(yield* structuredOf(Balance)(yield* tool("get_balance")), {
        balance: "0.998",
        budgets: [{ scope: "key", used: "0.002", available: "0.498" }]
      })
    }).pipe(Effect.scoped)
  )

  it.effect("gets the same order for the same call_id of its own key alone", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const Key = Schema.Struct({ key: Schema.String })
      const path = `/members/${who.memberId}/keys`
      const second = yield* bodyAs(Key, yield* gateway.admin(path, { json: { name: "two" } }))
      const { tool } = yield* agentOf(who)
      const colleague = yield* agentOf(second)
      const args = { ...PICTURES, max_cost: "0.2", call_id: "picture-1" }
      const first = yield* orderOf(yield* tool("order_images", args))
      const again = yield* orderOf(yield* tool("order_images", { ...args, max_cost: "9" }))
      assert.deepInclude(again, { id: first.id, replayed: true })
      const other = yield* orderOf(yield* colleague.tool("order_images", args))
      assert.notStrictEqual(other.id, first.id)
      const changed = yield* refusalOf(yield* tool("order_images", { ...args, n: 1, size: "1x1" }))
      assert.deepInclude(changed, { code: "idempotency_mismatch", param: "call_id" })
      assert.strictEqual((yield* gateway.balance(who)).balance, "0.6")
    }).pipe(Effect.scoped)
  )

  it.effect("is told which argument of nonsense is at fault, and pays nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { tool, place } = yield* agentOf(who)
      const rows: ReadonlyArray<readonly [string, Record<string, unknown>, string, string]> = [
        ["order_images", PICTURES, "invalid_request", "max_cost"],
        ["order_images", { n: "x" }, "invalid_request", "max_cost"],
        ["order_images", { ...PICTURES, max_cost: 5 }, "invalid_request", "max_cost"],
        ["order_images", { ...PICTURES, max_cost: "-1" }, "invalid_request", "max_cost"],
        ["order_images", { ...PICTURES, max_cost: "0.19" }, "invalid_request", "max_cost"],
        ["order_images", { ...PICTURES, n: "2", max_cost: "1" }, "invalid_request", "n"],
        ["order_images", { ...PICTURES, stream: true, max_cost: "1" }, "invalid_request", "stream"],
        [
          "order_images",
          { ...PICTURES, max_cost: "1", call_id: "with space" },
          "invalid_request",
          "call_id"
        ],
        ["order_images", { ...PICTURES, model: "none", max_cost: "1" }, "model_not_found", "model"],
        ["order_video", { ...FILM, duration: 99, max_cost: "6" }, "video_sku_invalid", "duration"],
        ["get_order", { id: "vt_nonsense" }, "task_not_found", "id"],
        ["get_order", { id: 7 }, "invalid_request", "id"],
        ["get_order", { id: "vt_x", weit: 5 }, "invalid_request", "weit"],
        ["list_models", { modality: "smell" }, "invalid_request", "modality"],
        ["get_quote", { model: "listen-1", seconds: 3 }, "modality_mismatch", "model"]
      ]
      for (const [name, args, code, param] of rows) {
        const refused = yield* refusalOf(yield* tool(name, args))
        assert.deepInclude(refused, { isError: true, code, param }, `${name} ${refused.message}`)
      }
      assert.deepInclude(yield* gateway.balance(who), { balance: "1", held: "0" })

      const unknownTool = yield* askMcp(place, "tools/call", { name: "order_pizza", arguments: {} })
      assert.strictEqual(unknownTool.error?.code, -32602)
      assert.include(unknownTool.error?.message, "order_images")
      const unknownMethod = yield* askMcp(place, "orders/list")
      assert.strictEqual(unknownMethod.error?.code, -32601)
      const listening = yield* askMcp(place, "subscriptions/listen", { notifications: {} })
      assert.strictEqual(listening.error?.code, -32601)
    }).pipe(Effect.scoped)
  )

  it.effect("cannot read or cancel a stranger's task, nor any without the extension", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { tool, place } = yield* agentOf(yield* gateway.customer("20"))
      const { place: strange } = yield* agentOf(yield* gateway.customer("20"))
      const args = { ...FILM, prompt: "sim:waits", max_cost: "6" }
      const { id: taskId } = yield* orderOf(yield* tool("order_video", args))
      for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
        const params = { taskId, ...(method === "tasks/update" ? { inputResponses: {} } : {}) }
        const foreign = yield* askMcp(strange, method, params, { tasks: true })
        assert.strictEqual(foreign.error?.code, -32602, method)
        const unknown = yield* askMcp(place, method, { taskId: "vt_x" }, { tasks: true })
        assert.strictEqual(unknown.error?.code, -32602, method)
        assert.strictEqual((yield* askMcp(place, method, params)).error?.code, -32021, method)
      }
      const own = yield* askMcp(place, "tasks/get", { taskId }, { tasks: true })
      assert.strictEqual((yield* taskOf(own.result)).status, "working")
    }).pipe(Effect.scoped)
  )

  it.effect("must hold a key, send one JSON message, and come from an allowed page", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("1")
      const { place } = yield* agentOf(who)
      const keyless = yield* sendMcp({ ...place, key: "mg_wrong" }, "tools/list")
      assert.strictEqual(keyless.status, 401)
      assert.strictEqual(keyless.headers.get("www-authenticate"), 'Bearer realm="media-gateway"')
      const elsewhere = yield* sendMcp(
        place,
        "tools/list",
        {},
        {
          headers: { origin: "https://evil.test" }
        }
      )
      assert.strictEqual(elsewhere.status, 403, elsewhere.text)
      // A page whose name its owner lets resolve to this machine has the host of the request.
      const rebound = yield* Effect.callback<number | undefined>((resume) => {
        const authorization = `Bearer ${who.key}`
        request(
          `${gateway.url}/mcp`,
          {
            method: "POST",
            headers: { host: "evil.test", origin: "http://evil.test", authorization }
          },
          (response) => resume(Effect.succeed(response.resume().statusCode))
        ).end("{}")
      })
      assert.strictEqual(rebound, 403)
      const sameOrigin = yield* sendMcp(
        place,
        "tools/list",
        {},
        {
          headers: { origin: gateway.url }
        }
      )
      assert.strictEqual(sameOrigin.status, 200)
      const send = (body: string, headers: Readonly<Record<string, string>> = {}) =>
        call(`${gateway.url}/mcp`, {
          key: who.key,
          headers: { "content-type": "application/json", accept: "application/json", ...headers },
          body
        })
      const broken = yield* send('{"jsonrpc":')
      assert.strictEqual(broken.status, 400)
      assert.strictEqual((yield* decodeRpc(broken.body)).error?.code, -32700)
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }
      const batch = yield* send(JSON.stringify([message, message]))
      assert.strictEqual((yield* decodeRpc(batch.body)).error?.code, -32600)
      const future = yield* send(
        JSON.stringify({
          ...message,
          params: {
            _meta: { ...metaOf(false), "io.modelcontextprotocol/protocolVersion": "2099-01-01" }
          }
        }),
        { "mcp-protocol-version": "2099-01-01", "mcp-method": "tools/list" }
      )
      assert.strictEqual(future.status, 400)
      assert.strictEqual((yield* decodeRpc(future.body)).error?.code, -32022)
      for (const method of ["GET", "DELETE"]) {
        const answer = yield* call(`${gateway.url}/mcp`, { key: who.key, method })
        assert.strictEqual(answer.status, 405)
        assert.strictEqual(answer.headers.get("allow"), "POST")
      }
    }).pipe(Effect.scoped)
  )

  it.effect("of an earlier revision has the same tools", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const { url } = gateway
      const { key } = yield* gateway.customer("1")
      const client = yield* connectMcp({ url, key }, { versionNegotiation: { mode: "legacy" } })
      assert.deepStrictEqual(namesOf(yield* done(() => client.listTools())), allTools)
      const made = yield* done(() =>
        client.callTool({ name: "order_images", arguments: { ...PICTURES, max_cost: "0.2" } })
      )
      assert.deepInclude(yield* orderOf(made), { task_status: "succeeded", charge: "0.2" })
    }).pipe(Effect.scoped)
  )

  it.effect("on stdin and stdout has the same tools, and orders once where an answer is lost", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("20")
      const proxy = yield* startTcpProxy(Number(new URL(gateway.url).port))
      const env = { GATEWAY_URL: `http://127.0.0.1:${proxy.port}`, GATEWAY_KEY: who.key }
      const client = yield* connectOver(() => stdioOf(shippedEntry, env))
      assert.deepStrictEqual(namesOf(yield* done(() => client.listTools())), allTools)
      const cut = yield* Effect.forkChild(proxy.cutOnce("answer", "cut here"))
      const made = yield* done(() =>
        client.callTool({
          name: "order_images",
          arguments: { ...PICTURES, prompt: "cut here", max_cost: "0.2" }
        })
      )
      assert.deepInclude(yield* orderOf(made), { task_status: "succeeded", replayed: true })
      assert.strictEqual((yield* gateway.balance(who)).balance, "19.8")
      yield* Fiber.join(cut)
    }).pipe(Effect.scoped)
  )

  it.effect("on stdin and stdout orders videos as tasks, and hears why it is refused", () =>
    Effect.gen(function* () {
      const gateway = yield* Gateway
      const who = yield* gateway.customer("20")
      const env = { GATEWAY_URL: gateway.url, GATEWAY_KEY: who.key }
      const ask = yield* messagesOver(stdioOf(shippedEntry, env))
      const params = { name: "order_video", arguments: { ...FILM, max_cost: "6" } }
      const ordered = yield* ask("tools/call", { ...params, _meta: metaOf(true) })
      const { taskId, resultType } = yield* taskOf(ordered.result)
      assert.strictEqual(resultType, "task")
      const read = Effect.flatMap(ask("tasks/get", { taskId, _meta: metaOf(true) }), ({ result }) =>
        taskOf(result)
      )
      const ended = yield* Effect.repeat(read, { until: ({ status }) => status !== "working" })
      assert.strictEqual(ended.status, "completed")

      const stranger = yield* messagesOver(
        stdioOf(shippedEntry, { ...env, GATEWAY_KEY: "mg_wrong" })
      )
      const refused = yield* stranger("tools/list", { _meta: metaOf(false) })
      assert.include(refused.error?.message, "API key is not valid")
    }).pipe(Effect.scoped)
  )
})
