/** A receiver that records all webhooks. Each organisation has its own path. */
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { serving } from "../../test/support/httpServer.ts"
import { count, type Witness } from "./witness.ts"

const Told = Schema.fromJsonString(
  Schema.Struct({ type: Schema.String, data: Schema.Struct({ id: Schema.String }) })
)
const decodeTold = Schema.decodeUnknownSync(Told)

/** The receiver fails every tenth message, so that the run includes retries. */
const FAILS_EVERY = 10

/** Listens until the scope closes, and returns its address. */
export const makeReceiver = (witness: Witness) => {
  let nth = 0
  return serving((request, response) => {
    void text(request).then((body) => {
      const { type, data } = decodeTold(body)
      const id = String(request.headers["webhook-id"])
      const organizationId = (request.url ?? "").slice(1)
      const isTaken = ++nth % FAILS_EVERY !== 0
      witness.webhooks.push({ id, type, taskId: data.id, organizationId, isTaken })
      count(witness, "webhooks received")
      response.writeHead(isTaken ? 204 : 503).end()
    })
  })
}
