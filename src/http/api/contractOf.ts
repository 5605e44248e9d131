/**
 * Builds the contract of a set of groups with their middlewares, prefix and parse options. A
 * feature builds its handlers on the contract of its own group alone, so that it imports no other
 * feature; `GatewayApi` has all groups.
 */
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import {
  AdminAuditing,
  AdminAuthorization,
  AdminRoles,
  Authorization,
  RequestRules
} from "./middlewares.ts"
import { OperationsGroup } from "./OperationsApi.ts"
import { strictParsing } from "./shared.ts"

type Groups = readonly [HttpApiGroup.Constraint, ...Array<HttpApiGroup.Constraint>]

/** The contract of groups under `/v1`, which need an API key. */
export const customerApi = <const G extends Groups>(...groups: G) =>
  HttpApi.make("media-gateway")
    .add(...groups)
    .middleware(RequestRules)
    .middleware(Authorization)
    .prefix("/v1")

/** The contract of a group that has a path of its own and needs an API key. */
export const agentApi = <const G extends Groups>(...groups: G) =>
  HttpApi.make("media-gateway")
    .add(...groups)
    .middleware(RequestRules)
    .middleware(Authorization)

/**
 * The contract of groups under `/admin/v1`. Its requests need an operator's token and a role, and
 * are audited.
 */
export const operatorApi = <const G extends Groups>(...groups: G) =>
  HttpApi.make("media-gateway")
    .add(...groups)
    .annotate(HttpApi.PayloadParseOptions, strictParsing)
    // A request passes the middlewares from the last one to the first.
    .middleware(RequestRules)
    .middleware(AdminRoles)
    .middleware(AdminAuditing)
    .middleware(AdminAuthorization)
    .prefix("/admin/v1")

/** The contract of health, readiness and metrics; its endpoints authenticate by themselves. */
export const operationsApi = HttpApi.make("media-gateway").add(OperationsGroup)
