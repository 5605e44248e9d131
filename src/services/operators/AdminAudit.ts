/** The log of every write through `/admin/v1`, including those that were refused. */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const AuditEntry = Schema.Struct({
  id: Schema.String,
  at: Schema.Date,
  /** Name of the endpoint, such as `createKey`. */
  action: Schema.String,
  /** The id of what was changed or created; null where nothing was. */
  subjectId: Schema.NullOr(Schema.String),
  /** The fields of the request without secrets; null where the body could not be read. */
  fields: Schema.Unknown,
  requestId: Schema.String,
  /** Null for GATEWAY_ADMIN_TOKEN. */
  operatorId: Schema.NullOr(Schema.String),
  /** The operator's name at that time. */
  operatorName: Schema.String,
  status: Schema.Int
})
export type AuditEntry = typeof AuditEntry.Type
type AdminWrite = Omit<AuditEntry, "id" | "at">

/** Null matches everything. */
export interface AuditFilter {
  readonly operatorId: string | null
  readonly action: string | null
  readonly subjectId: string | null
  /** Inclusive. */
  readonly from: Date | null
  /** Exclusive. */
  readonly to: Date | null
}

export class AdminAudit extends Context.Service<
  AdminAudit,
  {
    record(write: AdminWrite): Effect.Effect<void>
    /** Newest first. */
    list(filter: AuditFilter, page: PageRequest): Effect.Effect<Page<AuditEntry>, InvalidRequest>
  }
>()("gateway/services/AdminAudit") {}
