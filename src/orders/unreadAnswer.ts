/** The charge for an order whose vendor returned a successful answer that could not be read. */
import { Exit } from "effect"
import { formatNano } from "../domain/money/Money.ts"
import {
  unreadableAnswerDoubt,
  unreadableAnswerError,
  type VendorLost
} from "../domain/VendorOutcome.ts"
import { usageId } from "../services/UsageLog.ts"
import type { Charge } from "./orderValue.ts"

/**
 * Charges the order, and records an orphan, so that an operator can ask the vendor and correct the
 * charge. The error informs the client of the charge, and is stored for repeated requests.
 */
export const unreadCharge = (
  charge: Pick<Charge<never>, "_tag" | "chargeNano" | "costBy" | "usage">,
  failure: VendorLost,
  { orderId, currency }: { readonly orderId: string; readonly currency: string }
) => {
  const amount = `${formatNano(charge.chargeNano)} ${currency}`
  const error = unreadableAnswerError(failure, { receiptId: usageId(orderId), charge: amount })
  const unread: Charge<never> = {
    ...charge,
    task: null,
    orphan: unreadableAnswerDoubt(failure),
    repeatAnswer: () => ({ stored: { _tag: "Refused", error }, remembered: null }),
    answer: Exit.fail(error)
  }
  return { error, charge: unread }
}
