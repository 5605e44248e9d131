/** A receiver of webhooks that writes down what it is told; each organisation has a path of its own. */
import { text } from "node:stream/consumers"
import { Schema } from "effect"
import { serving } from "../../test/support/httpServer.ts"
import { count, type Witness } from "./witness.ts"

const Told = Schema.fromJsonString(
  Schema.Struct({ type: Schema.String, data: Schema.Struct({ id: Schema.String }) })
)
const decodeTold = Schema.decodeUnknownSync(Told)

/** Every so many messages it fails, so that retries are a part of the run. */
const FAILS_EVERY = 10

/** Listens until the scope closes; answers its address. */
export const makeReceiver = (witness: Witness) => {
  let nth = 0
  return serving((request, response) => {
    void text(request).then((body) => {
      const { type, data } = decodeTold(body)
      const id = String(request.headers["webhook-id"])
      const organizationId = (request.url ?? "").slice(1)
      witness.webhooks.push({ id, type, taskId: data.id, organizationId })
      count(witness, "webhooks received")
      response.writeHead(++nth % FAILS_EVERY === 0 ? 503 : 204).end()
    })
  })
}
