/** What stands around the routes: who calls, what holds for every body, and what is audited. */
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

/**
 * A route that reads what one id names, or what is in memory. Every other GET is a list, which takes its
 * turn among the lists of all organisations.
 */
export class LookUp extends Context.Service<LookUp, boolean>()("gateway/http/LookUp") {}

/** A route of a file, which a `token` in its address opens as a key does. */
export class TakesLinks extends Context.Service<TakesLinks, TaskKind>()(
  "gateway/http/TakesLinks"
) {}

/** A route that costs its caller nothing: its calls have a rate of their own, of that name. */
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

/** What the body of the request says, for routes that decode it themselves; to be asked for once. */
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

/** What the form of the request says, to be asked for once; null where the body is none. */
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
