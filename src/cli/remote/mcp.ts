/**
 * A server of the Model Context Protocol on stdin and stdout. It hands each message to the gateway's
 * endpoint `/mcp` and prints the answers, and nothing else, on stdout.
 */
import { randomUUID } from "node:crypto"
import { Console, Deferred, Effect, Predicate, Redacted, Schedule, Schema, Stream } from "effect"
import { Command } from "effect/cli"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Stdio } from "effect/Stdio"
import { toCommandFailure } from "../failures.ts"
import { asMember, type Remote } from "./connection.ts"

type Json = Readonly<Record<string, unknown>>

const Message = Schema.Record(Schema.String, Schema.Unknown)
const decodeMessage = Schema.decodeUnknownEffect(Schema.fromJsonString(Message))

const fieldsOf = (value: unknown): Json =>
  Predicate.isObject(value) && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}

const PROTOCOL_VERSION = "io.modelcontextprotocol/protocolVersion"
const PARSE_ERROR = -32700
/** The code of errors that are none of the protocol's own. */
const GATEWAY_ERROR = -32000

/** The attempts of a message after a lost connection, with pauses that double. */
const retries = { times: 3, schedule: Schedule.exponential("500 millis") }

/** The value of a header: as it is, or in base64 where it has other characters than visible ASCII. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`

/** What the message is about: a tool, a prompt, a task or a resource. */
const nameOf = (method: string, params: Json): unknown => {
  if (method === "tools/call" || method === "prompts/get") return params.name
  if (method.startsWith("tasks/")) return params.taskId
  return method === "resources/read" ? params.uri : undefined
}

/**
 * The headers that the revision of the message requires. Messages of earlier revisions name none,
 * and have that of their `initialize`.
 */
const headersOf = (message: Json, earlierRevision: string | null): Record<string, string> => {
  const params = fieldsOf(message.params)
  const revision = fieldsOf(params._meta)[PROTOCOL_VERSION]
  const common = { accept: "application/json, text/event-stream" }
  if (typeof revision !== "string" || typeof message.method !== "string") {
    return earlierRevision === null
      ? common
      : { ...common, "mcp-protocol-version": earlierRevision }
  }
  const name = nameOf(message.method, params)
  return {
    ...common,
    "mcp-protocol-version": headerValue(revision),
    "mcp-method": headerValue(message.method),
    ...(typeof name === "string" ? { "mcp-name": headerValue(name) } : {})
  }
}

/**
 * The message with a name for its order, if it calls an order tool without one. A retry of the
 * message then gets the order of the first attempt.
 */
const withCallId = (message: Json, prefix: string): Json => {
  const params = fieldsOf(message.params)
  const args = fieldsOf(params.arguments)
  const isOrder = message.method === "tools/call" && /^order_/.test(String(params.name))
  if (!isOrder || !Predicate.isNullish(args.call_id)) return message
  const callId = `${prefix}-${JSON.stringify(message.id).slice(0, 100)}`.replace(
    /[^\x21-\x7e]/g,
    "_"
  )
  return { ...message, params: { ...params, arguments: { ...args, call_id: callId } } }
}

/** The messages in the body of an answer: one, or those of its events. */
const messagesOf = (contentType: string, text: string): ReadonlyArray<string> => {
  if (!contentType.startsWith("text/event-stream")) return text === "" ? [] : [text]
  return text.split(/\r?\n\r?\n/).flatMap((event) => {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trim())
      .join("\n")
    return data === "" ? [] : [data]
  })
}

const rpcError = (id: unknown, code: number, message: string, data?: unknown): Json => ({
  jsonrpc: "2.0",
  id: id ?? null,
  error: { code, message, ...(data === undefined ? {} : { data }) }
})

/** An answer of the gateway as a message: its errors outside of the protocol become errors in it. */
const asMessage =
  (request: Json, status: number) =>
  (answer: Json): Json => {
    if ("jsonrpc" in answer) return answer
    const { message } = fieldsOf(answer.error)
    const text = typeof message === "string" ? message : `The gateway answered ${status}`
    return rpcError(request.id, GATEWAY_ERROR, text, answer)
  }

const print = (message: Json) => Console.log(JSON.stringify(message))

const bridge = Effect.fnUntraced(function* ({ address, token }: Remote) {
  const stdio = yield* Stdio
  const http = yield* HttpClient.HttpClient
  const callPrefix = `stdio-${randomUUID()}`
  const cancels = new Map<unknown, Deferred.Deferred<void>>()
  let earlierRevision: string | null = null

  const post = (message: Json) =>
    http
      .execute(
        HttpClientRequest.post(`${address}/mcp`, {
          headers: headersOf(message, earlierRevision)
        }).pipe(
          HttpClientRequest.bearerToken(Redacted.value(token)),
          HttpClientRequest.bodyJsonUnsafe(withCallId(message, callPrefix))
        )
      )
      .pipe(
        Effect.flatMap((response) => Effect.map(response.text, (text) => ({ response, text }))),
        Effect.retry(retries)
      )

  const answersOf = Effect.fnUntraced(function* (
    message: Json,
    response: HttpClientResponse.HttpClientResponse,
    text: string
  ) {
    const texts = messagesOf(response.headers["content-type"] ?? "", text)
    const answers = yield* Effect.forEach(texts, (one) =>
      Effect.orElseSucceed(decodeMessage(one), (): Json => ({}))
    )
    return answers.map(asMessage(message, response.status))
  })

  const forward = Effect.fnUntraced(function* (message: Json) {
    const answers = yield* post(message).pipe(
      Effect.flatMap(({ response, text }) => answersOf(message, response, text)),
      Effect.catch((error) =>
        Effect.succeed([
          rpcError(message.id, GATEWAY_ERROR, toCommandFailure(address)(error).message)
        ])
      )
    )
    // A notification has no answer, whatever became of it.
    if (message.id === undefined) return
    for (const answer of answers) {
      const { protocolVersion } = fieldsOf(answer.result)
      if (message.method === "initialize" && typeof protocolVersion === "string") {
        earlierRevision = protocolVersion
      }
      yield* print(answer)
    }
  })

  const handle = Effect.fnUntraced(function* (line: string) {
    const message = yield* Effect.orElseSucceed(decodeMessage(line), () => null)
    if (message === null) {
      return yield* print(rpcError(null, PARSE_ERROR, "Expected a JSON object on the line"))
    }
    if (message.method === "notifications/cancelled") {
      const cancel = cancels.get(fieldsOf(message.params).requestId)
      return cancel === undefined ? undefined : yield* Deferred.succeed(cancel, undefined)
    }
    const cancel = yield* Deferred.make<void>()
    if (message.id !== undefined) cancels.set(message.id, cancel)
    yield* Effect.raceFirst(forward(message), Deferred.await(cancel))
    cancels.delete(message.id)
  })

  yield* stdio.stdin.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line.trim() !== ""),
    Stream.mapEffect(handle, { concurrency: "unbounded" }),
    Stream.runDrain
  )
})

export const mcpCommand = Command.make("mcp", {}, () => asMember(bridge)).pipe(
  Command.withDescription(
    "Serve the gateway's tools to an agent on stdin and stdout (Model Context Protocol)"
  )
)
