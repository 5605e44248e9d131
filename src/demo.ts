/**
 * Demo mode: a catalog on the simulator, an organisation with money, and an API key for trying the
 * gateway.
 */
import { Console, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { demoCatalog } from "./demoCatalog.ts"
import { CatalogWrite } from "./domain/catalog/CatalogDocument.ts"
import { DEFAULT_KEY } from "./domain/catalog/channelKeys.ts"
import { NANO_PER_UNIT } from "./domain/money/Money.ts"
import { rowsOf } from "./postgres/client/rows.ts"
import { readStoredDemoKey, storeDemoKey } from "./secrets.ts"
import { Access, allScopes } from "./services/Access.ts"
import { Catalog } from "./services/Catalog.ts"
import { Ledger } from "./services/Ledger.ts"

const DEMO_DEPOSIT_NANO = 1000n * NANO_PER_UNIT

const ORGANIZATION = "Demo"
const MEMBER = "demo"

const decodeCatalog = Schema.decodeEffect(CatalogWrite, { onExcessProperty: "error" })

const MemberRow = Schema.Struct({ id: Schema.String })

/**
 * The API key of an earlier start, if the database still has it; otherwise a new key of the demo's
 * member. Null where the database was not filled by the demo, so that it has no such member.
 */
const demoKey = Effect.fnUntraced(function* (dataDir: string) {
  const sql = yield* SqlClient.SqlClient
  const access = yield* Access
  const storedKey = yield* readStoredDemoKey(dataDir)
  const isKnown =
    storedKey === null ? false : yield* Effect.isSuccess(access.authenticate(storedKey))
  if (isKnown) return storedKey
  const [member] = yield* rowsOf(MemberRow)(sql`
    SELECT m.id FROM members m JOIN organizations o ON o.id = m.organization_id
     WHERE o.name = ${ORGANIZATION} AND m.name = ${MEMBER}
     ORDER BY o.created_at, m.created_at LIMIT 1`)
  if (member === undefined) return null
  const options = { name: "demo", scopes: allScopes, models: null, expiresAt: null }
  const { key } = yield* access.createKey(member.id, options)
  yield* storeDemoKey(dataDir, key)
  return key
})

/** Whether two addresses have the same host and path, but different ports. */
const isMoved = (before: string, after: string): boolean => {
  const [beforeUrl, afterUrl] = [new URL(before), new URL(after)]
  return (
    beforeUrl.port !== afterUrl.port &&
    beforeUrl.hostname === afterUrl.hostname &&
    beforeUrl.pathname === afterUrl.pathname
  )
}

/**
 * Updates the demo's channels when the simulator listens on another port than at the last start.
 * Their keys are stored again, because a key can only be used for the origin for which it was
 * stored. The simulator keeps its book, so running tasks are polled at the new port as well. A
 * channel whose address an operator has changed stays unchanged.
 */
const followSimulator = Effect.fnUntraced(function* (simulatorUrl: string) {
  const sql = yield* SqlClient.SqlClient
  const catalog = yield* Catalog
  const { document } = yield* catalog.snapshot
  const { channels: demoChannels } = yield* decodeCatalog(demoCatalog(simulatorUrl))
  const movedChannels = document.channels.flatMap(({ id, base_url, app_id, enabled }) => {
    const match = demoChannels.find((channel) => channel.id === id)
    if (match === undefined || !isMoved(base_url, match.base_url)) return []
    return [{ ...match, app_id, enabled }]
  })
  if (movedChannels.length === 0) return
  const byId = new Map(movedChannels.map((channel) => [channel.id, channel]))
  yield* catalog.replace({
    ...document,
    channels: document.channels.map((channel) => byId.get(channel.id) ?? channel)
  })
  yield* sql`
    UPDATE tasks t SET account_version = a.version, key_name = ${DEFAULT_KEY}
      FROM channel_accounts a
     WHERE t.state = 'processing' AND t.channel_id = ANY (${movedChannels.map(({ id }) => id)}::text[])
       AND a.channel_id = t.channel_id AND a.superseded_at IS NULL`
})

/**
 * Fills an empty database in one transaction; a database with any data stays unchanged. Returns the
 * demo's API key, or null.
 */
export const seedDemo = Effect.fnUntraced(function* (simulatorUrl: string, dataDir: string) {
  const sql = yield* SqlClient.SqlClient
  const access = yield* Access
  const catalog = yield* Catalog
  const ledger = yield* Ledger
  if (yield* access.isEmpty) {
    const document = yield* decodeCatalog(demoCatalog(simulatorUrl))
    yield* sql.withTransaction(
      Effect.gen(function* () {
        // Two gateways that start at the same time on an empty database must not both fill it.
        yield* sql`LOCK TABLE organizations IN EXCLUSIVE MODE`
        if (!(yield* access.isEmpty)) return
        yield* catalog.replace(document)
        const organizationId = yield* access.createOrganization(ORGANIZATION)
        yield* ledger.deposit(organizationId, DEMO_DEPOSIT_NANO, "demo money")
        yield* access.createMember(organizationId, { name: MEMBER, monthlyCapNano: null })
      })
    )
  }
  yield* followSimulator(simulatorUrl)
  return yield* demoKey(dataDir)
})

/** Prints what a new user needs: the API key, and commands to paste into a shell. */
export const printDemo = (options: {
  readonly gatewayUrl: string
  readonly simulatorUrl: string
  readonly key: Redacted.Redacted | null
  readonly adminToken: Redacted.Redacted | null
}) => {
  const { gatewayUrl, simulatorUrl } = options
  const key = options.key === null ? "mg_..." : Redacted.value(options.key)
  const keyText = options.key === null ? "(yours: the demo did not fill this database)" : key
  const auth = `-H "Authorization: Bearer ${key}"`
  const json = `-H "Content-Type: application/json"`
  const admin =
    options.adminToken === null ? "(none configured)" : Redacted.value(options.adminToken)
  return Console.log(`
media-gateway is running in demo mode

  console      ${gatewayUrl}/console   (sign in with the key or the token below)
  gateway      ${gatewayUrl}
  simulator    ${simulatorUrl}   (stands in for the vendors)
  API key      ${keyText}
  admin token  ${admin}

1. List the models

curl -s ${gatewayUrl}/v1/models ${auth}

2. Create a video and follow it to its end

ID=$(curl -s ${gatewayUrl}/v1/videos/generations ${auth} ${json} -d '{"model":"film-1","prompt":"a lighthouse at dusk","duration":5,"resolution":"720p"}' | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); curl -s "${gatewayUrl}/v1/videos/$ID?wait=60" ${auth}

3. Make an image

curl -s ${gatewayUrl}/v1/images/generations ${auth} ${json} -d '{"model":"paint-1","prompt":"a lighthouse at dusk","size":"1024x1024"}'

4. Have a text written, and watch it come

curl -sN ${gatewayUrl}/v1/chat/completions ${auth} ${json} -d '{"model":"talk-1","messages":[{"role":"user","content":"a lighthouse at dusk"}],"stream":true}'
`)
}
