/**
 * Connections to addresses that clients and vendors name. They are apart from the connections that
 * orders go through, and lead to public addresses alone.
 */
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { Agent, type Dispatcher, request } from "undici"
import { Settings } from "../runtime/Settings.ts"
import { type AddressRules, faultOfUrl, isPublicAddress } from "./publicAddresses.ts"

/** The request was not sent, or not answered; the message may be shown to the one who named the address. */
export class OutgoingFault extends Schema.TaggedError<OutgoingFault>()("OutgoingFault", {
  message: Schema.String,
  /** The address is one that is never called. */
  isRefused: Schema.Boolean
}) {}

export interface OutgoingRequest {
  readonly method: "GET" | "HEAD" | "POST"
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** How long the head of the answer, or its next piece, may be waited for; absent: the caller bounds it. */
  readonly idleSeconds?: number
}

export interface OutgoingAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** For one reader. */
  readonly bytes: Stream.Stream<Uint8Array, OutgoingFault>
}

/** One header of an answer; empty where it has none. */
export const headerOf = ({ headers }: OutgoingAnswer, name: string): string => {
  const header = headers[name]
  return typeof header === "string" ? header : ""
}

/** The body of an answer, which ends with a fault when it has more than so many bytes. */
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
     * Answered when the answer begins; the connection is cut when the scope ends before its body.
     * Redirects are not followed. The caller bounds the time.
     */
    open(request: OutgoingRequest): Effect.Effect<OutgoingAnswer, OutgoingFault, Scope.Scope>
  }
>()("gateway/egress/OutgoingWeb") {}

const REFUSED_CODE = "EADDRESSREFUSED"
const refusal = "the name leads to no public address"

/** Finds the addresses of a name at the moment of the connection, without those that are not public. */
const publicOnly =
  (resolve: LookupFunction): LookupFunction =>
  (host, options, callback) =>
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const all = typeof found === "string" ? [] : found
      const left = all.filter(({ address }) => isPublicAddress(address))
      const [first] = left
      if (first === undefined) {
        callback(Object.assign(new Error(refusal), { code: REFUSED_CODE }), [])
      } else if (options.all === true) callback(null, left)
      else callback(null, first.address, first.family)
    })

const isFault = Schema.is(Schema.Struct({ code: Schema.String }))

const explained: Readonly<Record<string, string>> = {
  [REFUSED_CODE]: refusal,
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was cut",
  EAI_AGAIN: "the name could not be looked up",
  ENOTFOUND: "the name leads nowhere",
  UND_ERR_CONNECT_TIMEOUT: "no connection came about in time",
  UND_ERR_BODY_TIMEOUT: "the answer stopped",
  UND_ERR_HEADERS_TIMEOUT: "no answer came in time",
  UND_ERR_SOCKET: "the connection was cut"
}

/** Of several addresses each has a fault of its own: the first one is told. */
const faultOf = (cause: unknown): OutgoingFault => {
  const one: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  const code = isFault(one) ? one.code : ""
  const isRefused = code === REFUSED_CODE
  return new OutgoingFault({
    message: explained[code] ?? `the request failed${code === "" ? "" : ` (${code})`}`,
    isRefused
  })
}

const openWith =
  (agent: Dispatcher, rules: AddressRules): OutgoingWeb["Service"]["open"] =>
  ({ url, idleSeconds = 0, ...rest }) =>
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
            ...rest,
            dispatcher: agent,
            signal: controller.signal,
            headersTimeout: idleSeconds * 1000,
            bodyTimeout: idleSeconds * 1000
          }),
        catch: faultOf
      })
      // Cut before it was read, it fails with nobody to hear of it.
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
      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              headersTimeout: 0,
              bodyTimeout: 0,
              connect: { lookup: rules.allowPrivate ? resolve : publicOnly(resolve) }
            })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )
      return OutgoingWeb.of({ rules, open: openWith(agent, rules) })
    })
  )

export const layerOutgoingWeb = layerOutgoingWebWith(lookup)
