/** The id of the request that is being handled, as its answer carries it in `x-request-id`. */
import { Context } from "effect"

export const RequestId = Context.Reference<string>("gateway/http/RequestId", {
  defaultValue: () => ""
})
