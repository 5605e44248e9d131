/** The offers of a video model through all of its mounts. */
import type { Model, Mount } from "../catalog/CatalogDocument.ts"
import { mountProtocol } from "../catalog/CatalogRules.ts"
import { rowOfModel, type VideoProtocolRow } from "./VideoProtocol.ts"
import { type VideoOffer, videoOffer } from "./videoOffer.ts"

export interface MountOffer {
  /** The mount; null for a model without mounts, which offers what its own protocol does. */
  readonly mount: Mount | null
  readonly row: VideoProtocolRow
  readonly offer: VideoOffer
}

/** The offers by mount; mounts with an unknown protocol have none. */
export const mountOffers = (
  rows: ReadonlyMap<string, VideoProtocolRow>,
  model: Model,
  mounts: ReadonlyArray<Mount>
): ReadonlyArray<MountOffer> => {
  const listed = rows.get(model.protocol)
  return (mounts.length === 0 ? [null] : mounts).flatMap((mount) => {
    const protocolRow = mount === null ? listed : rows.get(mountProtocol(model, mount))
    if (protocolRow === undefined) return []
    const row = rowOfModel(protocolRow, mount?.upstream_model ?? model.id)
    const offer = videoOffer(row, listed, { model: model.limits, mount: mount?.limits })
    return [{ mount, row, offer }]
  })
}
