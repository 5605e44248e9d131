/** The feature of the archive: vendors' results, copied into the operator's bucket. */
import { Layer } from "effect"
import { layerArchives } from "./ArchivesPostgres.ts"
import { layerResultCopier } from "./ResultCopier.ts"
import { layerResultRemover } from "./ResultRemover.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerArchives

/** The background jobs of the feature, which need its stores. */
export const layerJobs = Layer.mergeAll(layerResultCopier, layerResultRemover)
