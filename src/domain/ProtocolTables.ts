/** The protocols a gateway knows, by name. */
import { type ImageProtocolRow, imageProtocols } from "./ImageProtocol.ts"
import { type VideoProtocolRow, videoProtocols } from "./VideoProtocol.ts"

export interface ProtocolTables {
  readonly video: ReadonlyMap<string, VideoProtocolRow>
  readonly image: ReadonlyMap<string, ImageProtocolRow>
}

/** The protocols that come with the gateway. */
export const builtInProtocols: ProtocolTables = {
  video: new Map(Object.entries(videoProtocols)),
  image: new Map(Object.entries(imageProtocols))
}
