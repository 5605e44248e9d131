/** A model of each family that the tables know, as the demo mounts it at the vendor itself. */
import { demoCatalog } from "../../src/demoCatalog.ts"
import { familyOf, type VideoFamily } from "../../src/domain/video/families/VideoFamily.ts"
import { type VideoProtocolRow, videoProtocols } from "../../src/domain/video/VideoProtocol.ts"

const { models, mounts } = demoCatalog("http://127.0.0.1:1")

/** The protocols with families. */
export type KnownProtocol = "vp_a" | "vp_d" | "vp_e" | "vp_f" | "veo" | "minimax"

const rows: Readonly<Record<KnownProtocol, VideoProtocolRow>> = videoProtocols

export interface KnownModel {
  readonly protocol: KnownProtocol
  readonly upstreamModel: string
  readonly family: VideoFamily
}

const modelsOf = (protocol: KnownProtocol): ReadonlyArray<KnownModel> =>
  mounts.flatMap(({ model, protocol: called, upstream_model: upstreamModel }) => {
    const isOwn =
      called == null && models.some((one) => one.id === model && one.protocol === protocol)
    const family =
      !isOwn || upstreamModel == null
        ? null
        : familyOf(rows[protocol].families ?? [], upstreamModel)
    return family === null || upstreamModel == null ? [] : [{ protocol, upstreamModel, family }]
  })

export const knownModels: ReadonlyArray<KnownModel> = [
  ...modelsOf("vp_a"),
  ...modelsOf("vp_d"),
  ...modelsOf("vp_e"),
  ...modelsOf("vp_f"),
  ...modelsOf("veo"),
  ...modelsOf("minimax")
]
