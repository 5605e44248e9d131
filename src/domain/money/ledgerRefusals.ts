/** What a ledger answers where it takes no money, in the same words whoever keeps the books. */
import {
  IdempotencyMismatch,
  InsufficientBalance,
  InvalidRequest,
  MemberCapExceeded,
  NotFound,
  Overloaded
} from "../Errors.ts"
import { formatNano } from "./Money.ts"

export const unknownOrganization = new NotFound({ message: "No such organisation" })

/** An operator looks at the organisation's books. */
export const spendingStopped = new Overloaded({
  message: "New orders of this organisation are stopped while its books are checked",
  retryAfterSeconds: 60
})

/** Amounts are nano-units. */
export const insufficientBalance = (
  currency: string,
  requiredNano: bigint,
  availableNano: bigint
): InsufficientBalance => {
  const required = formatNano(requiredNano)
  const available = formatNano(availableNano)
  return new InsufficientBalance({
    message: `This request needs ${required} ${currency}, and ${available} is available`,
    required,
    available
  })
}

/** `used` is what the month has held and charged; `nextMonth` is when the cap begins anew. */
export const memberCapExceeded = (
  currency: string,
  amounts: { readonly requiredNano: bigint; readonly capNano: bigint; readonly usedNano: bigint },
  nextMonth: Date,
  nowMillis: number
): MemberCapExceeded => {
  const required = formatNano(amounts.requiredNano)
  const cap = formatNano(amounts.capNano)
  const used = formatNano(amounts.usedNano)
  return new MemberCapExceeded({
    message:
      `This request needs ${required} ${currency}; of this month's cap of ${cap}, ` +
      `${used} is used. The next month begins at ${nextMonth.toISOString()}`,
    cap,
    used,
    required,
    retryAfterSeconds: Math.max(1, Math.ceil((nextMonth.getTime() - nowMillis) / 1000))
  })
}

export const depositMismatch = new IdempotencyMismatch({
  message: "This reference was deposited before with another amount",
  param: "reference"
})

export const depositTooLarge = new InvalidRequest({
  message: "amount: The pool would hold more than it can count",
  param: "amount"
})
