/** What belongs to the request that is being handled. */
import { Context } from "effect"

/** Its id, as its answer carries it in `x-request-id`. */
export const RequestId = Context.Reference<string>("gateway/http/RequestId", {
  defaultValue: () => ""
})

/** Headers that are put on its answer, whatever that is; null where nobody looks at them. */
export const AnswerHeaders = Context.Reference<Record<string, string> | null>(
  "gateway/http/AnswerHeaders",
  { defaultValue: () => null }
)
