import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { GatewayApi } from "../GatewayApi.ts"

type IdsOf<Group> = Group extends HttpApiGroup.Constraint
  ? `${Group["identifier"]}.${HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<Group>>}`
  : never
type GroupsOf<Api> = Api extends HttpApi.HttpApi<string, infer Groups> ? Groups : never

export type GroupId = HttpApiGroup.Identifier<GroupsOf<typeof GatewayApi>>
/** The id of an operation in the OpenAPI document, such as `videos.create`. */
export type OperationId = IdsOf<GroupsOf<typeof GatewayApi>>
