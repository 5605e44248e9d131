/**
 * Connections to addresses that clients and vendors name. These connections reach only public
 * addresses, and their pool is separate from that of orders.
 */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { type Dispatcher, request } from "undici"
import { filteredLookup, type LookupPolicy, makeAgent } from "../runtime/filteredLookup.ts"
import { Settings } from "../runtime/Settings.ts"
import { type AddressRules, faultOfUrl, isPublicAddress } from "./publicAddresses.ts"

/**
 * The failure of a request that was not sent or whose answer did not arrive completely. The message
 * may be shown to the person who entered the address.
 */
export class OutgoingFault extends Schema.TaggedError<OutgoingFault>()("OutgoingFault", {
  message: Schema.String,
  /** Whether the gateway itself refused to call the address, because the address is not allowed. */
  isRefused: Schema.Boolean
}) {}

export interface OutgoingRequest {
  readonly method: "GET" | "HEAD" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /**
   * The time-out, in seconds, for the head of the answer and for each chunk. If it is missing,
   * there is no time-out, and the caller must limit the time.
   */
  readonly idleSeconds?: number
}

export interface OutgoingAnswer {
  readonly status: number
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The body, which can be read only once. */
  readonly bytes: Stream.Stream<Uint8Array, OutgoingFault>
}

/** The value of a header; empty if the header is missing or occurs more than once. */
export const headerOf = ({ headers }: OutgoingAnswer, name: string): string => {
  const header = headers[name]
  return typeof header === "string" ? header : ""
}

/** The body of an answer as a stream, which fails if the body exceeds `maxBytes`. */
export const bytesWithin = (
  maxBytes: number,
  { bytes }: OutgoingAnswer
): OutgoingAnswer["bytes"] => {
  let length = 0
  return Stream.mapEffect(bytes, (chunk) => {
    length += chunk.byteLength
    return length > maxBytes
      ? Effect.fail(
          new OutgoingFault({ message: `it has more than ${maxBytes} bytes`, isRefused: false })
        )
      : Effect.succeed(chunk)
  })
}

export class OutgoingWeb extends Context.Service<
  OutgoingWeb,
  {
    readonly rules: AddressRules
    /**
     * Succeeds when the head of the answer has arrived. The connection is closed if the scope ends
     * before the body does. Redirects are not followed. The caller limits the time.
     */
    open(request: OutgoingRequest): Effect.Effect<OutgoingAnswer, OutgoingFault, Scope.Scope>
  }
>()("gateway/egress/OutgoingWeb") {}

const REFUSED_CODE = "EADDRESSREFUSED"

const publicOnly: LookupPolicy = {
  isAllowed: isPublicAddress,
  refusal: { message: "the name leads to no public address", code: REFUSED_CODE }
}

const hasCode = Schema.is(Schema.Struct({ code: Schema.String }))

const errorMessages: Readonly<Record<string, string>> = {
  [REFUSED_CODE]: publicOnly.refusal.message,
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EAI_AGAIN: "the name could not be looked up",
  ENOTFOUND: "the name leads nowhere",
  UND_ERR_CONNECT_TIMEOUT: "no connection came about in time",
  UND_ERR_BODY_TIMEOUT: "the answer stopped",
  UND_ERR_HEADERS_TIMEOUT: "no answer came in time",
  UND_ERR_SOCKET: "the connection was cut"
}

/**
 * Converts an error. A host with several addresses fails with one error per address; the first is
 * reported.
 */
const faultOf = (cause: unknown): OutgoingFault => {
  const error: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  const code = hasCode(error) ? error.code : ""
  return new OutgoingFault({
    message: errorMessages[code] ?? `the request failed${code === "" ? "" : ` (${code})`}`,
    isRefused: code === REFUSED_CODE
  })
}

const openWith =
  (agent: Dispatcher, rules: AddressRules): OutgoingWeb["Service"]["open"] =>
  ({ url, idleSeconds = 0, ...options }) =>
    Effect.gen(function* () {
      const fault = faultOfUrl(url, rules)
      if (fault !== null) return yield* new OutgoingFault({ message: fault, isRefused: true })
      const controller = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const answer = yield* Effect.tryPromise({
        try: () =>
          request(url, {
            ...options,
            dispatcher: agent,
            signal: controller.signal,
            headersTimeout: idleSeconds * 1000,
            bodyTimeout: idleSeconds * 1000
          }),
        catch: faultOf
      })
      // Without this handler, the error of a body that is cut off before it is read would crash the
      // process.
      answer.body.on("error", () => undefined)
      return {
        status: answer.statusCode,
        headers: answer.headers,
        bytes: NodeStream.fromReadable<Uint8Array, OutgoingFault>({
          evaluate: () => answer.body,
          onError: faultOf
        })
      }
    })

export const layerOutgoingWebWith = (resolve: LookupFunction) =>
  Layer.effect(
    OutgoingWeb,
    Effect.gen(function* () {
      const rules = { allowPrivate: (yield* Settings).webhookAllowPrivate }
      const agent = yield* makeAgent(
        rules.allowPrivate ? resolve : filteredLookup(resolve, publicOnly)
      )
      return OutgoingWeb.of({ rules, open: openWith(agent, rules) })
    })
  )

export const layerOutgoingWeb = layerOutgoingWebWith(lookup)
