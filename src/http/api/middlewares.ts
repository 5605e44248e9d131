/** The middlewares around the routes: authentication, the rules of bodies, and the audit. */
import { Context, type Effect } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type * as GatewayError from "../../domain/Errors.ts"
import type { TaskKind } from "../../domain/orderIds.ts"
import type { Caller, Scope } from "../../services/Access.ts"
import type { Operator, Role } from "../../services/operators/Operators.ts"
import { errors } from "./apiErrors.ts"

/** The holder of the request's API key. */
export class CurrentCaller extends Context.Service<CurrentCaller, Caller>()(
  "gateway/http/CurrentCaller"
) {}

/**
 * The scope that a route requires of its key, or several scopes of which one is enough. A route
 * without this annotation refuses every key.
 */
export class RequiredScope extends Context.Service<RequiredScope, Scope | ReadonlyArray<Scope>>()(
  "gateway/http/RequiredScope"
) {}

/**
 * Marks a long-polling route: `always`, or `with-wait` when only requests with a `wait` are held
 * open. A held-open request does no work while it waits, so it takes a permit of a separate kind.
 */
export class HeldOpen extends Context.Service<HeldOpen, "always" | "with-wait">()(
  "gateway/http/HeldOpen"
) {}

/**
 * Marks a route that reads one entry by its id, or only from memory. Every other GET is a list,
 * which goes through the fair lane of lists.
 */
export class LookUp extends Context.Service<LookUp, boolean>()("gateway/http/LookUp") {}

/** Marks a route of a file, on which a `token` in the query authenticates like an API key. */
export class TakesLinks extends Context.Service<TakesLinks, TaskKind>()(
  "gateway/http/TakesLinks"
) {}

/** Marks a route on which a key may stand in the header `x-api-key` instead of a bearer token. */
export class TakesKeyHeader extends Context.Service<TakesKeyHeader, boolean>()(
  "gateway/http/TakesKeyHeader"
) {}

/**
 * Marks a route that is free of charge. The rate limit of this name applies in addition to the
 * limit of all requests.
 */
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

/** The operator who sent the request. */
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
  error: [errors.InvalidApiKey, errors.PermissionDenied, errors.RateLimited, errors.Overloaded],
  requiredForClient: true
}) {}

/**
 * The roles that may call a writing route, in addition to the owner role, which may call every
 * route. Every role may read.
 */
export class AllowedRoles extends Context.Service<AllowedRoles, ReadonlyArray<Role>>()(
  "gateway/http/AllowedRoles"
) {}

export class AdminRoles extends HttpApiMiddleware.Service<
  AdminRoles,
  { requires: CurrentOperator }
>()("gateway/http/AdminRoles", { error: errors.PermissionDenied }) {}

/**
 * The limit of a route's body: for media, for texts alone, or for a list, which the handler reads
 * as a stream. Routes without this annotation have the small default. Where a route skips the files
 * of its forms, this limit applies to forms, and other bodies have the limit of texts.
 */
export class BodyLimit extends Context.Service<BodyLimit, "media" | "texts" | "list" | "small">()(
  "gateway/http/BodyLimit"
) {}

/**
 * The maximum number of numbers in arrays that a body of the route may have, in addition to the
 * values that every body may have.
 */
export class ArrayNumbers extends Context.Service<ArrayNumbers, number>()(
  "gateway/http/ArrayNumbers"
) {}

/**
 * The parsed body of the request, for routes that decode the body themselves; it can be read once.
 */
export class RequestJson extends Context.Service<
  RequestJson,
  Effect.Effect<unknown, GatewayError.InvalidRequest>
>()("gateway/http/RequestJson") {}

/**
 * Marks a route whose handler decodes the body itself, from `RequestJson` or `RequestForm`. The
 * contract's own decoder cannot read the body of such a route.
 */
export class DecodesBody extends Context.Service<DecodesBody, boolean>()(
  "gateway/http/DecodesBody"
) {}

/** A file of a form. */
export interface FormFile {
  readonly field: string
  /** The file name that the client sent. */
  readonly name: string
  readonly contentType: string
  /** The content of the file; empty where the route skips files. */
  readonly bytes: Buffer
}

/** The parts of a form, in order of arrival. */
export interface FormParts {
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  readonly files: ReadonlyArray<FormFile>
}

/**
 * Marks a route that reads the files of its forms, within `BodyLimit`. Other routes skip the files.
 */
export class KeepsFiles extends Context.Service<KeepsFiles, boolean>()("gateway/http/KeepsFiles") {}

/** The parsed form of the request, which can be read once; null for bodies that are not forms. */
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

/**
 * Audits every write of a group that has this middleware, whether the write succeeds or is refused.
 */
export class AdminAuditing extends HttpApiMiddleware.Service<
  AdminAuditing,
  { requires: CurrentOperator }
>()("gateway/http/AdminAuditing") {}
