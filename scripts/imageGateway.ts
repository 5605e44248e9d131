/** A gateway as a separate process, on a real PostgreSQL, with one image model. */
import type { RequestListener } from "node:http"
import { Effect, Schema } from "effect"
import { ADMIN_TOKEN, connect, good, startGateway } from "../test/support/cluster.ts"
import { call } from "../test/support/http.ts"
import { serving } from "../test/support/httpServer.ts"
import { makeOperator } from "../test/support/operator.ts"
import { startPostgres } from "../test/support/postgresServer.ts"
import { gatewayEntry } from "./bench/subjects/ours.ts"

const Accepted = Schema.Struct({ id: Schema.String })

/**
 * Starts the gateway. The vendor answers every order with the address of one file, which `file`
 * serves.
 */
export const startImageGateway = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>,
  file: RequestListener
) {
  const vendorUrl = yield* serving((request, response) => {
    if (request.method !== "POST") {
      file(request, response)
      return
    }
    const url = `http://${request.headers.host}/image.png`
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ created: 1, data: [{ url }] }))
    })
  })
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startPostgres()),
    (server) => Effect.promise(() => server.stop())
  )
  const { process, url } = yield* startGateway(
    { DATABASE_URL: server.url, NODE_NO_WARNINGS: "1", ...env },
    gatewayEntry
  )
  const operator = makeOperator((path, sent) => call(`${url}${path}`, sent), ADMIN_TOKEN)
  const prices = { kind: "image", per_image: "0.2" } as const
  const catalog = {
    channels: [{ id: "a", name: "a", base_url: vendorUrl, api_key: "k" }],
    models: [{ id: "paint-1", modality: "image", protocol: "ip_a", prices }],
    mounts: [{ model: "paint-1", channel: "a", upstream_model: "p" }]
  }
  const answer = yield* operator.admin("/catalog", { method: "PUT", json: catalog })
  yield* good(Schema.Unknown, answer)
  return {
    pid: process.pid,
    url,
    customer: operator.customer,
    sql: yield* connect(server.url),
    /** Orders an image asynchronously, and returns the id of its task. */
    order: (key: string) =>
      call(`${url}/v1/images/generations`, {
        key,
        headers: { prefer: "respond-async" },
        json: { model: "paint-1", prompt: "x" }
      }).pipe(
        Effect.flatMap(({ body }) => Schema.decodeUnknownEffect(Accepted)(body)),
        Effect.map(({ id }) => id)
      )
  }
})
