/** The audit log of every write through `/admin/v1`, including those that were refused. */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const AuditEntry = Schema.Struct({
  id: Schema.String,
  at: Schema.Date,
  /** Name of the endpoint, such as `createKey`. */
  action: Schema.String,
  /** The id of the object that was changed or created; null where there is none. */
  subjectId: Schema.NullOr(Schema.String),
  /**
   * The fields of the request, without secrets; null where the request body could not be parsed.
   */
  fields: Schema.Unknown,
  requestId: Schema.String,
  /** The operator's id; null for GATEWAY_ADMIN_TOKEN. */
  operatorId: Schema.NullOr(Schema.String),
  /** The operator's name at that time. */
  operatorName: Schema.String,
  status: Schema.Int
})
export type AuditEntry = typeof AuditEntry.Type
type AdminWrite = Omit<AuditEntry, "id" | "at">

/** A filter; null fields match every value. */
export interface AuditFilter {
  readonly operatorId: string | null
  readonly action: string | null
  readonly subjectId: string | null
  /** Start of the time range, inclusive. */
  readonly from: Date | null
  /** End of the time range, exclusive. */
  readonly to: Date | null
}

export class AdminAudit extends Context.Service<
  AdminAudit,
  {
    record(write: AdminWrite): Effect.Effect<void>
    /** Lists newest first. */
    list(filter: AuditFilter, page: PageRequest): Effect.Effect<Page<AuditEntry>, InvalidRequest>
  }
>()("gateway/services/AdminAudit") {}
