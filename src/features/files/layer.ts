/** The feature of files that customers upload for their orders. */
import { layerFileRemover } from "./FileRemover.ts"
import { layerFiles } from "./FilesPostgres.ts"
import { layerFilesHandlers } from "./fileHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerFiles

/** The HTTP handlers of the feature, which need its stores. */
export const layerHandlers = layerFilesHandlers

/** The background jobs of the feature, which need its stores. */
export const layerJobs = layerFileRemover
