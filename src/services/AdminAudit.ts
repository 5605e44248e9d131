/** What was written through the administrative interface, and what was refused there. */
import { Context, type Effect } from "effect"
import type { InvalidRequest } from "../domain/Errors.ts"
import type { Page, PageRequest } from "../runtime/Page.ts"

export interface AdminWrite {
  /** Name of the endpoint, such as `createKey`. */
  readonly action: string
  /** What it was done to, or what it made; null when nothing was. */
  readonly subjectId: string | null
  /** What was asked for, without secrets; null when it could not be read. */
  readonly fields: unknown
  readonly requestId: string
  readonly status: number
}

export interface AuditEntry extends AdminWrite {
  readonly id: string
  readonly at: Date
}

export class AdminAudit extends Context.Service<
  AdminAudit,
  {
    record(write: AdminWrite): Effect.Effect<void>
    /** Newest first. */
    list(page: PageRequest): Effect.Effect<Page<AuditEntry>, InvalidRequest>
  }
>()("gateway/services/AdminAudit") {}
