/**
 * The API for authors of additional vendors: the type of a protocol's row in the protocol tables,
 * the calls that are the same for all vendors, HTTP requests to a vendor, and the gateway with
 * additional adapters. `import { layerGateway, videoCalls, ... } from "media-gateway/extend"`; the
 * recipe is in `src/adapters/README.md`.
 */
export {
  type ImageDialect,
  imageCalls,
  type VideoDialect,
  videoCalls
} from "./adapters/common/adapterCalls.ts"
export { type StatusNames, taskStatus } from "./adapters/common/videoStatus.ts"
export { layerAdapters } from "./adapters/liveAdapters.ts"
export { layerVendorLimits } from "./adapters/wire/limits.ts"
export { layerVendorWire } from "./adapters/wire/VendorWire.ts"
export { unusableAnswer } from "./adapters/wire/vendorFailures.ts"
export { bearer, get, post, rootOf } from "./adapters/wire/vendorRequest.ts"
export { loadConfig } from "./config.ts"
export { builtInProtocols } from "./domain/catalog/ProtocolTables.ts"
export { imageCount } from "./domain/image/ImageRequest.ts"
export { textOf } from "./domain/video/VideoInput.ts"
export type { VideoProtocolRow } from "./domain/video/VideoProtocol.ts"
export { layerGateway } from "./program.ts"
export { loadSecrets } from "./secrets.ts"
export { ProtocolAdapter, Protocols } from "./services/ProtocolAdapter.ts"
