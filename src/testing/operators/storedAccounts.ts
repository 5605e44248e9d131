/** The rows of members, keys and operators in memory. */
import type { NewKey } from "../../services/Access.ts"
import type { OperatorRecord } from "../../services/operators/Operators.ts"

export interface StoredMember {
  readonly id: string
  name: string
  readonly createdAt: Date
  disabledAt: Date | null
}

export interface StoredApiKey {
  readonly id: string
  readonly organizationId: string
  readonly memberId: string
  /** The hash of the key, in hexadecimal digits. */
  readonly hash: string
  options: NewKey
  readonly createdAt: Date
  revokedAt: Date | null
}

export interface StoredOperator {
  record: OperatorRecord
  /** The hash of the token, in hexadecimal digits. */
  readonly hash: string
}
