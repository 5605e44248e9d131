/** Requests to vendors: address, headers and body. No header of a client is forwarded. */
import { Readable } from "node:stream"
import { Effect, Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Dispatcher } from "undici"
import { jsonPieces } from "../../domain/jsonPieces.ts"
import type { ChannelAccount, VideoOrder } from "../../services/ProtocolAdapter.ts"
import { type FormFields, formPieces } from "./multipartBody.ts"

export interface VendorRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly url: string
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, which is encoded as JSON or as a form when it is sent; null if there is none. */
  readonly body: object | null
  /**
   * For a body that is sent as a multipart form: its fields whose values are base64 data URLs, sent
   * as files.
   */
  readonly fileFields?: ReadonlySet<string>
}

type Headers = VendorRequest["headers"]

const withoutSlashes = (base: string): string => base.replace(/\/+$/, "")

/**
 * The root of a vendor's paths: the operator's base address without trailing slashes. Vendors'
 * documents write the API version into the base address, so the first of `versions` with which the
 * base ends is removed as well.
 */
export const rootOf = ({ baseUrl }: ChannelAccount, ...versions: ReadonlyArray<string>): string => {
  const base = withoutSlashes(baseUrl)
  const version = versions.find((one) => base.endsWith(one)) ?? ""
  return withoutSlashes(base.slice(0, base.length - version.length))
}

/**
 * A URL of the common standard form. The base contains the version segment; a base without any path
 * gets `/v1`.
 */
export const standardUrl = (account: ChannelAccount, path: string): string => {
  const base = rootOf(account)
  return /^https?:\/\/[^/]+$/i.test(base) ? `${base}/v1/${path}` : `${base}/${path}`
}

/** A URL of the cloud's own interface; the base may contain the version segment. */
export const cloudUrl = (account: ChannelAccount, path: string): string =>
  `${rootOf(account, "/api/v1")}/api/v1/${path}`

/** The header in which most vendors expect the key. */
export const bearer = (account: ChannelAccount): Headers => ({
  authorization: `Bearer ${Redacted.value(account.apiKey)}`
})

const withoutBody =
  (method: VendorRequest["method"]) =>
  (url: string, headers: Headers): VendorRequest => ({ method, url, headers, body: null })

export const get = withoutBody("GET")
/** A `POST` without a body, as vendors have it for actions on a job. */
export const postEmpty = withoutBody("POST")
export const remove = withoutBody("DELETE")

export const post = (url: string, headers: Headers, body: object): VendorRequest => ({
  method: "POST",
  url,
  headers: { ...headers, "content-type": "application/json" },
  body
})

/**
 * A request with a multipart form: strings, numbers and booleans, and the fields in `fileFields` as
 * files.
 */
export const postForm = (
  url: string,
  headers: Headers,
  body: FormFields,
  fileFields: ReadonlySet<string>
): VendorRequest => ({ method: "POST", url, headers, body, fileFields })

/** Omits null, undefined and empty values, so that the vendor uses its defaults. */
export const omitEmpty = (fields: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? "") !== ""))

/** The seconds in the vendors' form, in which -1 is a duration chosen by the model. */
export const secondsOf = ({ seconds }: VideoOrder): number => (seconds === "smart" ? -1 : seconds)

// On the wire

/** A request as it is sent. */
interface EncodedRequest extends Pick<VendorRequest, "method" | "url" | "headers"> {
  readonly body: string | Array<Buffer> | null
}

/**
 * Yields the pieces and removes each one when it is sent, because nothing needs it while the
 * gateway waits for the answer.
 */
function* drainPieces(pieces: Array<Buffer>): Generator<Buffer> {
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece
}

const collectPieces = (source: Iterable<string | Buffer>) =>
  Effect.gen(function* () {
    const pieces: Array<Buffer> = []
    for (const piece of source) {
      pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece)
      yield* Effect.yieldNow
    }
    return pieces
  })

/** Encodes the body; a large body piece by piece, so that other fibers can run in between. */
export const encodeRequest = (
  random: SecureRandom.SecureRandom["Service"],
  { method, url, headers, body, fileFields }: VendorRequest
): Effect.Effect<EncodedRequest> => {
  if (body !== null && fileFields !== undefined) {
    return Effect.flatMap(random.uuidV4(), (uuid) => {
      // The boundary is random, so that no value of a client contains it.
      const boundary = `form-${uuid}`
      const contentType = `multipart/form-data; boundary=${boundary}`
      return Effect.map(collectPieces(formPieces({ ...body }, fileFields, boundary)), (pieces) => ({
        method,
        url,
        headers: { ...headers, "content-type": contentType },
        body: pieces
      }))
    })
  }
  const json = body === null ? null : jsonPieces(body)
  if (json === null || typeof json === "string") {
    return Effect.succeed({ method, url, headers, body: json })
  }
  return Effect.map(collectPieces(json), (pieces) => ({ method, url, headers, body: pieces }))
}

/** The request in `undici`'s form. */
const optionsOf = ({ method, url, headers, body }: EncodedRequest): Dispatcher.DispatchOptions => {
  const { origin, pathname, search } = new URL(url)
  const options = { origin, path: `${pathname}${search}`, method, headers }
  if (body === null || typeof body === "string") return { ...options, body }
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  return {
    ...options,
    headers: { ...headers, "content-length": `${length}` },
    body: Readable.from(drainPieces(body))
  }
}

const abortReason = new Error("the answer is not wanted any more")

/**
 * Sends the request and returns a function that aborts it. `handler` receives the events of the
 * answer.
 */
export const dispatch = (
  agent: Dispatcher,
  request: EncodedRequest,
  onFault: (cause: unknown, isSent: boolean) => void,
  handler: Dispatcher.DispatchHandler
): (() => void) => {
  let controller: Dispatcher.DispatchController | null = null
  let isAborted = false
  try {
    agent.dispatch(optionsOf(request), {
      ...handler,
      onRequestStart: (startedRequest) => {
        controller = startedRequest
        // The request may have been aborted while it waited for a connection.
        if (isAborted) startedRequest.abort(abortReason)
      },
      onResponseError: (_, error) => onFault(error, controller !== null)
    })
  } catch (cause) {
    onFault(cause, controller !== null)
  }
  return () => {
    isAborted = true
    controller?.abort(abortReason)
  }
}
