/** The middlewares around the routes: authentication, the rules of bodies, and the audit. */
import { Context, type Effect } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type * as GatewayError from "../../domain/Errors.ts"
import type { TaskKind } from "../../domain/orderIds.ts"
import type { Caller, Scope } from "../../services/Access.ts"
import type { Operator, Role } from "../../services/operators/Operators.ts"
import { errors } from "./apiErrors.ts"

/** The holder of the key a request came with. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()(
  "gateway/http/CurrentCaller"
) {}

/**
 * The scope that a route requires of its key, or several of which one is enough; without an annotation
 * the route refuses every key.
 */
export class RequiredScope extends Context.Service<RequiredScope, Scope | ReadonlyArray<Scope>>()(
  "gateway/http/RequiredScope"
) {}

/**
 * A long-polling route, `always` or where the request has a `wait` (`asked`): such requests do no work
 * meanwhile, and have permits of their own.
 */
export class HeldOpen extends Context.Service<HeldOpen, "always" | "asked">()(
  "gateway/http/HeldOpen"
) {}

/**
 * A route that reads one entry by its id, or from memory. Every other GET is a list, which goes through the
 * fair lane of lists.
 */
export class LookUp extends Context.Service<LookUp, boolean>()("gateway/http/LookUp") {}

/** A route of a file, which a `token` in its address opens as a key does. */
export class TakesLinks extends Context.Service<TakesLinks, TaskKind>()(
  "gateway/http/TakesLinks"
) {}

/** A route that is free of charge: its calls have a rate limit of their own, of that name. */
export class FreeCall extends Context.Service<FreeCall, "quotes" | "models" | "uploads">()(
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
  error: [errors.InvalidApiKey, errors.PermissionDenied, errors.RateLimited, errors.Overloaded],
  requiredForClient: true
}) {}

/** Who makes a request of the administrative interface. */
export class CurrentOperator extends Context.Service<CurrentOperator, Operator>()(
  "gateway/http/CurrentOperator"
) {}

export class AdminAuthorization extends HttpApiMiddleware.Service<
  AdminAuthorization,
  { provides: CurrentOperator }
>()("gateway/http/AdminAuthorization", {
  security: {
    admin: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotate(
        OpenApi.Description,
        "An operator's token, `mgo_...`, or the one of the configuration, GATEWAY_ADMIN_TOKEN"
      )
    )
  },
  error: [errors.InvalidApiKey, errors.RateLimited, errors.Overloaded],
  requiredForClient: true
}) {}

/** Who may make a request that writes, beside owners, who may all; reading is for every role. */
export class AllowedRoles extends Context.Service<AllowedRoles, ReadonlyArray<Role>>()(
  "gateway/http/AllowedRoles"
) {}

export class AdminRoles extends HttpApiMiddleware.Service<
  AdminRoles,
  { requires: CurrentOperator }
>()("gateway/http/AdminRoles", { error: errors.PermissionDenied }) {}

/**
 * Largest body a route takes: with media in it, with texts alone, or a list, which its handler reads as
 * it comes; routes without it take the small default. Of a route that reads the files of its forms over,
 * it is that of the forms, and other bodies are texts.
 */
export class BodyLimit extends Context.Service<BodyLimit, "media" | "texts" | "list" | "small">()(
  "gateway/http/BodyLimit"
) {}

/** Numbers a route takes in arrays, beside the values that any body may have. */
export class ArrayNumbers extends Context.Service<ArrayNumbers, number>()(
  "gateway/http/ArrayNumbers"
) {}

/** The parsed body of the request, for routes that decode it themselves; it can be read once. */
export class RequestJson extends Context.Service<
  RequestJson,
  Effect.Effect<unknown, GatewayError.InvalidRequest>
>()("gateway/http/RequestJson") {}

/** A file of a form. */
export interface FormFile {
  readonly field: string
  /** As the client named it. */
  readonly name: string
  readonly contentType: string
  /** Empty where the route reads its files over. */
  readonly bytes: Buffer
}

/** A form's parts, in the order they came. */
export interface FormParts {
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly files: ReadonlyArray<FormFile>
}

/** A route that keeps the files of its forms, within `BodyLimit`; others read them over. */
export class KeepsFiles extends Context.Service<KeepsFiles, boolean>()("gateway/http/KeepsFiles") {}

/** The parsed form of the request, which can be read once; null for other bodies. */
export class RequestForm extends Context.Service<
  RequestForm,
  Effect.Effect<
    FormParts,
    GatewayError.InvalidRequest | GatewayError.PayloadTooLarge | GatewayError.Overloaded
  > | null
>()("gateway/http/RequestForm") {}

export class RequestRules extends HttpApiMiddleware.Service<
  RequestRules,
  { provides: RequestJson | RequestForm }
>()("gateway/http/RequestRules", {
  error: [errors.InvalidRequest, errors.InternalError, errors.Overloaded]
}) {}

/** Every write of a group that has this middleware is audited, whether it is done or refused. */
export class AdminAuditing extends HttpApiMiddleware.Service<
  AdminAuditing,
  { requires: CurrentOperator }
>()("gateway/http/AdminAuditing") {}
