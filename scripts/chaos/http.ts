/** Requests as a client sends them. A lost connection is an error value. */
import { Effect, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
}

/** No complete response arrived: the connection was refused or broken, or a time-out passed. */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>()("ConnectionLost", {
  message: Schema.String
}) {}

const PATIENCE = "40 seconds"

/** Sends one request without retries: a GET, or a POST when there is a body, or as `method` says. */
export const send = Effect.fnUntraced(
  function* (
    url: string,
    options: {
      readonly key: string
      readonly method?: "POST" | "PUT" | "PATCH" | "DELETE"
      readonly json?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  ): Effect.fn.Return<Answer, unknown, HttpClient.HttpClient> {
    const http = yield* HttpClient.HttpClient
    const { json, method = json === undefined ? "GET" : "POST" } = options
    const bare = HttpClientRequest.make(method)(url)
    const request = json === undefined ? bare : HttpClientRequest.bodyJsonUnsafe(bare, json)
    const response = yield* request.pipe(
      HttpClientRequest.bearerToken(options.key),
      HttpClientRequest.setHeaders({ ...options.headers }),
      http.execute
    )
    return { status: response.status, headers: response.headers, text: yield* response.text }
  },
  (effect) =>
    effect.pipe(
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.timeout(PATIENCE),
      Effect.mapError((cause) => new ConnectionLost({ message: String(cause) }))
    )
)

/** The body of a response in the expected shape; null when it has another shape. */
export const bodyOf = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S
): ((answer: Answer) => S["Type"] | null) => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return ({ text }) => {
    const decoded = decode(text)
    return decoded._tag === "Some" ? decoded.value : null
  }
}
