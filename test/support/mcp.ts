/** Clients of the Model Context Protocol: the official package, its tasks, and bare messages. */
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type Transport
} from "@modelcontextprotocol/client"
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client"
import { Effect, Schema } from "effect"
import { call } from "./http.ts"
import { done } from "./officialClients.ts"

const REVISION = "2026-07-28"
const TASKS = "io.modelcontextprotocol/tasks"

const clientInfo = { name: "tests", version: "1" }

interface Place {
  readonly url: string
  readonly key: string
}

/** Connects a client until the scope closes. */
export const connectOver = (transport: () => Transport, options: ClientOptions = {}) =>
  Effect.acquireRelease(
    done(async () => {
      const client = new Client(clientInfo, { versionNegotiation: { mode: "auto" }, ...options })
      await client.connect(transport())
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

/** Connects over HTTP as the holder of a key. */
export const connectMcp = ({ url, key }: Place, options: ClientOptions = {}) =>
  connectOver(
    () =>
      new StreamableHTTPClientTransport(new URL("/mcp", url), {
        requestInit: { headers: { authorization: `Bearer ${key}` } }
      }),
    options
  )

/** The `_meta` of a request of this revision; with `tasks`, of a client that supports tasks. */
export const metaOf = (tasks: boolean) => ({
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": tasks ? { extensions: { [TASKS]: {} } } : {}
})

type Json = Readonly<Record<string, unknown>>

const nameOf = ({ name, taskId }: Json): Record<string, string> => {
  const value = name ?? taskId
  return typeof value === "string" ? { "mcp-name": value } : {}
}

/** Sends one message of the revision, as a client without a package would. */
export const sendMcp = (
  { url, key }: Place,
  method: string,
  params: Json = {},
  options: { readonly tasks?: boolean; readonly headers?: Readonly<Record<string, string>> } = {}
) =>
  call(`${url}/mcp`, {
    key,
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": REVISION,
      "mcp-method": method,
      ...nameOf(params),
      ...options.headers
    },
    json: {
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { ...params, _meta: metaOf(options.tasks ?? false) }
    }
  })

const Answer = Schema.Struct({
  result: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  error: Schema.optionalKey(
    Schema.Struct({
      code: Schema.Int,
      message: Schema.String,
      data: Schema.optionalKey(Schema.Unknown)
    })
  )
})
export const decodeRpc = (body: unknown) => Effect.orDie(Schema.decodeUnknownEffect(Answer)(body))

/** The result or the error of a message. */
export const askMcp = (...[place, method, params, options]: Parameters<typeof sendMcp>) =>
  Effect.flatMap(sendMcp(place, method, params, options), ({ body }) => decodeRpc(body))

/** A session of the package for tasks, on a client that is connected over HTTP. */
export const taskSession = (client: Client, place: Place) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      createTaskSessionFromClient(client, {
        endpointId: "gateway",
        v2RequestFraming: {
          protocolVersion: REVISION,
          clientInfo,
          clientCapabilities: { extensions: { [TASKS]: {} } }
        },
        rawDispatch: async (request) => {
          const { method, params } = Schema.decodeUnknownSync(
            Schema.Struct({
              method: Schema.String,
              params: Schema.Record(Schema.String, Schema.Unknown)
            })
          )(request)
          const { result, error } = await Effect.runPromise(
            askMcp(place, method, params, { tasks: true })
          )
          return error === undefined
            ? { kind: "result", result: JSON.parse(JSON.stringify(result)) }
            : {
                kind: "error",
                error: { code: error.code, message: error.message }
              }
        }
      })
    ),
    (session) => Effect.promise(() => session.close())
  )

/** The structured content of a tool's result. */
export const structuredOf =
  <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  (result: Pick<CallToolResult, "structuredContent">): Effect.Effect<S["Type"]> =>
    Effect.orDie(Schema.decodeUnknownEffect(schema)(result.structuredContent))

const Refused = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    param: Schema.NullOr(Schema.String)
  })
})

/** The gateway's error in the result of a tool. */
export const refusalOf = (result: CallToolResult) =>
  Effect.map(structuredOf(Refused)(result), ({ error }) => ({
    isError: result.isError ?? false,
    ...error
  }))

/** The command `media-gateway mcp` as a process of its own, as a client starts it. */
export const stdioOf = (entry: string, env: Record<string, string>) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [entry, "mcp"],
    env: { ...getDefaultEnvironment(), ...env },
    stderr: "inherit"
  })

/** Sends bare messages over a transport, one after another, until the scope closes. */
export const messagesOver = (transport: Transport) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        let resolve: (message: unknown) => void = () => undefined
        transport.onmessage = (message) => resolve(message)
        return (message: unknown) =>
          new Promise<unknown>((settle) => {
            resolve = settle
            void transport.send(JSON.parse(JSON.stringify(message)))
          })
      }).pipe(Effect.tap(() => Effect.promise(() => transport.start()))),
      () => Effect.promise(() => transport.close())
    ),
    (send) => {
      let id = 0
      return (method: string, params: Json) =>
        Effect.flatMap(
          Effect.promise(() => send({ jsonrpc: "2.0", id: ++id, method, params })),
          decodeRpc
        )
    }
  )
