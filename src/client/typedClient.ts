/**
 * The typed client for programs with Effect: every route of the gateway is a method, and its errors
 * are values by code. `import { MediaGateway, layer } from "media-gateway/client"`.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { GatewayApi } from "../contract/GatewayApi.ts"
import { AdminAuthorization, Authorization } from "../http/api/middlewares.ts"
import { MAX_WAIT_SECONDS } from "../http/api/shared.ts"
import { withIdempotencyKeys, withRetries } from "./patience.ts"

export { GatewayApi } from "../contract/GatewayApi.ts"
export * as Errors from "../domain/Errors.ts"

export interface ClientOptions {
  /** The gateway's address, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string | URL
  /** The API key, which gives access to `/v1`. */
  readonly apiKey: Redacted.Redacted | string
  /** The operator's token, which gives access to `/admin/v1`. */
  readonly adminToken?: Redacted.Redacted | string
  /** The maximum number of retries of a request, where a retry is safe and useful; 2 by default. */
  readonly retries?: number
}

/** The gateway's API for callers: `gateway.videos.create({ payload, headers })` and so on. */
export class MediaGateway extends Context.Service<
  MediaGateway,
  HttpApiClient.ForApi<typeof GatewayApi>
>()("media-gateway/MediaGateway") {}

const secret = (text: Redacted.Redacted | string): string =>
  typeof text === "string" ? text : Redacted.value(text)

const bearers = ({ apiKey, adminToken }: ClientOptions) =>
  Layer.merge(
    HttpApiMiddleware.layerClient(Authorization, ({ request, next }) =>
      next(HttpClientRequest.bearerToken(request, secret(apiKey)))
    ),
    HttpApiMiddleware.layerClient(AdminAuthorization, ({ request, next }) =>
      next(
        adminToken === undefined
          ? request
          : HttpClientRequest.bearerToken(request, secret(adminToken))
      )
    )
  )

const DEFAULT_RETRIES = 2

/**
 * A client of one gateway. Orders without an `Idempotency-Key` get one, so that a retry after a
 * broken connection never pays twice.
 */
export const layer = (
  options: ClientOptions
): Layer.Layer<MediaGateway, never, HttpClient.HttpClient> =>
  Layer.effect(
    MediaGateway,
    HttpApiClient.make(GatewayApi, {
      baseUrl: options.baseUrl,
      transformClient: (client) =>
        client.pipe(withRetries(options.retries ?? DEFAULT_RETRIES), withIdempotencyKeys)
    })
  ).pipe(Layer.provide(bearers(options)))

const waitRequest = (id: string) => ({
  params: { task_id: id },
  query: { wait: MAX_WAIT_SECONDS }
})

/** Waits until a video task has ended, without a time limit. A failed task is returned too. */
export const waitForVideo = Effect.fn("MediaGateway.waitForVideo")(function* (id: string) {
  const gateway = yield* MediaGateway
  while (true) {
    const task = yield* gateway.videos.read(waitRequest(id))
    if (task.task_status !== "processing") return task
  }
})

/** Waits until an image task has ended, without a time limit. A failed task is returned too. */
export const waitForImages = Effect.fn("MediaGateway.waitForImages")(function* (id: string) {
  const gateway = yield* MediaGateway
  while (true) {
    const task = yield* gateway.images.read(waitRequest(id))
    if (task.task_status !== "processing") return task
  }
})

/** Waits until a task of speech has ended, without a time limit. A failed task is returned too. */
export const waitForSpeech = Effect.fn("MediaGateway.waitForSpeech")(function* (id: string) {
  const gateway = yield* MediaGateway
  while (true) {
    const task = yield* gateway.audio.read(waitRequest(id))
    if (task.task_status !== "processing") return task
  }
})
