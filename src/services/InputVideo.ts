/** What the gateway can know of a client's reference videos before it asks a vendor. */
import { Context, type Effect } from "effect"
import type { VideoBlock } from "../domain/VideoRequest.ts"

export class InputVideo extends Context.Service<
  InputVideo,
  {
    /**
     * Total length in seconds of the reference videos that came inline and can be read; null when
     * there is none. Remote ones are never fetched. Always answers within a few seconds.
     */
    knownSeconds(blocks: ReadonlyArray<VideoBlock>): Effect.Effect<number | null>
  }
>()("gateway/services/InputVideo") {}
