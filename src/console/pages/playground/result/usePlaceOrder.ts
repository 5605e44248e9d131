/** Places the order of the form, and keeps its result. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { useEffect, useRef, useState } from "react"
import { useSession } from "../../../gateway/hooks.tsx"
import { isTaskKind, isTextKind, type Order } from "../form/draft.ts"
import { placeOrder } from "./placeOrder.ts"
import { type Counts, readText, type StreamedText } from "./textStream.ts"
import { readWhole, type WholeAnswer } from "./wholeAnswer.ts"

const TaskAccepted = Schema.Struct({ id: Schema.String })
const decodeAccepted = Schema.decodeUnknownPromise(TaskAccepted)

/**
 * The facts by which the charge of an order that is answered at once is found, because the response
 * does not contain its id.
 */
export interface AnswerTrace {
  readonly model: string
  /**
   * The newest charge before the order; null where there was none, or the key may not read charges.
   */
  readonly before: string | null
  readonly counts: Counts | null
}

interface ChatAnswer {
  readonly kind: "text"
  readonly output: StreamedText
  readonly state: "writing" | "ended" | "stopped"
}

export type Answer = (ChatAnswer | WholeAnswer) & { readonly trace: AnswerTrace }

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

  /** Shows the text of a chat while it is written. */
  const readChat = async (
    response: Response,
    trace: AnswerTrace,
    signal: AbortSignal
  ): Promise<void> => {
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
      if (!signal.aborted) throw error
    }
  }

  const placing = useMutation({
    mutationFn: async ({ order, model, key }: PlacedOrder) => {
      const controller = new AbortController()
      runningRequest.current = controller
      setAnswer(null)
      const { kind } = order
      const before = isTaskKind(kind) ? null : await newestCharge()
      const response = await placeOrder(session, order, key, controller.signal)
      if (isTaskKind(kind)) return onTask((await decodeAccepted(await response.json())).id)
      const trace = { model, before, counts: null }
      if (isTextKind(kind)) return readChat(response, trace, controller.signal)
      setAnswer({ ...(await readWhole(kind, response, order)), trace })
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
