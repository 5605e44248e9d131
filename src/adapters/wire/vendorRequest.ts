/** What goes out to a vendor: an address, our headers, and a body. No header of a client is among them. */
import { randomUUID } from "node:crypto"
import { Readable } from "node:stream"
import { Effect, Redacted } from "effect"
import type { Dispatcher } from "undici"
import { jsonPieces } from "../../domain/jsonPieces.ts"
import type { ChannelAccount, VideoOrder } from "../../services/ProtocolAdapter.ts"
import { type FormFields, type FormShape, formPieces } from "./multipartBody.ts"

export interface VendorRequest {
  readonly method: "GET" | "POST"
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Written as JSON when it is sent, or as a form; null where there is no body. */
  readonly body: object | null
  readonly form?: FormShape
}

type Headers = VendorRequest["headers"]

const withoutSlashes = (base: string): string => base.replace(/\/+$/, "")

/**
 * Where a vendor's paths begin: the base address as the operator wrote it, without slashes at its end.
 * Vendors' documents count the version of the interface to the base address, so the first of those given
 * that stands there is taken off as well.
 */
export const rootOf = ({ baseUrl }: ChannelAccount, ...versions: ReadonlyArray<string>): string => {
  const base = withoutSlashes(baseUrl)
  const version = versions.find((one) => base.endsWith(one)) ?? ""
  return withoutSlashes(base.slice(0, base.length - version.length))
}

/**
 * An address of the common standard form. The base holds the version segment; one without any path
 * gets `/v1`.
 */
export const standardUrl = (account: ChannelAccount, path: string): string => {
  const base = rootOf(account)
  return /^https?:\/\/[^/]+$/i.test(base) ? `${base}/v1/${path}` : `${base}/${path}`
}

/** The key as most vendors take it. */
export const bearer = (account: ChannelAccount): Headers => ({
  authorization: `Bearer ${Redacted.value(account.apiKey)}`
})

export const get = (url: string, headers: Headers): VendorRequest => ({
  method: "GET",
  url,
  headers,
  body: null
})

export const post = (url: string, headers: Headers, body: object): VendorRequest => ({
  method: "POST",
  url,
  headers: { ...headers, "content-type": "application/json" },
  body
})

/** The body as a form, whose fields are texts, numbers and flags but for the files. */
export const postForm = (
  url: string,
  headers: Headers,
  body: FormFields,
  files: ReadonlySet<string>
): VendorRequest => {
  const boundary = `form-${randomUUID()}`
  return {
    method: "POST",
    url,
    headers: { ...headers, "content-type": `multipart/form-data; boundary=${boundary}` },
    body,
    form: { boundary, files }
  }
}

/** The fields that say something: null, an empty text and what is not there are left to the vendor. */
export const given = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? "") !== ""))

/** A length left to the model is -1. */
export const secondsOf = ({ seconds }: VideoOrder): number => (seconds === "smart" ? -1 : seconds)

// On the wire

type WrittenBody = string | Array<Buffer> | null

/** Each piece is let go as it is sent: what waits for its answer needs it no more. */
function* letGoAsSent(pieces: Array<Buffer>): Generator<Buffer> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece
}

const inTurns = (written: Iterable<string | Buffer>) =>
  Effect.gen(function* () {
    const pieces: Array<Buffer> = []
    for (const piece of written) {
      pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece)
      yield* Effect.yieldNow
    }
    return pieces
  })

/** The body as it is sent; a large one is written piece by piece, and others have their turns. */
export const written = ({ body, form }: VendorRequest): Effect.Effect<WrittenBody> => {
  if (body !== null && form !== undefined) return inTurns(formPieces({ ...body }, form))
  const json = body === null ? null : jsonPieces(body)
  if (json === null || typeof json === "string") return Effect.succeed(json)
  return inTurns(json)
}

/** What `undici` is told of a request. */
const optionsOf = (
  { method, url, headers }: VendorRequest,
  body: WrittenBody
): Dispatcher.DispatchOptions => {
  const { origin, pathname, search } = new URL(url)
  const options = { origin, path: `${pathname}${search}`, method, headers }
  if (body === null || typeof body === "string") return { ...options, body }
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return {
    ...options,
    headers: { ...headers, "content-length": `${length}` },
    body: Readable.from(letGoAsSent(body))
  }
}

const notWanted = new Error("the answer is not wanted any more")

/** Sends the request; what it answers gives it up. The handler hears of the vendor's answer. */
export const dispatch = (
  agent: Dispatcher,
  request: VendorRequest,
  body: WrittenBody,
  onFault: (cause: unknown, isSent: boolean) => void,
  handler: Dispatcher.DispatchHandler
): (() => void) => {
  let running: Dispatcher.DispatchController | null = null
  let isWanted = true
  try {
    agent.dispatch(optionsOf(request, body), {
      ...handler,
      onRequestStart: (controller) => {
        running = controller
        // It may have been given up while it waited for a connection.
        if (!isWanted) controller.abort(notWanted)
      },
      onResponseError: (_, error) => onFault(error, running !== null)
    })
  } catch (cause) {
    onFault(cause, running !== null)
  }
  return () => {
    isWanted = false
    running?.abort(notWanted)
  }
}
