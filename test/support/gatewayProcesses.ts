/** Gateways as processes of their own, as an operator starts them. */
import { fileURLToPath } from "node:url"
import { assert } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import type { SqlError } from "effect/sql"
import { Simulator } from "../../src/simulator/Simulator.ts"
import type { GatewayNode } from "./cluster.ts"
import { type DatabaseKind, temporaryDatabase, temporaryDataDir } from "./databases.ts"
import { bodyAs, testCatalog } from "./gateway.ts"
import { startable } from "./processes.ts"

export type Environment = Readonly<Record<string, string>>

/** The program that is shipped. */
export const shippedEntry = startable(fileURLToPath(new URL("../../src/main.ts", import.meta.url)))

/** For vendors that answer at once. */
export const quickPace: Environment = {
  GATEWAY_ASK_INTERVAL_SECONDS: "0.05",
  GATEWAY_POLLER_SECONDS: "0.05"
}

/** An empty database of the kind, secrets, and a pace for vendors that answer at once. */
export const processEnvironment = Effect.fnUntraced(function* (
  kind: DatabaseKind
): Effect.fn.Return<Environment, SqlError.SqlError, Scope.Scope> {
  return kind === "embedded"
    ? { ...quickPace, DATA_DIR: yield* temporaryDataDir({ initialised: true }) }
    : { ...quickPace, DATABASE_URL: yield* temporaryDatabase(kind) }
})

const Id = Schema.Struct({ id: Schema.String })
const Key = Schema.Struct({ key: Schema.String })

/** Loads the catalog of the tests, and makes an organisation that holds `amount` with one member. */
export const prepareCustomer = Effect.fnUntraced(function* (
  gateway: GatewayNode,
  amount: string,
  catalog?: ReturnType<typeof testCatalog>
) {
  const simulator = yield* Simulator
  const loaded = yield* gateway.admin("/catalog", {
    method: "PUT",
    json: catalog ?? testCatalog(simulator.url)
  })
  assert.strictEqual(loaded.status, 200, loaded.text)
  const organization = yield* bodyAs(
    Id,
    yield* gateway.admin("/organizations", { json: { name: "Test" } })
  )
  const organizationPath = `/organizations/${organization.id}`
  yield* gateway.admin(`${organizationPath}/deposits`, { json: { amount, reference: "r" } })
  const member = yield* bodyAs(
    Id,
    yield* gateway.admin(`${organizationPath}/members`, { json: { name: "m" } })
  )
  const { key } = yield* bodyAs(
    Key,
    yield* gateway.admin(`/members/${member.id}/keys`, { json: { name: "k" } })
  )
  return { key, organizationPath }
})

const Organization = Schema.Struct({ balance: Schema.String, held: Schema.String })

/** What the gateway says of the pool once nothing is held any more; its books must be sound. */
export const settledBalance = Effect.fnUntraced(function* (
  gateway: GatewayNode,
  organizationPath: string
) {
  const { balance } = yield* gateway.admin(organizationPath).pipe(
    Effect.flatMap((answer) => bodyAs(Organization, answer)),
    Effect.delay("50 millis"),
    Effect.repeat({ until: ({ held }) => held === "0" }),
    Effect.timeout("30 seconds")
  )
  assert.strictEqual((yield* gateway.admin("/ledger/verify")).text, '{"ok":true,"violations":[]}')
  return balance
})
