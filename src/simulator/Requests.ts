import { Clock, Context, Effect, Layer, Predicate } from "effect"
import { sha256 } from "./digest.ts"

/** A request as a vendor received it. */
export interface SeenRequest {
  /** Starts at 1 and goes on after a clearing. */
  readonly seq: number
  /** ISO 8601, UTC. */
  readonly at: string
  readonly protocol: string
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Lower-case names; of `authorization` only the scheme is kept, if it has one. */
  readonly headers: Readonly<Record<string, string>>
  /** The key's last characters, by which the book names its account. */
  readonly key_hint: string
  /**
   * The JSON sent, with each `data:` URL in it replaced by a `DataMarker`; the text as it came
   * when it is not JSON, null when there is none.
   */
  readonly body: unknown
}

/** Stands for an inline file; both fields are of the decoded bytes. */
interface DataMarker {
  readonly media_type: string
  readonly bytes: number
  readonly sha256: string
}

const maxStoredRequests = 1000

const HINT = 4
/** Of a key that is hardly longer than its hint nothing is shown. */
export const hintOf = (key: string): string => (key.length > HINT ? key.slice(-HINT) : "")

/** The last 1000 requests to any vendor, including those refused. */
export class Requests extends Context.Service<
  Requests,
  {
    readonly all: Effect.Effect<ReadonlyArray<SeenRequest>>
    readonly clear: Effect.Effect<void>
    /** Takes the request as it came and removes what must not be shown. */
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
        const { authorization, ...headers } = request.headers
        requests.push({
          ...request,
          seq: ++lastSeq,
          at,
          key_hint: hintOf(authorization ?? ""),
          headers:
            authorization === undefined
              ? headers
              : { ...headers, authorization: /^(\S+)\s+\S/.exec(authorization)?.[1] ?? "" },
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
