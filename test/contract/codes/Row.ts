/** One way to provoke an error, and the whole of the answer to it. */
import { Effect, type Scope } from "effect"
import type { ErrorCode } from "../../../src/domain/Errors.ts"
import type { CallOptions, HttpAnswer } from "../../support/http.ts"
import type { Customer } from "../../support/operator.ts"
import { Surface } from "./Surface.ts"

export type Json = Readonly<Record<string, unknown>>

export interface Asked extends CallOptions {
  readonly path: string
  /** Whose money must not move; the rich customer's when left out. */
  readonly who?: Customer
  /** Whether what is stored cannot be reached meanwhile. */
  readonly withoutStore?: boolean
}

export interface Said {
  readonly message: string
  /** Null when left out. */
  readonly param?: string | null
  /** What the body says beside message, type, param and code. */
  readonly more?: Json
  /** Where it is not the code's own. */
  readonly status?: number
  /** What the order is charged all the same, as the message says it. */
  readonly charge?: string
  /** Those of `watchedHeaders` that are there. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What an expectation may depend on when it is not known beforehand. */
export interface Facts {
  readonly path: string
  /** `Retry-After` as it was answered; NaN without one. */
  readonly wait: number
  /** The same in milliseconds. */
  readonly waitMillis: number
  /** The answer as it came. */
  readonly text: string
  /** The gateway's clock before and after the request, in milliseconds. */
  readonly between: readonly [before: number, after: number]
}

export interface Row {
  readonly code: ErrorCode
  readonly when: string
  /** Arranges what it takes; what it acquires is let go of after the answer. */
  readonly ask: Effect.Effect<Asked, never, Surface | Scope.Scope>
  readonly says: (facts: Facts) => Said
  /** Orders that reach a vendor. */
  readonly vendorCalls: number
}

export const row = (
  code: ErrorCode,
  when: string,
  ask: Row["ask"],
  says: Said | ((facts: Facts) => Said),
  vendorCalls = 0
): Row => ({
  code,
  when,
  ask,
  says: typeof says === "function" ? says : () => says,
  vendorCalls
})

/** A request with the rich customer's key, unless another is given. */
export const asRich = (asked: Asked): Effect.Effect<Asked, never, Surface> =>
  Effect.map(Surface, ({ rich }) => ({ key: rich.key, ...asked }))

export const as = (who: Customer, asked: Asked): Asked => ({ ...asked, who, key: who.key })

const post =
  (path: string, least: Json) =>
  (json: Json = {}): Asked => ({ path, json: { ...least, ...json } })

/** What each endpoint takes at least, with whatever else is given. */
export const video = post("/v1/videos/generations", { model: "film-1", prompt: "a lighthouse" })
export const image = post("/v1/images/generations", { model: "paint-1", prompt: "a lighthouse" })
export const chat = post("/v1/chat/completions", {
  model: "talk-1",
  messages: [{ role: "user", content: "hello" }],
  max_tokens: 100
})
export const embed = post("/v1/embeddings", { model: "vector-1", input: "hello" })
export const quote = post("/v1/quotes", { model: "film-1", prompt: "a lighthouse" })
export const rerank = post("/v1/rerank", { model: "rank-1", query: "x", documents: ["a"] })
export const speech = post("/v1/audio/speech", { model: "speak-1", input: "x" })
export const transcription = post("/v1/audio/transcriptions", { model: "listen-1" })

const BOUNDARY = "the-boundary"

const part = (name: string, value: unknown, more = "") =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${String(value)}\r\n`

/** A form with a short file, as clients send recordings. */
export const transcriptionForm = (json: Json = {}): Asked => ({
  path: "/v1/audio/transcriptions",
  headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
  body: [
    ...Object.entries({ model: "listen-1", ...json }).map(([name, value]) => part(name, value)),
    part("file", "no sound", '; filename="a.wav"\r\ncontent-type: audio/wav'),
    `--${BOUNDARY}--\r\n`
  ].join("")
})

/** The same request with further headers. */
export const withHeaders = (asked: Asked, headers: Readonly<Record<string, string>>): Asked => ({
  ...asked,
  headers: { ...asked.headers, ...headers }
})

/** An answer that is no error, on the way to one. */
export const succeeding = (asked: Asked): Effect.Effect<HttpAnswer, never, Surface> =>
  Effect.flatMap(Surface, ({ call }) => {
    const { path, who: _, ...options } = asked
    return Effect.tap(call(path, options), (answer) =>
      answer.status === 200 ? Effect.void : Effect.die(new Error(`${path}: ${answer.text}`))
    )
  })
