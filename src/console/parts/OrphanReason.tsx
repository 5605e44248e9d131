/** The reason of an orphan as a text; the reason itself where no text is known. */
import { useTranslation } from "react-i18next"

const reasons = [
  "unread_answer",
  "timeout",
  "connection_lost",
  "broken_answer",
  "vendor_error",
  "gateway_defect",
  "gateway_stopped",
  "not_recorded",
  "accepted_late",
  "deadline_exceeded",
  "task_lost"
] as const

export const OrphanReason = ({ reason }: { readonly reason: string }) => {
  const { t } = useTranslation("health")
  const match = reasons.find((name) => name === reason)
  return match === undefined ? reason : t(`orphanReasons.${match}`)
}
