/**
 * The contract of some groups, with everything that stands around them: middlewares, prefix and how
 * bodies are parsed. Handlers of a feature are built on the contract of its own group, so that a room
 * needs no other one; `GatewayApi` is the same of all groups together.
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
import { strictly } from "./shared.ts"

type Groups = readonly [HttpApiGroup.Constraint, ...Array<HttpApiGroup.Constraint>]

/** Everything under `/v1`, which an API key opens. */
export const customerApi = <const G extends Groups>(...groups: G) =>
  HttpApi.make("media-gateway")
    .add(...groups)
    .middleware(RequestRules)
    .middleware(Authorization)
    .prefix("/v1")

/** Everything under `/admin/v1`: who is let in, what a role may write, and what is audited. */
export const operatorApi = <const G extends Groups>(...groups: G) =>
  HttpApi.make("media-gateway")
    .add(...groups)
    .annotate(HttpApi.PayloadParseOptions, strictly)
    // The last one is the first that a request comes to.
    .middleware(RequestRules)
    .middleware(AdminRoles)
    .middleware(AdminAuditing)
    .middleware(AdminAuthorization)
    .prefix("/admin/v1")

/** How the gateway itself is doing; open to everyone or closed by its own means. */
export const operationsApi = HttpApi.make("media-gateway").add(OperationsGroup)
