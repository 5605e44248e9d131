/** What holds for every request before its handler sees it: media type, size, shape. */
import { Context } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { InternalError, InvalidRequest, Overloaded } from "./errors.ts"

/** Largest body a route takes; routes without it take the small default. */
export class BodyLimit extends Context.Service<BodyLimit, "media" | "small">()(
  "gateway/http/BodyLimit"
) {}

/** Set where a route also takes forms with files. */
export class Multipart extends Context.Service<Multipart, boolean>()("gateway/http/Multipart") {}

export class RequestRules extends HttpApiMiddleware.Service<RequestRules>()(
  "gateway/http/RequestRules",
  { error: [InvalidRequest, InternalError, Overloaded] }
) {}
