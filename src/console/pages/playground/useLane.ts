/** A model with the order for it: its price, and the result of the order that was placed last. */
import { useMemo } from "react"
import type { ModelEntry } from "../../../http/api/models.ts"
import { failureOf } from "../../gateway/failures.ts"
import { storeTitle } from "../../parts/orderTitles.ts"
import { type Draft, generateId, isTaskKind, kindOfModel, orderOf } from "./form/draft.ts"
import { type Field, formFaultsOf } from "./form/faults.ts"
import { useQuote } from "./form/QuoteLine.tsx"
import { usePlaceOrder } from "./result/usePlaceOrder.ts"
import type { LaneName, useAddress } from "./useAddress.ts"

const isUnreachable = (error: unknown): boolean =>
  error !== null && failureOf(error).code === "unreachable"

export const useLane = (
  name: LaneName,
  model: ModelEntry | null,
  draft: Draft,
  { put, [name]: { task, usual } }: ReturnType<typeof useAddress>
) => {
  const order = useMemo(() => {
    const kind = model === null ? null : kindOfModel(model)
    return model === null || kind === null ? null : orderOf(kind, model, draft)
  }, [model, draft])
  const id = model?.id ?? ""
  const quote = useQuote(id, order)
  const { data } = quote.query
  const usualSeconds = data !== undefined && "usual_seconds" in data ? data.usual_seconds : null
  const { placing, answer, stop, forget } = usePlaceOrder((task) => {
    storeTitle(task, draft.prompt)
    put(
      name,
      { model: id, task, usual: usualSeconds === null ? null : String(usualSeconds) },
      false
    )
  })
  const refusal = order === null ? null : (placing.error ?? quote.query.error)
  const submit = (onFault: (field: Field) => void) => {
    if (order === null || placing.isPending) return
    // The answer of an order that is no task can be read only once, so it has no address.
    if (!isTaskKind(order.kind)) put(name, { task: null, usual: null }, true)
    placing.mutate(
      { order, model: id, key: generateId() },
      {
        onError: (error) => {
          const [fault] = formFaultsOf(error, model)
          if (fault !== undefined) onFault(fault.field)
        }
      }
    )
  }
  const failedOrder = isUnreachable(placing.error) ? placing.variables : undefined
  return {
    name,
    modelId: id,
    order,
    quote,
    answer,
    stop,
    /** Forgets the answer of an order that is no task, so that another result is shown. */
    forget,
    task,
    usual,
    refusal,
    submit,
    isPlacing: placing.isPending,
    /** Forgets the error of the last order. */
    reset: () => {
      if (placing.isError) placing.reset()
    },
    /** Repeats an order that the gateway may not have received; undefined if there is none. */
    retry: failedOrder === undefined ? undefined : () => placing.mutate(failedOrder)
  }
}
export type Lane = ReturnType<typeof useLane>
