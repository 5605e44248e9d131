import { Schema } from "effect"

/** The rest of an object whose other fields belong to the vendor. */
export const anyFields = [Schema.Record(Schema.String, Schema.Unknown)] as const
