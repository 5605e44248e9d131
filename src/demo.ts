/** Demo mode: a catalog on the simulator, an organisation with money, and a key to try it with. */
import { Console, Effect, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { demoCatalog } from "./demoCatalog.ts"
import { CatalogWrite } from "./domain/CatalogDocument.ts"
import { NANO_PER_UNIT } from "./domain/Money.ts"
import { Access, allScopes } from "./services/Access.ts"
import { formatApiKey } from "./services/apiKey.ts"
import { Catalog } from "./services/Catalog.ts"
import { LastingKeys } from "./services/LastingKeys.ts"
import { Ledger } from "./services/Ledger.ts"

const DEMO_DEPOSIT_NANO = 1000n * NANO_PER_UNIT

/** The same key after every restart, on every gateway of the deployment. */
const demoKey = Effect.map(LastingKeys, ({ demoApiKey }) =>
  formatApiKey(Redacted.value(demoApiKey))
)

/** The simulator may listen elsewhere than at the last start: its channels go with it. */
const followSimulator = Effect.fnUntraced(function* (simulatorUrl: string) {
  const catalog = yield* Catalog
  const { document } = yield* catalog.snapshot
  const addresses = new Map(
    demoCatalog(simulatorUrl).channels.map((channel) => [channel.id, channel.base_url])
  )
  const channels = document.channels.map((channel) => ({
    ...channel,
    base_url: addresses.get(channel.id) ?? channel.base_url
  }))
  const moved = channels.some(
    (channel, index) => channel.base_url !== document.channels[index]?.base_url
  )
  if (moved) yield* catalog.replace({ ...document, channels })
})

/** Fills an empty database, in one transaction; a database that holds anything is left alone. */
export const seedDemo = Effect.fnUntraced(function* (simulatorUrl: string) {
  const sql = yield* SqlClient.SqlClient
  const access = yield* Access
  const catalog = yield* Catalog
  const ledger = yield* Ledger
  const key = yield* demoKey
  if (yield* access.isEmpty) {
    const document = yield* Schema.decodeEffect(CatalogWrite, {
      onExcessProperty: "error"
    })(demoCatalog(simulatorUrl))
    yield* sql.withTransaction(
      Effect.gen(function* () {
        // Gateways that start together on one empty database must not both fill it.
        yield* sql`LOCK TABLE organizations IN EXCLUSIVE MODE`
        if (!(yield* access.isEmpty)) return
        yield* catalog.replace(document)
        const organizationId = yield* access.createOrganization("Demo")
        yield* ledger.deposit(organizationId, DEMO_DEPOSIT_NANO, "demo money")
        const member = { name: "demo", monthlyCapNano: null }
        const memberId = yield* access.createMember(organizationId, member)
        const options = { name: "demo", scopes: allScopes, models: null, expiresAt: null }
        yield* access.importKey(memberId, key, options)
      })
    )
  }
  yield* followSimulator(simulatorUrl)
  return key
})

/** What a newcomer needs to see: the key, and four commands to paste. */
export const printDemo = (options: {
  readonly gatewayUrl: string
  readonly simulatorUrl: string
  readonly key: Redacted.Redacted
  readonly adminToken: Redacted.Redacted | null
}) => {
  const { gatewayUrl, simulatorUrl } = options
  const auth = `-H "Authorization: Bearer ${Redacted.value(options.key)}"`
  const json = `-H "Content-Type: application/json"`
  const admin =
    options.adminToken === null ? "(none configured)" : Redacted.value(options.adminToken)
  return Console.log(`
media-gateway is running in demo mode

  gateway      ${gatewayUrl}
  simulator    ${simulatorUrl}   (stands in for the vendors)
  API key      ${Redacted.value(options.key)}
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
