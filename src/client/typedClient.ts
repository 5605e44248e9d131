/**
 * The typed client, for programs on Effect: every route of the gateway as a method, its errors as
 * values by code. `import { MediaGateway, layer } from "media-gateway/client"`.
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
  /** Where the gateway listens, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string | URL
  /** Opens `/v1`. */
  readonly apiKey: Redacted.Redacted | string
  /** Opens `/admin/v1`; only operators have it. */
  readonly adminToken?: Redacted.Redacted | string
  /** How often a request is repeated when that is safe and makes sense; 2 when left out. */
  readonly retries?: number
}

/** The gateway as its callers see it: `gateway.videos.create({ payload, headers })` and so on. */
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
 * A client of one gateway. Orders get an `Idempotency-Key` of their own where the caller gives none,
 * so that a repeat after a broken connection never pays twice.
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

/** Waits for the end of a video task, however long it takes; a failed one is an answer, too. */
export const waitForVideo = Effect.fn("MediaGateway.waitForVideo")(function* (id: string) {
  const gateway = yield* MediaGateway
  while (true) {
    const task = yield* gateway.videos.read({
      params: { task_id: id },
      query: { wait: MAX_WAIT_SECONDS }
    })
    if (task.task_status !== "processing") return task
  }
})
