/** What holds for every request before its handler sees it: media type, size, shape. */
import { Context, type Effect } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import type * as GatewayError from "../../domain/Errors.ts"
import { InternalError, InvalidRequest, Overloaded } from "./apiErrors.ts"

/**
 * Largest body a route takes: with media in it, or with texts alone; routes without it take the small
 * default. Of a route that takes forms, it is that of the forms, and other bodies are texts.
 */
export class BodyLimit extends Context.Service<BodyLimit, "media" | "texts" | "small">()(
  "gateway/http/BodyLimit"
) {}

/** Numbers a route takes in arrays, beside the values that any body may have. */
export class ArrayNumbers extends Context.Service<ArrayNumbers, number>()(
  "gateway/http/ArrayNumbers"
) {}

/** What the body of the request says, for routes that decode it themselves; to be asked for once. */
export class RequestJson extends Context.Service<
  RequestJson,
  Effect.Effect<unknown, GatewayError.InvalidRequest>
>()("gateway/http/RequestJson") {}

/** Set where a route also takes forms with files. */
export class Multipart extends Context.Service<Multipart, boolean>()("gateway/http/Multipart") {}

export class RequestRules extends HttpApiMiddleware.Service<
  RequestRules,
  { provides: RequestJson }
>()("gateway/http/RequestRules", { error: [InvalidRequest, InternalError, Overloaded] }) {}
