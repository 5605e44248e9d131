import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { isoOrNull } from "../../http/handlers/views.ts"
import { type OperatorRecord, Operators } from "../../services/operators/Operators.ts"
import { OperatorsGroup, type OperatorView } from "./OperatorsApi.ts"

const operatorView = (operator: OperatorRecord): typeof OperatorView.Type => ({
  id: operator.id,
  name: operator.name,
  role: operator.role,
  created_at: operator.createdAt.toISOString(),
  revoked_at: isoOrNull(operator.revokedAt)
})

export const layerOperatorHandlers = HttpApiBuilder.group(
  operatorApi(OperatorsGroup),
  "operators",
  Effect.fn(function* (handlers) {
    const operators = yield* Operators
    return handlers.handleAll({
      readMe: Effect.fn("operators.readMe")(function* () {
        return yield* CurrentOperator
      }),
      createOperator: Effect.fn("operators.createOperator")(function* ({ payload }) {
        const { record, token } = yield* operators.create(payload)
        return { ...operatorView(record), token: Redacted.value(token) }
      }),
      listOperators: Effect.fn("operators.listOperators")(function* ({ query }) {
        return listView(yield* operators.list(pageOf(query)), operatorView)
      }),
      readOperator: Effect.fn("operators.readOperator")(function* ({ params }) {
        return operatorView(yield* operators.find(params.id))
      }),
      changeOperator: Effect.fn("operators.changeOperator")(function* ({ params, payload }) {
        return operatorView(yield* operators.change(params.id, payload))
      }),
      revokeOperator: Effect.fn("operators.revokeOperator")(function* ({ params }) {
        return operatorView(yield* operators.revoke(params.id))
      })
    })
  })
)
