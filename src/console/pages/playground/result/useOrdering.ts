/** Places the order of the form, and keeps its result. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { useEffect, useRef, useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import type { Order } from "../form/draft.ts"
import { placeOrder } from "./placeOrder.ts"
import { type Counts, readText, type Told } from "./textStream.ts"

const Accepted = Schema.Struct({ id: Schema.String })
const accepted = Schema.decodeUnknownPromise(Accepted)

const Vectors = Schema.Struct({
  data: Schema.Array(Schema.Struct({ embedding: Schema.Array(Schema.Finite) })),
  usage: Schema.optionalKey(Schema.NullOr(Schema.Unknown))
})
const vectorsOf = Schema.decodeUnknownPromise(Vectors)

/**
 * The facts by which the charge of a text order is found, because the response does not contain its
 * id.
 */
export interface TextTrace {
  readonly model: string
  /**
   * The newest charge before the order; null where there was none, or the key may not read charges.
   */
  readonly before: string | null
  readonly counts: Counts | null
}

export type Answer =
  | {
      readonly kind: "text"
      readonly told: Told
      readonly state: "writing" | "ended" | "stopped"
      readonly trace: TextTrace
    }
  | {
      readonly kind: "vectors"
      readonly vectors: ReadonlyArray<ReadonlyArray<number>>
      readonly trace: TextTrace
    }

export interface Placed {
  readonly order: Order
  readonly model: string
  /** The idempotency key: a retry of the order places no second one. */
  readonly key: string
}

export const useOrdering = (onTask: (id: string) => void) => {
  const { session, connection } = useSession()
  const cache = useQueryClient()
  const [answer, setAnswer] = useState<Answer | null>(null)
  const running = useRef<AbortController | null>(null)
  // Leaving the page aborts the stream.
  useEffect(() => () => running.current?.abort(), [])

  const newestCharge = () =>
    connection
      .ask((gateway) => gateway.account.usage({ query: { limit: 1 } }))
      .then(({ data }) => data[0]?.id ?? null)
      .catch(() => null)

  const placing = useMutation({
    mutationFn: async ({ order, model, key }: Placed) => {
      const leave = new AbortController()
      running.current = leave
      setAnswer(null)
      const isText = order.kind === "chat" || order.kind === "embedding"
      const before = isText ? await newestCharge() : null
      const response = await placeOrder(session, order, key, leave.signal)
      if (!isText) return onTask((await accepted(await response.json())).id)
      const trace = { model, before, counts: null }
      if (order.kind === "embedding") {
        const { data } = await vectorsOf(await response.json())
        return setAnswer({ kind: "vectors", vectors: data.map((one) => one.embedding), trace })
      }
      let last: Told = { text: "", counts: null }
      const show = (told: Told) => {
        last = told
        setAnswer({ kind: "text", told, state: "writing", trace })
      }
      show(last)
      try {
        const told = await readText(response, show)
        setAnswer({ kind: "text", told, state: "ended", trace: { ...trace, counts: told.counts } })
      } catch (error) {
        setAnswer({ kind: "text", told: last, state: "stopped", trace })
        if (!leave.signal.aborted) throw error
      }
    },
    onSettled: () => cache.invalidateQueries({ queryKey: ["quote"] })
  })

  return {
    placing,
    answer,
    stop: () => running.current?.abort()
  }
}
