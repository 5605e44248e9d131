import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { type OperatorRecord, Operators } from "../../../services/operators/Operators.ts"
import { OperatorBody, OperatorChangeBody } from "../../api/admin/OperatorsApi.ts"
import { GatewayApi } from "../../api/GatewayApi.ts"
import { CurrentOperator } from "../../api/middlewares.ts"
import { strictly } from "../../api/shared.ts"
import { bodyOf } from "../../server/requestRules.ts"
import { listView, pageOf } from "../respond.ts"
import { isoOrNull } from "../views.ts"

const asOperator = bodyOf(OperatorBody, strictly)
const asChange = bodyOf(OperatorChangeBody, strictly)

const operatorView = ({ createdAt, revokedAt, ...operator }: OperatorRecord) => ({
  ...operator,
  created_at: createdAt.toISOString(),
  revoked_at: isoOrNull(revokedAt)
})

export const layerOperatorHandlers = HttpApiBuilder.group(
  GatewayApi,
  "operators",
  Effect.fn(function* (handlers) {
    const operators = yield* Operators
    const written = handlers
      .handleRaw(
        "createOperator",
        Effect.fn("operators.createOperator")(function* () {
          const { record, token } = yield* operators.create(yield* asOperator)
          return { ...operatorView(record), token: Redacted.value(token) }
        })
      )
      .handleRaw(
        "changeOperator",
        Effect.fn("operators.changeOperator")(function* ({ params }) {
          return operatorView(yield* operators.change(params.id, yield* asChange))
        })
      )
    return written.handleAll({
      readMe: Effect.fn("operators.readMe")(function* () {
        return yield* CurrentOperator
      }),
      listOperators: Effect.fn("operators.listOperators")(function* ({ query }) {
        return listView(yield* operators.list(pageOf(query)), operatorView)
      }),
      readOperator: Effect.fn("operators.readOperator")(function* ({ params }) {
        return operatorView(yield* operators.find(params.id))
      }),
      revokeOperator: Effect.fn("operators.revokeOperator")(function* ({ params }) {
        return operatorView(yield* operators.revoke(params.id))
      })
    })
  })
)
