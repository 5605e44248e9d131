/** The doctor, over installations that are broken in one way or several, and over one that is not. */
import { createServer } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { layerSimulator } from "../../src/simulator/Simulator.ts"
import { clusterSecrets, connect, startGateway } from "../support/cluster.ts"
import { documentOf, runCommand } from "../support/commandLine.ts"
import { temporaryServerDatabase } from "../support/databases.ts"
import { type Environment, prepareCustomer, shippedEntry } from "../support/gatewayProcesses.ts"
import { freePort } from "../support/postgresServer.ts"

const Report = Schema.Struct({
  ok: Schema.Boolean,
  findings: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      status: Schema.String,
      says: Schema.String,
      advice: Schema.optionalKey(Schema.String)
    })
  )
})

const examine = Effect.fnUntraced(function* (env: Environment) {
  const run = yield* runCommand(["doctor", "--json"], env)
  const report = yield* documentOf(Report)(run)
  assert.strictEqual(run.code, report.ok ? 0 : 1, run.stderr)
  return report.findings.map(
    ({ status, name, says, advice = "" }) => `${status} ${name}: ${says} ${advice}`
  )
})

/** A program that is no gateway has the port. */
const takenPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer((socket) => socket.destroy())
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

it.live("finds each thing that is wrong before a gateway runs, and prints no secret", () =>
  Effect.gen(function* () {
    const { port } = yield* takenPort
    const found = (yield* examine({
      PORT: String(port),
      GATEWAY_URL: "http://127.0.0.1:1",
      GATEWAY_POLLER_SECONDS: "often",
      GATEWAY_POLER_SECONDS: "1",
      GATEWAY_PORT: "1",
      GATEWAY_MASTER_KEY: "secret-of-mine",
      DATABASE_URL: "postgres://me:password-of-mine@127.0.0.1:1/gateway",
      GATEWAY_ARCHIVE_URL: "s3://bucket?endpoint=http://127.0.0.1:1",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
      GATEWAY_PUBLIC_URL: "http://127.0.0.1:1",
      GATEWAY_OIDC_ISSUER: "http://127.0.0.1:1",
      GATEWAY_OIDC_CLIENT_ID: "gateway",
      GATEWAY_OIDC_CLIENT_SECRET: "client-secret-of-mine",
      GATEWAY_OIDC_ROLES: "admins=owner"
    })).join("\n")
    for (const line of [
      "wrong Configuration: GATEWAY_POLLER_SECONDS cannot be used: Expected a finite number.",
      "wrong Configuration: GATEWAY_POLER_SECONDS is set, and nothing reads it. Was GATEWAY_POLLER_SECONDS meant?",
      "wrong Configuration: GATEWAY_PORT is set, and nothing reads it. Was PORT meant?",
      "wrong Secrets: GATEWAY_MASTER_KEY is not 32 bytes in base64.",
      "wrong Database: ",
      "ECONNREFUSED",
      `wrong Port: Port ${port} of 127.0.0.1 is taken by another program.`,
      "wrong Archive: The bucket bucket cannot be used: ",
      "wrong Sign-in: The identity provider http://127.0.0.1:1 does not answer: ",
      "unknown Gateway: No gateway answers at http://127.0.0.1:1"
    ]) {
      assert.include(found, line)
    }
    assert.notInclude(found, "of-mine")
  }).pipe(Effect.scoped)
)

it.live("a start and a migration say what is wrong in one sentence that names the variable", () =>
  Effect.gen(function* () {
    const { port } = yield* takenPort
    const secret = { ...clusterSecrets, PORT: "0" }
    const unreachable =
      "DATABASE_URL names a database that cannot be reached: connect ECONNREFUSED 127.0.0.1:1"
    const noUrl =
      "DATABASE_URL cannot be used: Expected an address such as postgres://user:password@host:5432/database"
    const rows: ReadonlyArray<readonly [string, Environment, string]> = [
      ["serve", { ...secret, DATABASE_URL: "postgres://me:of-mine@127.0.0.1:1/g" }, unreachable],
      ["migrate", { ...secret, DATABASE_URL: "postgres://me:of-mine@127.0.0.1:1/g" }, unreachable],
      [
        "serve",
        { ...secret, DATABASE_URL: "postgres://me:of-mine@127.0.0.1:1,127.0.0.1:2/g" },
        unreachable
      ],
      [
        "serve",
        { ...secret, DATABASE_URL: "postgres://me@a,b/g?target_session_attrs=standby" },
        "DATABASE_URL cannot be used: Expected target_session_attrs=read-write where the address names several servers"
      ],
      ["serve", { ...secret, DATABASE_URL: "me:of-mine@127.0.0.1/g" }, noUrl],
      ["migrate", { ...secret, DATABASE_URL: "me:of-mine@127.0.0.1/g" }, noUrl],
      [
        "serve",
        { ...secret, GATEWAY_OIDC_CLIENT_ID: "gateway" },
        "GATEWAY_OIDC_CLIENT_ID is set, but GATEWAY_OIDC_ISSUER is not: sign-in needs both"
      ],
      ["migrate", { ...secret, PORT: "abc" }, "PORT cannot be used: Expected an integer"],
      [
        "serve",
        { ...secret, PORT: `${port}`, DATABASE_URL: yield* temporaryServerDatabase },
        `Port ${port} of 127.0.0.1 is taken by another program: set PORT or HOST to another one`
      ]
    ]
    for (const [command, env, sentence] of rows) {
      const start =
        command === "serve" ? "media-gateway cannot start" : "The schema was not applied"
      const { code, stderr } = yield* runCommand([command], env)
      assert.deepStrictEqual([code, stderr], [1, `${start}: ${sentence}\n`])
    }
  }).pipe(Effect.scoped)
)

it.live("finds nothing wrong in a gateway that serves, and another's key and schema", () =>
  Effect.gen(function* () {
    const DATABASE_URL = yield* temporaryServerDatabase
    const node = yield* startGateway({ DATABASE_URL }, shippedEntry)
    yield* prepareCustomer(node, "10", {
      channels: [{ id: "ch-down", name: "Down", base_url: "http://127.0.0.1:9", api_key: "k" }],
      models: [],
      mounts: []
    })
    const env = { DATABASE_URL, PORT: String(yield* Effect.promise(freePort)), ...clusterSecrets }
    const sound = (yield* examine({ ...env, GATEWAY_URL: node.url })).join("\n")
    assert.include(sound, "ok Database: The master key opens every secret that is stored.")
    assert.include(sound, "ok Gateway: The books are sound.")
    // What is wrong is the vendor, whom nobody reaches.
    assert.deepStrictEqual(
      sound.split("\n").filter((line) => line.startsWith("wrong ") && !line.includes("ch-down")),
      []
    )

    const sql = yield* connect(DATABASE_URL)
    yield* sql`INSERT INTO migration_rules (migration_id, older_gateways) VALUES (99, 'stop')`
    const strange = (yield* examine({
      ...env,
      GATEWAY_URL: "http://127.0.0.1:1",
      GATEWAY_MASTER_KEY: Buffer.alloc(32, 8).toString("base64"),
      DATABASE_POOL: "100000"
    })).join("\n")
    for (const line of [
      "wrong Database: The schema is of migration 99, and this version knows 1",
      "wrong Database: The secret of ch-down belongs to the master key with the id",
      "wrong Database: DATABASE_POOL is 100000"
    ]) {
      assert.include(strange, line)
    }
  }).pipe(Effect.provide(layerSimulator({ port: 0 })), Effect.scoped)
)
