import * as Schema from "effect/Schema"

/**
 * Another process, or another layer of this process, has the data directory open. The message names
 * the directory, the owner if it is known, and the possible solutions.
 */
export class DataDirectoryInUse extends Schema.TaggedError<DataDirectoryInUse>()(
  "DataDirectoryInUse",
  {
    message: Schema.String,
    /** Absolute path. */
    directory: Schema.String,
    /** Absent while the owner is still starting, or when its file cannot be read. */
    ownerPid: Schema.optionalKey(Schema.Int)
  }
) {}

/** The embedded database could not start, or stopped by itself. */
export class EmbeddedDatabaseFailed extends Schema.TaggedError<EmbeddedDatabaseFailed>()(
  "EmbeddedDatabaseFailed",
  {
    message: Schema.String,
    /** Absolute path. */
    directory: Schema.String,
    cause: Schema.optionalKey(Schema.Defect())
  }
) {}

export type EmbeddedDatabaseError = DataDirectoryInUse | EmbeddedDatabaseFailed
