/** What was written through the administrative interface, and what was refused there. */
import { Context, type Effect, Schema } from "effect"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Page, PageRequest } from "../../runtime/Page.ts"

export const AuditEntry = Schema.Struct({
  id: Schema.String,
  at: Schema.Date,
  /** Name of the endpoint, such as `createKey`. */
  action: Schema.String,
  /** What it was done to, or what it made; null when nothing was. */
  subjectId: Schema.NullOr(Schema.String),
  /** What was asked for, without secrets; null when it could not be read. */
  fields: Schema.Unknown,
  requestId: Schema.String,
  /** Null where the token of the configuration was used. */
  operatorId: Schema.NullOr(Schema.String),
  /** The name of then. */
  operatorName: Schema.String,
  status: Schema.Int
})
export type AuditEntry = typeof AuditEntry.Type
export type AdminWrite = Omit<AuditEntry, "id" | "at">

/** Null is any. */
export interface AuditFilter {
  readonly operatorId: string | null
  readonly action: string | null
  readonly subjectId: string | null
  /** Then or later. */
  readonly from: Date | null
  /** Before it. */
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
