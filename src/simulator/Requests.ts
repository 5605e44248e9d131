import { Clock, Context, Effect, Layer, Predicate } from "effect"
import { sha256 } from "./digest.ts"

/** A request as a vendor received it. */
export interface SeenRequest {
  /** The sequence number; it starts at 1 and is not reset by `clear`. */
  readonly seq: number
  /** The time of the request in ISO 8601, UTC. */
  readonly at: string
  readonly protocol: string
  readonly method: string
  /** The path without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Headers by lower-case name; that of the key has only its scheme, if there is one. */
  readonly headers: Readonly<Record<string, string>>
  /** The last four characters of the key, as in the book, where they identify the account. */
  readonly key_hint: string
  /**
   * The JSON of the request, with each `data:` URL replaced by a `DataMarker`; the text itself when
   * it is not JSON; null when there is no body.
   */
  readonly body: unknown
}

/** Replaces an inline file; length and hash are those of the decoded bytes. */
interface DataMarker {
  readonly media_type: string
  readonly bytes: number
  readonly sha256: string
}

const maxStoredRequests = 1000

const HINT = 4
/** The hint of a key; empty where the key is not longer than its hint. */
export const hintOf = (key: string): string => (key.length > HINT ? key.slice(-HINT) : "")

/** The headers in which vendors expect the key. */
const keyHeaders: ReadonlyArray<string> = ["authorization", "xi-api-key"]

/** The last 1000 requests to all vendors, including refused ones. */
export class Requests extends Context.Service<
  Requests,
  {
    readonly all: Effect.Effect<ReadonlyArray<SeenRequest>>
    readonly clear: Effect.Effect<void>
    /** Records a request, without the data that must not be shown. */
    record(request: Omit<SeenRequest, "seq" | "at" | "key_hint">): Effect.Effect<void>
  }
>()("gateway/simulator/Requests") {
  static readonly layer = Layer.sync(Requests, () => {
    const requests: Array<SeenRequest> = []
    let lastSeq = 0
    return Requests.of({
      all: Effect.sync(() => [...requests]),
      clear: Effect.sync(() => {
        requests.length = 0
      }),
      record: Effect.fnUntraced(function* (request) {
        const at = new Date(yield* Clock.currentTimeMillis).toISOString()
        const { headers } = request
        const key = keyHeaders.map((name) => headers[name]).find((value) => value !== undefined)
        requests.push({
          ...request,
          seq: ++lastSeq,
          at,
          key_hint: hintOf(key ?? ""),
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, value]) => [
              name,
              keyHeaders.includes(name) ? (/^(\S+)\s+\S/.exec(value)?.[1] ?? "") : value
            ])
          ),
          body: withoutFiles(request.body)
        })
        if (requests.length > maxStoredRequests) requests.shift()
      })
    })
  })
}

const withoutFiles = (value: unknown): unknown => {
  if (typeof value === "string") return markerOf(value) ?? value
  if (Array.isArray(value)) return value.map(withoutFiles)
  if (Predicate.isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutFiles(part)]))
  }
  return value
}

const markerOf = (text: string): DataMarker | undefined => {
  const head = /^data:([^,;]*)((?:;[^,;]*)*),/.exec(text.slice(0, 200))
  if (head === null) return undefined
  const [prefix, mediaType = "", parameters = ""] = head
  const content = text.slice(prefix.length)
  const bytes = Buffer.from(content, parameters.endsWith(";base64") ? "base64" : "utf8")
  return { media_type: mediaType, bytes: bytes.length, sha256: sha256(bytes) }
}
