/** Places the order of the form, and keeps its result. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { useEffect, useRef, useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import type { Order } from "../form/draft.ts"
import { placeOrder } from "./placeOrder.ts"
import { type Counts, readText, type StreamedText } from "./textStream.ts"

const TaskAccepted = Schema.Struct({ id: Schema.String })
const decodeAccepted = Schema.decodeUnknownPromise(TaskAccepted)

const Vectors = Schema.Struct({
  data: Schema.Array(Schema.Struct({ embedding: Schema.Array(Schema.Finite) })),
  usage: Schema.optionalKey(Schema.NullOr(Schema.Unknown))
})
const decodeVectors = Schema.decodeUnknownPromise(Vectors)

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
      readonly output: StreamedText
      readonly state: "writing" | "ended" | "stopped"
      readonly trace: TextTrace
    }
  | {
      readonly kind: "vectors"
      readonly vectors: ReadonlyArray<ReadonlyArray<number>>
      readonly trace: TextTrace
    }

export interface PlacedOrder {
  readonly order: Order
  readonly model: string
  /** The idempotency key: a retry of the order places no second one. */
  readonly key: string
}

export const usePlaceOrder = (onTask: (id: string) => void) => {
  const { session, connection } = useSession()
  const cache = useQueryClient()
  const [answer, setAnswer] = useState<Answer | null>(null)
  const runningRequest = useRef<AbortController | null>(null)
  // Leaving the page aborts the stream.
  useEffect(() => () => runningRequest.current?.abort(), [])

  const newestCharge = () =>
    connection
      .send((gateway) => gateway.account.usage({ query: { limit: 1 } }))
      .then(({ data }) => data[0]?.id ?? null)
      .catch(() => null)

  const placing = useMutation({
    mutationFn: async ({ order, model, key }: PlacedOrder) => {
      const controller = new AbortController()
      runningRequest.current = controller
      setAnswer(null)
      const isText = order.kind === "chat" || order.kind === "embedding"
      const before = isText ? await newestCharge() : null
      const response = await placeOrder(session, order, key, controller.signal)
      if (!isText) return onTask((await decodeAccepted(await response.json())).id)
      const trace = { model, before, counts: null }
      if (order.kind === "embedding") {
        const { data } = await decodeVectors(await response.json())
        return setAnswer({ kind: "vectors", vectors: data.map((item) => item.embedding), trace })
      }
      let lastOutput: StreamedText = { text: "", counts: null }
      const show = (output: StreamedText) => {
        lastOutput = output
        setAnswer({ kind: "text", output, state: "writing", trace })
      }
      show(lastOutput)
      try {
        const output = await readText(response, show)
        setAnswer({
          kind: "text",
          output,
          state: "ended",
          trace: { ...trace, counts: output.counts }
        })
      } catch (error) {
        setAnswer({ kind: "text", output: lastOutput, state: "stopped", trace })
        if (!controller.signal.aborted) throw error
      }
    },
    onSettled: () => cache.invalidateQueries({ queryKey: ["quote"] })
  })

  return {
    placing,
    answer,
    stop: () => runningRequest.current?.abort(),
    forget: () => setAnswer(null)
  }
}
