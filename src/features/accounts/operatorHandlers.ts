import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { operatorApi } from "../../http/api/contractOf.ts"
import { CurrentOperator } from "../../http/api/middlewares.ts"
import { strictly } from "../../http/api/shared.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { isoOrNull } from "../../http/handlers/views.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { type OperatorRecord, Operators } from "../../services/operators/Operators.ts"
import { OperatorBody, OperatorChangeBody, OperatorsGroup } from "./OperatorsApi.ts"

const asOperator = bodyOf(OperatorBody, strictly)
const asChange = bodyOf(OperatorChangeBody, strictly)

const operatorView = ({ createdAt, revokedAt, ...operator }: OperatorRecord) => ({
  ...operator,
  created_at: createdAt.toISOString(),
  revoked_at: isoOrNull(revokedAt)
})

export const layerOperatorHandlers = HttpApiBuilder.group(
  operatorApi(OperatorsGroup),
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
