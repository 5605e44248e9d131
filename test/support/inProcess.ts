/** The real use cases and adapters before the simulated vendors, without a socket or a database. */
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { HttpEffect, HttpRouter } from "effect/http"
import { layerAdapters } from "../../src/adapters/liveAdapters.ts"
import { VendorWire } from "../../src/adapters/wire/VendorWire.ts"
import { CatalogDocument, type CatalogWrite } from "../../src/domain/catalog/CatalogDocument.ts"
import { DEFAULT_KEY } from "../../src/domain/catalog/channelKeys.ts"
import { layerOrders } from "../../src/orders/Orders.ts"
import { layerQuotes } from "../../src/orders/QuoteAnswers.ts"
import { layerStoredContentMemory } from "../../src/orders/StoredContentMemory.ts"
import { layerConversations } from "../../src/orders/text/responses/conversations.ts"
import { Catalog, makeSnapshot } from "../../src/services/Catalog.ts"
import { ChannelCredentials } from "../../src/services/channels/ChannelCredentials.ts"
import { ChannelQueue } from "../../src/services/channels/ChannelQueue.ts"
import { Files } from "../../src/services/files/Files.ts"
import { IdempotencyKeys } from "../../src/services/IdempotencyKeys.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import { Budgets } from "../../src/services/money/Budgets.ts"
import { Archives } from "../../src/services/results/Archives.ts"
import { layerContentLinks } from "../../src/services/results/ContentLinks.ts"
import { layerReasoningMakers } from "../../src/services/results/ReasoningMakers.ts"
import { StoredResponses } from "../../src/services/results/StoredResponses.ts"
import { TaskRepo } from "../../src/services/TaskRepo.ts"
import { Accounts } from "../../src/simulator/Accounts.ts"
import { Book } from "../../src/simulator/Book.ts"
import { MediaLinks } from "../../src/simulator/Media.ts"
import { Requests } from "../../src/simulator/Requests.ts"
import { Tasks } from "../../src/simulator/Tasks.ts"
import { layerVendors } from "../../src/simulator/Vendor.ts"
import { ip_a } from "../../src/simulator/vendors/ip_aVendor.ts"
import { ip_b } from "../../src/simulator/vendors/ip_bVendor.ts"
import { ip_c } from "../../src/simulator/vendors/ip_cVendor.ts"
import { vp_a } from "../../src/simulator/vendors/vp_aVendor.ts"
import { vp_b } from "../../src/simulator/vendors/vp_bVendor.ts"
import { vp_c } from "../../src/simulator/vendors/vp_cVendor.ts"
import { vp_d } from "../../src/simulator/vendors/vp_dVendor.ts"
import { vp_e } from "../../src/simulator/vendors/vp_eVendor.ts"
import { vp_f } from "../../src/simulator/vendors/vp_fVendor.ts"
import { layerWellChannels } from "./channelHealth.ts"
import { APP_ID, protocolCatalog } from "./protocolCatalog.ts"
import { wireTo } from "./wire.ts"

const ORIGIN = "http://vendors.test"

/** Amounts in the order of their holds, and the ids of the holds that were given back. */
export class Holds extends Context.Service<
  Holds,
  { readonly amounts: Map<string, bigint>; readonly released: Set<string> }
>()("test/Holds") {
  static readonly layer = Layer.sync(Holds, () => ({
    amounts: new Map<string, bigint>(),
    released: new Set<string>()
  }))
}

const layerLedger = Layer.unwrap(
  Effect.map(Holds, ({ amounts, released }) =>
    Layer.mock(Ledger, {
      hold: ({ id, amountNano }) => Effect.sync(() => void amounts.set(id, amountNano)),
      release: ({ holdId }) =>
        Effect.sync(() => {
          released.add(holdId)
          return { won: true, state: "released", capturedNano: 0n, overageNano: 0n }
        }),
      capture: ({ chargeNano }) =>
        Effect.succeed({
          won: true,
          state: "captured",
          capturedNano: chargeNano,
          overageNano: 0n
        }),
      pool: () =>
        Effect.succeed({ balanceNano: 0n, heldNano: 0n, uncoveredNano: 0n, creditNano: 0n })
    })
  )
)

type CatalogText = typeof CatalogWrite.Encoded

const layerCatalog = (catalog: CatalogText) =>
  Layer.effect(
    Catalog,
    Effect.map(Schema.decodeUnknownEffect(CatalogDocument)(catalog), (document) =>
      Catalog.of({
        snapshot: Effect.succeed(makeSnapshot(1n, new Date(0), document)),
        replace: () => Effect.die("the catalog of these tests is fixed"),
        preview: () => Effect.die("the catalog of these tests is fixed"),
        enable: () => Effect.die("the catalog of these tests is fixed")
      })
    )
  )

const layerCredentials = ({ channels }: CatalogText) =>
  Layer.mock(ChannelCredentials, {
    accounts: (channelId) => {
      const account = {
        channelId,
        keyName: DEFAULT_KEY,
        baseUrl: channels.find(({ id }) => id === channelId)?.base_url ?? "",
        apiKey: Redacted.make("vendor-key-1"),
        appId: APP_ID,
        origin: ORIGIN,
        version: 1,
        isSuperseded: false
      }
      return Effect.succeed({ forOrders: [account], all: [account] })
    }
  })

const layerVendorRoutes = layerVendors([vp_a, vp_b, vp_c, vp_d, vp_e, vp_f, ip_a, ip_b, ip_c]).pipe(
  Layer.provide(Tasks.layer),
  Layer.provideMerge(HttpRouter.layer),
  Layer.provide(MediaLinks.layer(ORIGIN))
)

/** Hands each request to the vendors as it would arrive there. */
const layerWire = Layer.effect(
  VendorWire,
  Effect.gen(function* () {
    const handle = HttpEffect.toWebHandler((yield* HttpRouter.HttpRouter).asHttpEffect())
    return wireTo(({ url, method, headers, body }) =>
      Effect.promise(async () => {
        const sent = body === null ? {} : { body: JSON.stringify(body) }
        const answer = await handle(new Request(url, { method, headers, ...sent }))
        return { status: answer.status, body: new Uint8Array(await answer.arrayBuffer()) }
      })
    )
  })
).pipe(Layer.provide(layerVendorRoutes))

/**
 * Video and image orders of a catalog whose vendors are at the address that it is given. They end in `Holds`,
 * and can be quoted; what their vendors saw is in `Requests` and `Book`.
 */
export const layerInProcessWith = (catalogFor: (vendors: string) => CatalogText) => {
  const catalog = catalogFor(ORIGIN)
  return Layer.merge(layerOrders, layerQuotes).pipe(
    Layer.provide(layerConversations.pipe(Layer.provideMerge(layerStoredContentMemory))),
    Layer.provide([
      layerLedger,
      Layer.mock(Budgets, { listApplicable: () => Effect.succeed([]) }),
      Layer.mock(ChannelQueue, {}),
      Layer.mock(IdempotencyKeys, {}),
      Layer.mock(Files, {}),
      Layer.mock(Archives, {}),
      Layer.mock(StoredResponses, {}),
      layerContentLinks(Redacted.make(new Uint8Array(32))),
      layerReasoningMakers(Redacted.make(new Uint8Array(32))),
      Layer.mock(TaskRepo, { accept: () => Effect.succeed(true), claimJob: () => Effect.void }),
      layerCatalog(catalog),
      layerCredentials(catalog),
      layerWellChannels,
      layerAdapters.pipe(Layer.provide(layerWire)),
      NodeCrypto.layerSecureRandom
    ]),
    Layer.provideMerge([Holds.layer, Book.layer(undefined), Requests.layer, Accounts.layer])
  )
}

/** The same with a model for every way in which a vendor is called. */
export const layerInProcess = layerInProcessWith(protocolCatalog)
