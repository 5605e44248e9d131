/**
 * The client for programs on promises: a method for each call that developers make often, and
 * `call` for every other route. `import { makeClient } from "media-gateway/client/promise"`.
 */
import { Effect, Layer, ManagedRuntime, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import type { HttpApiClient } from "effect/http-api"
import type { GatewayApi } from "../contract/GatewayApi.ts"
import type { TranscriptionBody } from "../domain/transcription/TranscriptionRequest.ts"
import {
  type ClientOptions,
  layer,
  MediaGateway,
  waitForImages,
  waitForSpeech,
  waitForVideo
} from "./typedClient.ts"

export * as Errors from "../domain/Errors.ts"

type Gateway = HttpApiClient.ForApi<typeof GatewayApi>
type RequestOf<Method extends (request: never) => unknown> = Parameters<Method>[0]

type VideoOrder = RequestOf<Gateway["videos"]["create"]>["payload"]
type ImageOrder = RequestOf<Gateway["images"]["generate"]>["payload"]
type ChatOrder = RequestOf<Gateway["texts"]["chat"]>["payload"]
type EmbeddingOrder = RequestOf<Gateway["texts"]["embed"]>["payload"]
type RerankOrder = RequestOf<Gateway["texts"]["rerank"]>["payload"]
type SpeechOrder = RequestOf<Gateway["audio"]["speech"]>["payload"]
/** An order whose answer is JSON. */
type TranscriptionOrder = NotStreamed<TranscriptionBody> & {
  readonly response_format?: "json" | "verbose_json"
}
type QuotedOrder = RequestOf<Gateway["quotes"]["quote"]>["payload"]
type ModelsQuery = RequestOf<Gateway["models"]["list"]>["query"]
type VideosQuery = RequestOf<Gateway["videos"]["list"]>["query"]
type OrdersQuery = RequestOf<Gateway["orders"]["list"]>["query"]
type UsageQuery = RequestOf<Gateway["account"]["usage"]>["query"]

/** An order whose answer comes as a whole. */
type NotStreamed<Order> = Order & { readonly stream?: false }

export interface PromiseClientOptions extends ClientOptions {
  /** Sends the requests; the global `fetch` by default, or `TestingGateway.fetch` in tests. */
  readonly fetch?: typeof globalThis.fetch
}

export interface CallOptions {
  /** Aborts the call. An order that the gateway has accepted is finished and charged. */
  readonly signal?: AbortSignal
}

export interface OrderOptions extends CallOptions {
  /** Identifies the order for 24 hours; by default each call has a key of its own. */
  readonly idempotencyKey?: string
}

const PAGE = 20

const headersOf = ({ idempotencyKey }: OrderOptions) =>
  idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }

/** An answer in a form that the request did not ask for, which the contract rules out. */
const unexpectedForm = (expected: string) =>
  Effect.die(new Error(`The gateway answered no ${expected}`))

/** The stream, which `signal` cancels. */
const untilAborted = <A>(stream: ReadableStream<A>, signal: AbortSignal | undefined) =>
  signal === undefined ? stream : stream.pipeThrough(new TransformStream<A, A>(), { signal })

/**
 * A client of one gateway. A method rejects with the gateway's error, an instance of a class of
 * `Errors` with the fields of its code, or with the failure of the connection. Orders are retried
 * as by the client for Effect, under one idempotency key, so that a retry never pays twice.
 */
export const makeClient = ({ fetch = globalThis.fetch, ...options }: PromiseClientOptions) => {
  const runtime = ManagedRuntime.make(
    layer(options).pipe(
      Layer.provide(FetchHttpClient.layer),
      Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
    )
  )
  /** Calls any route of the contract, also of operators: `call((gateway) => gateway.admin.verifyLedger())`. */
  const call = <A, E>(
    use: (gateway: Gateway) => Effect.Effect<A, E, MediaGateway>,
    { signal }: CallOptions = {}
  ): Promise<A> =>
    runtime.runPromise(Effect.flatMap(MediaGateway, use), signal === undefined ? {} : { signal })

  return {
    call,
    models: {
      list: (query: ModelsQuery = {}, options?: CallOptions) =>
        call((gateway) => gateway.models.list({ query }), options),
      read: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.models.read({ params: { id } }), options)
    },
    /** The hold and the price of an order, which is not placed. */
    quote: (order: QuotedOrder, options?: CallOptions) =>
      call((gateway) => gateway.quotes.quote({ payload: order }), options),
    videos: {
      /** Places the order and returns its task, which `wait` follows to its end. */
      create: (order: VideoOrder, options: OrderOptions = {}) =>
        call(
          (gateway) => gateway.videos.create({ payload: order, headers: headersOf(options) }),
          options
        ),
      read: (id: string, options?: CallOptions) =>
        call(
          (gateway) => gateway.videos.read({ params: { task_id: id }, query: { wait: 0 } }),
          options
        ),
      /** Waits until the task has ended, without a time limit. A failed task is returned too. */
      wait: (id: string, options?: CallOptions) => call(() => waitForVideo(id), options),
      list: (query: Partial<VideosQuery> = {}, options?: CallOptions) =>
        call(
          (gateway) => gateway.videos.list({ query: { limit: PAGE, order: "desc", ...query } }),
          options
        ),
      /** Asks the vendor to cancel the task; one that goes on has `cancellation` with the reason. */
      cancel: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.videos.cancel({ params: { task_id: id } }), options),
      remove: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.videos.remove({ params: { task_id: id } }), options)
    },
    images: {
      /** Waits for the images. */
      generate: (order: NotStreamed<ImageOrder>, options: OrderOptions = {}) =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.images.generate({ payload: order, headers: headersOf(options) }),
              (answer) => ("data" in answer ? Effect.succeed(answer) : unexpectedForm("images"))
            ),
          options
        ),
      /** Places the order and returns its task, which `wait` follows to its end. */
      create: (order: NotStreamed<ImageOrder>, options: OrderOptions = {}) =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.images.generate({
                payload: order,
                headers: { ...headersOf(options), prefer: "respond-async" }
              }),
              (answer) =>
                "data" in answer || Stream.isStream(answer)
                  ? unexpectedForm("image task")
                  : Effect.succeed(answer)
            ),
          options
        ),
      read: (id: string, options?: CallOptions) =>
        call(
          (gateway) => gateway.images.read({ params: { task_id: id }, query: { wait: 0 } }),
          options
        ),
      /** Waits until the task has ended, without a time limit. A failed task is returned too. */
      wait: (id: string, options?: CallOptions) => call(() => waitForImages(id), options),
      /** As of videos; an image task that goes on has `cancellation` with the reason. */
      cancel: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.images.cancel({ params: { task_id: id } }), options),
      remove: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.images.remove({ params: { task_id: id } }), options)
    },
    chat: {
      complete: (order: NotStreamed<ChatOrder>, options: OrderOptions = {}) =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.texts.chat({ payload: order, headers: headersOf(options) }),
              (answer) =>
                Stream.isStream(answer) ? unexpectedForm("text") : Effect.succeed(answer)
            ),
          options
        ),
      /** The events of the answer as the vendor writes them; the last `data` is `[DONE]`. */
      stream: (order: ChatOrder, options: OrderOptions = {}) =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.texts.chat({
                payload: { ...order, stream: true },
                headers: headersOf(options)
              }),
              (answer) =>
                Stream.isStream(answer)
                  ? Effect.succeed(Stream.toAsyncIterable(answer))
                  : unexpectedForm("stream")
            ),
          options
        )
    },
    embeddings: {
      create: (order: EmbeddingOrder, options: OrderOptions = {}) =>
        call(
          (gateway) => gateway.texts.embed({ payload: order, headers: headersOf(options) }),
          options
        )
    },
    rerank: {
      /** The best documents first, each with its `index` in the order. */
      create: (order: RerankOrder, options: OrderOptions = {}) =>
        call(
          (gateway) => gateway.texts.rerank({ payload: order, headers: headersOf(options) }),
          options
        )
    },
    speech: {
      /**
       * Answers when the sound begins. Its `content-type` is that of the ordered format, or
       * `text/event-stream` with `stream_format: "sse"`. A sound that breaks off fails its reader.
       */
      create: (order: SpeechOrder, options: OrderOptions = {}): Promise<Response> =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.audio.speech({
                payload: order,
                headers: headersOf(options),
                responseMode: "decoded-and-response"
              }),
              ([sound, { headers }]) =>
                Stream.isStream(sound)
                  ? Effect.succeed(
                      new Response(untilAborted(Stream.toReadableStream(sound), options.signal), {
                        headers: { "content-type": headers["content-type"] ?? "" }
                      })
                    )
                  : unexpectedForm("sound")
            ),
          options
        ),
      /** Places the order and returns its task, which `wait` follows to its end. */
      createTask: (order: SpeechOrder, options: OrderOptions = {}) =>
        call(
          (gateway) =>
            Effect.flatMap(
              gateway.audio.speech({
                payload: order,
                headers: { ...headersOf(options), prefer: "respond-async" }
              }),
              (answer) =>
                Stream.isStream(answer) ? unexpectedForm("speech task") : Effect.succeed(answer)
            ),
          options
        ),
      read: (id: string, options?: CallOptions) =>
        call(
          (gateway) => gateway.audio.read({ params: { task_id: id }, query: { wait: 0 } }),
          options
        ),
      /** Waits until the task has ended, without a time limit. A failed task is returned too. */
      wait: (id: string, options?: CallOptions) => call(() => waitForSpeech(id), options),
      remove: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.audio.remove({ params: { task_id: id } }), options)
    },
    transcriptions: {
      /** The text of a sound: an uploaded file, or a data URL in base64. */
      create: (order: TranscriptionOrder, options: OrderOptions = {}) =>
        call(
          (gateway) => gateway.audio.transcribe({ payload: order, headers: headersOf(options) }),
          options
        )
    },
    account: {
      /** The key of the client: its scopes, models, member and organisation. */
      key: (options?: CallOptions) => call((gateway) => gateway.account.readKey(), options),
      balance: (options?: CallOptions) => call((gateway) => gateway.account.balance(), options),
      /** Charges, newest order first. */
      usage: (query: Partial<UsageQuery> = {}, options?: CallOptions) =>
        call((gateway) => gateway.account.usage({ query: { limit: PAGE, ...query } }), options),
      receipt: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.account.receipt({ params: { id } }), options)
    },
    orders: {
      list: (query: Partial<OrdersQuery> = {}, options?: CallOptions) =>
        call((gateway) => gateway.orders.list({ query: { limit: PAGE, ...query } }), options),
      read: (id: string, options?: CallOptions) =>
        call((gateway) => gateway.orders.read({ params: { id } }), options)
    }
  }
}
