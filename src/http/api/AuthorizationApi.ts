/** Who calls: API keys on `/v1`, the operator's token on `/admin/v1`. */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Caller, Scope } from "../../services/Access.ts"
import { InvalidApiKey, Overloaded, PermissionDenied, RateLimited } from "./apiErrors.ts"

/** The holder of the key a request came with. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()(
  "gateway/http/CurrentCaller"
) {}

/**
 * The scope a route asks of its key, or several of which one is enough; a route that names none lets
 * nobody in.
 */
export class RequiredScope extends Context.Service<RequiredScope, Scope | ReadonlyArray<Scope>>()(
  "gateway/http/RequiredScope"
) {}

/**
 * A route whose answer is held back until something happens, `always` or where a `wait` asks for it:
 * such requests do no work meanwhile, and are counted apart from those that do.
 */
export class HeldOpen extends Context.Service<HeldOpen, "always" | "asked">()(
  "gateway/http/HeldOpen"
) {}

/** A route that costs its caller nothing: its calls have a rate of their own, of that name. */
export class FreeCall extends Context.Service<FreeCall, "quotes" | "models">()(
  "gateway/http/FreeCall"
) {}

export class Authorization extends HttpApiMiddleware.Service<
  Authorization,
  { provides: CurrentCaller }
>()("gateway/http/Authorization", {
  security: {
    bearer: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(OpenApi.Description, "An API key: `Authorization: Bearer mg_...`")
    )
  },
  error: [InvalidApiKey, PermissionDenied, RateLimited, Overloaded],
  requiredForClient: true
}) {}

export class AdminAuthorization extends HttpApiMiddleware.Service<AdminAuthorization>()(
  "gateway/http/AdminAuthorization",
  {
    security: {
      admin: HttpApiSecurity.bearer.pipe(
        HttpApiSecurity.annotate(OpenApi.Description, "The operator's token, GATEWAY_ADMIN_TOKEN")
      )
    },
    error: InvalidApiKey,
    requiredForClient: true
  }
) {}
