import { layerStoresOf, storeKinds } from "../support/ledger.ts"
import { catalogSuite } from "./Catalog.suite.ts"
import { channelCredentialsSuite } from "./ChannelCredentials.suite.ts"

for (const kind of storeKinds) {
  catalogSuite(`the catalog (${kind})`, layerStoresOf(kind))
  channelCredentialsSuite(`channel accounts (${kind})`, layerStoresOf(kind))
}
