/** The HTTP API by which the gateway's owners manage operators. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { plainText } from "../../domain/plainText.ts"
import { idParams } from "../../http/api/admin/lists.ts"
import { bodyErrors, errors } from "../../http/api/apiErrors.ts"
import { operation } from "../../http/api/document.ts"
import { LookUp } from "../../http/api/middlewares.ts"
import { list, pageQuery, Timestamp, text, textOrNull, timeOrNull } from "../../http/api/shared.ts"
import { Role } from "../../services/operators/Operators.ts"

const role = Role.annotate({
  description:
    "owner may everything; operator the catalog, channels, tasks and who may call; finance what is about money; viewer nothing but read, which everybody may"
})

const OperatorBody = Schema.Struct({
  name: plainText().annotate({ description: "For people, and for the audit" }),
  role
})

const OperatorChangeBody = Schema.Struct({
  name: Schema.optionalKey(OperatorBody.fields.name),
  role: Schema.optionalKey(role)
})

export const OperatorView = Schema.Struct({
  id: text("The operator's id"),
  name: text("For people"),
  role,
  created_at: Timestamp,
  revoked_at: timeOrNull("Since when the token opens nothing; null while it does")
}).annotate({ identifier: "Operator", description: "Somebody who runs the gateway" })

const params = idParams("operator")

export class OperatorsGroup extends HttpApiGroup.make("operators").add(
  HttpApiEndpoint.get("readMe", "/me", {
    success: Schema.Struct({
      id: textOrNull("The operator's id; null for GATEWAY_ADMIN_TOKEN"),
      name: text("For people"),
      role
    })
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read oneself", "Whose token the request came with.")),
  HttpApiEndpoint.post("createOperator", "/operators", {
    payload: OperatorBody,
    success: Schema.Struct({
      ...OperatorView.fields,
      token: text("The token itself, shown here and never again")
    }),
    error: bodyErrors
  }).annotateMerge(
    operation("Create an operator", "With a token of its own, for `/admin/v1` and `/metrics`.")
  ),
  HttpApiEndpoint.get("listOperators", "/operators", {
    query: pageQuery,
    success: list(OperatorView),
    error: errors.InvalidRequest
  }).annotateMerge(operation("List operators", "Those who were revoked too.")),
  HttpApiEndpoint.get("readOperator", "/operators/:id", {
    params,
    success: OperatorView,
    error: errors.NotFound
  })
    .annotate(LookUp, true)
    .annotateMerge(operation("Read an operator", "Name and role.")),
  HttpApiEndpoint.patch("changeOperator", "/operators/:id", {
    params,
    payload: OperatorChangeBody,
    success: OperatorView,
    error: [errors.NotFound, ...bodyErrors]
  }).annotateMerge(
    operation("Change an operator", "What is left out stays. On every gateway within a second.")
  ),
  HttpApiEndpoint.delete("revokeOperator", "/operators/:id", {
    params,
    success: OperatorView,
    error: errors.NotFound
  }).annotateMerge(
    operation("Revoke an operator", "The token opens nothing any more, on any gateway.")
  )
) {}
