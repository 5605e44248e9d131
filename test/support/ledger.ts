/** Organisations, members and requests for tests that speak to the ledger itself. */
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { layerStores } from "../../src/gateway.ts"
import { Access } from "../../src/services/Access.ts"
import { type HoldRequest, Ledger, type UsageEntry } from "../../src/services/Ledger.ts"
import type { MemoryStore } from "../../src/testing/memory/MemoryStore.ts"
import { layerStoresMemory, type StoresMemory } from "../../src/testing/memory/memoryStores.ts"
import { citusUrl } from "./citus.ts"
import {
  type Database,
  type DatabaseKind,
  layerDatabase,
  layerDatabaseAt,
  temporaryServerDatabase
} from "./databases.ts"

const secrets = { masterKey: Redacted.make(new Uint8Array(32).fill(7)), adminToken: null }

/** A charge of `units` at one nano-unit each. */
export const usageOf = (units: bigint): UsageEntry => ({
  input: 0n,
  output: units,
  unit: "image",
  unitPriceNano: 1n,
  basis: "requested_images"
})

/** What every order has; of images. */
export const ordered = { keyId: "key_1", model: "paint-1", modality: "image" }

let minted = 0

/** A fresh id of a video task or image request, as the gateway would mint it; later than any deposit's. */
export const jobId = (kind: "vt" | "im" | "tx" | "file"): string =>
  `${kind}_f0000000-0000-7000-8000-${String(minted++).padStart(12, "0")}`

/** A fresh id of an image request, minted as the gateway mints it. */
export const orderIdNow = Effect.map(
  Effect.flatMap(SecureRandom.SecureRandom, (random) => random.uuidV7()),
  (uuid) => `im_${uuid}`
)

/** A fresh organisation with `amountNano` and some members. */
export const organization = Effect.fnUntraced(function* (amountNano: bigint, memberCount = 1) {
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Test")
  if (amountNano > 0n) yield* ledger.deposit(organizationId, amountNano, "first")
  const memberIds: Array<string> = []
  for (let index = 0; index < memberCount; index++) {
    const member = { name: `member ${index}`, monthlyCapNano: null }
    memberIds.push(yield* access.createMember(organizationId, member))
  }
  const hold = (amount: bigint, more: Partial<HoldRequest> = {}): HoldRequest => ({
    organizationId,
    memberId: memberIds[0] ?? "",
    ...ordered,
    id: jobId("im"),
    amountNano: amount,
    ttlSeconds: 60,
    quote: {},
    job: { channelId: "ch", protocol: "ip_a", upstreamModel: "u" },
    task: null,
    key: null,
    ...more
  })
  const close = (holdId: string) => ({
    organizationId,
    holdId,
    by: "sweep" as const,
    task: null,
    answer: null
  })
  return { organizationId, memberIds, hold, close }
})

/** Every store on a database. */
export const layerStoresOn = <E>(database: Layer.Layer<Database, E>) =>
  layerStores(secrets).pipe(Layer.provideMerge(database))

/** Every store on a fresh database of the run's server, which nobody has analysed. */
export const layerStoresOnServer = (maxConnections?: number) =>
  Layer.unwrap(
    Effect.map(temporaryServerDatabase, (url) =>
      layerStoresOn(layerDatabaseAt(url, maxConnections))
    )
  )

/** Every store on an empty database of its own. */
export const layerLedgerOn = (kind: DatabaseKind) => layerStoresOn(layerDatabase(kind))

export type StoreKind = "memory" | DatabaseKind

/** Where the stores of a contract keep their data. `CONTRACT_STORES=memory` leaves out the databases. */
export const storeKinds: ReadonlyArray<StoreKind> =
  process.env.CONTRACT_STORES === "memory"
    ? ["memory"]
    : ["memory", "embedded", "postgres", ...(citusUrl === null ? [] : (["citus"] as const))]

export type Stores = Exclude<StoresMemory, MemoryStore>

/** Every store, empty, and nothing that only one kind has. */
export const layerStoresOf = (kind: StoreKind): Layer.Layer<Stores, unknown> =>
  kind === "memory" ? layerStoresMemory() : layerLedgerOn(kind)
