/** Filters of the operators' lists that leave everything; of orphans, what is open. */

import type { OrphanFilter } from "../../src/services/Orphans.ts"
import type {
  KeyFilter,
  MemberFilter,
  OrganizationFilter
} from "../../src/services/operators/Accounts.ts"
import type { AuditFilter } from "../../src/services/operators/AdminAudit.ts"

export const anyOrganization: OrganizationFilter = {
  name: null,
  enabled: null,
  hasLowBalance: null
}
export const anyMember: MemberFilter = { ...anyOrganization, organizationId: null }
export const anyKey: KeyFilter = { name: null, organizationId: null, memberId: null, revoked: null }

export const openOrphans: OrphanFilter = {
  isResolved: false,
  organizationId: null,
  channelId: null,
  reason: null
}

export const anyWrite: AuditFilter = {
  operatorId: null,
  action: null,
  subjectId: null,
  from: null,
  to: null
}
