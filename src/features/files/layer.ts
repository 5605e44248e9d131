/** Files that customers upload for their orders. */
import { layerFileRemover } from "./FileRemover.ts"
import { layerFiles } from "./FilesPostgres.ts"
import { layerFilesHandlers } from "./fileHandlers.ts"

/** Its ports over PostgreSQL. */
export const layerStores = layerFiles

/** Its routes, over its ports. */
export const layerHandlers = layerFilesHandlers

/** What runs in the background, over its ports. */
export const layerJobs = layerFileRemover
