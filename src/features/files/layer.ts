/** The feature of files that customers upload for their orders. */
import { layerFileRemover } from "./FileRemover.ts"
import { layerFiles } from "./FilesPostgres.ts"
import { layerFilesHandlers } from "./fileHandlers.ts"

/** The feature's stores, over PostgreSQL. */
export const layerStores = layerFiles

/** The feature's routes, over its stores. */
export const layerHandlers = layerFilesHandlers

/** The feature's background jobs, over its stores. */
export const layerJobs = layerFileRemover
