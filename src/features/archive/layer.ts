/** Results of vendors, copied into the operator's bucket. */
import { Layer } from "effect"
import { layerArchives } from "./ArchivesPostgres.ts"
import { layerResultCopier } from "./ResultCopier.ts"
import { layerResultRemover } from "./ResultRemover.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerArchives

/** What runs in the background, over its ports. */
export const layerJobs = Layer.mergeAll(layerResultCopier, layerResultRemover)
