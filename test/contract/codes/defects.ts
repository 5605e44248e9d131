/** An adapter with a fault in it, which no vendor has to do with. */
import { Effect, Layer } from "effect"
import { ProtocolAdapter, type VideoAdapter } from "../../../src/services/ProtocolAdapter.ts"
import { DEFECTIVE } from "./catalog.ts"

/** What must not be told to a client. */
const DEFECT = "the adapter fell over /srv/secret/adapter.ts"

const withDefect = (adapter: VideoAdapter): VideoAdapter => ({
  ...adapter,
  submit: (account, order) =>
    order.upstreamModel === DEFECTIVE
      ? Effect.die(new Error(DEFECT))
      : adapter.submit(account, order)
})

/** The adapters it stands on, of which those for videos fail at one model. */
export const layerDefects = Layer.effect(
  ProtocolAdapter,
  Effect.map(ProtocolAdapter, ({ video, ...others }) =>
    ProtocolAdapter.of({
      ...others,
      video: new Map([...video].map(([name, adapter]) => [name, withDefect(adapter)]))
    })
  )
)
