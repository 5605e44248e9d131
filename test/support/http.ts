/** Plain HTTP as a client without any library of ours would do it. */
import { Effect } from "effect"

export interface CallOptions {
  readonly method?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as application/json. */
  readonly json?: unknown
  /** Sent as it is. */
  readonly body?: string | Uint8Array<ArrayBuffer>
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Decoded JSON, or undefined when the answer is not JSON. */
  readonly body: unknown
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Sends one request; POST when there is a body and no method is named. `send` is another `fetch` than
 * the one over sockets.
 */
export const call = (
  url: string,
  options: CallOptions = {},
  send: typeof globalThis.fetch = fetch
): Effect.Effect<HttpAnswer> =>
  Effect.promise(async (signal) => {
    const hasJson = "json" in options
    const body = hasJson ? JSON.stringify(options.json) : options.body
    const response = await send(url, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...options.headers
      },
      ...(body === undefined ? {} : { body }),
      redirect: "manual",
      signal
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  })
