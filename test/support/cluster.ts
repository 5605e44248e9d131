/** Gateways as processes on one PostgreSQL, with a customer who orders from all of them. */
import { fileURLToPath } from "node:url"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { type CallOptions, call, type HttpAnswer } from "./http.ts"
import { startable, startProcess, type TestProcess } from "./processes.ts"

export const ADMIN_TOKEN = "admin-token-of-the-tests"

const gatewayProcess = startable(fileURLToPath(new URL("./gatewayProcess.ts", import.meta.url)))

/** What gateways on one database must agree on. */
export const clusterSecrets = {
  GATEWAY_ADMIN_TOKEN: ADMIN_TOKEN,
  GATEWAY_MASTER_KEY: Buffer.alloc(32, 7).toString("base64")
}

export interface GatewayNode {
  readonly process: TestProcess
  readonly url: string
  admin(path: string, options?: CallOptions): Effect.Effect<HttpAnswer>
}

/**
 * Starts a gateway of the cluster; `entry` announces its address as `listens on <url>`, and is run by
 * `command` where one is named.
 */
export const startGateway = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>,
  entry = gatewayProcess,
  command?: readonly [string, ...ReadonlyArray<string>]
) {
  const process = yield* startProcess({
    entry,
    ...(command === undefined ? {} : { command }),
    env: {
      PORT: "0",
      ...clusterSecrets,
      ...env
    }
  })
  const [, url = ""] = yield* process.waitForLine(/listens on (http:\S+)/)
  const node: GatewayNode = {
    process,
    url,
    admin: (path, options) => call(`${url}/admin/v1${path}`, { key: ADMIN_TOKEN, ...options })
  }
  return node
})

/** A connection of our own to the cluster's database, until the scope closes. */
export const connect = (url: string) =>
  Effect.map(
    Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Context.get(SqlClient.SqlClient)
  )

/** The body of a 200, in the shape that is expected of it; anything else dies. */
export const good = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  answer: HttpAnswer
): Effect.Effect<S["Type"]> =>
  answer.status === 200
    ? Effect.orDie(Schema.decodeUnknownEffect(schema)(answer.body))
    : Effect.die(new Error(`${answer.status} ${answer.text}`))

const Id = Schema.Struct({ id: Schema.String })
const Key = Schema.Struct({ key: Schema.String })
const Organization = Schema.Struct({ balance: Schema.String, held: Schema.String })

export const loadCatalog = ({ admin }: GatewayNode, catalog: typeof CatalogWrite.Encoded) =>
  Effect.flatMap(admin("/catalog", { method: "PUT", json: catalog }), (answer) =>
    good(Schema.Unknown, answer)
  )

/** Makes an organisation that holds `amount`, with a member and a key. */
export const makeAccount = Effect.fnUntraced(function* ({ admin }: GatewayNode, amount: string) {
  const post = <S extends Schema.Top & { readonly DecodingServices: never }>(
    schema: S,
    path: string,
    json: unknown
  ) => Effect.flatMap(admin(path, { json }), (answer) => good(schema, answer))
  const organization = yield* post(Id, "/organizations", { name: "Test" })
  const path = `/organizations/${organization.id}`
  yield* post(Schema.Unknown, `${path}/deposits`, { amount, reference: "first" })
  const member = yield* post(Id, `${path}/members`, { name: "m" })
  const { key } = yield* post(Key, `/members/${member.id}/keys`, { name: "k" })
  return { key, organizationId: organization.id }
})

/** Loads the catalog, and opens an account with `amount` and a key. */
export const openAccount = Effect.fnUntraced(function* (
  gateway: GatewayNode,
  catalog: typeof CatalogWrite.Encoded,
  amount: string
) {
  yield* loadCatalog(gateway, catalog)
  const account = yield* makeAccount(gateway, amount)
  return {
    ...account,
    /** As the given gateway tells it. */
    funds: (node: GatewayNode) =>
      Effect.flatMap(node.admin(`/organizations/${account.organizationId}`), (answer) =>
        good(Organization, answer)
      )
  }
})

/** One model on vp_a, whose vendor is asked task by task, and one on vp_d, asked for many. */
export const clusterCatalog = (simulatorUrl: string): typeof CatalogWrite.Encoded => ({
  channels: [
    { id: "ch-a", name: "A", base_url: `${simulatorUrl}/vp_a`, api_key: "vendor-key-a" },
    { id: "ch-d", name: "D", base_url: `${simulatorUrl}/vp_d`, api_key: "vendor-key-d" }
  ],
  models: [
    {
      id: "film-1",
      modality: "video",
      protocol: "vp_a",
      prices: { kind: "token_video", per_million_tokens: { base: { without_video: "46" } } }
    },
    {
      id: "clip-1",
      modality: "video",
      protocol: "vp_d",
      prices: { kind: "second_video", per_second: { "720p": "0.6" } }
    }
  ],
  mounts: [
    { model: "film-1", channel: "ch-a", upstream_model: "vendor-film-1" },
    { model: "clip-1", channel: "ch-d", upstream_model: "vendor-clip-1" }
  ]
})
