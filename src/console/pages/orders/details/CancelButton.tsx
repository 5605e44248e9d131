/** Asks the vendor of a running task to cancel it; the answer is shown as a notification. */
import { Button } from "@mantine/core"
import { notifications } from "@mantine/notifications"
import { IconPlayerStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { failureOf } from "../../../gateway/failures.ts"
import { useApiMutation } from "../../../gateway/hooks.tsx"

export const CancelButton = ({
  id,
  kind,
  isOperator = false
}: {
  readonly id: string
  readonly kind: "video" | "image"
  readonly isOperator?: boolean
}) => {
  const { t } = useTranslation("orders")
  const video = useApiMutation(
    () => (gateway) => gateway.videos.cancel({ params: { task_id: id } }),
    [["orders"]]
  )
  const image = useApiMutation(
    () => (gateway) => gateway.images.cancel({ params: { task_id: id } }),
    [["orders"]]
  )
  const operator = useApiMutation(
    () => (gateway) => gateway.history.cancelTask({ params: { id } }),
    [["orders"]]
  )
  const cancellation = { video, image, operator }[isOperator ? "operator" : kind]
  const cancel = async () => {
    try {
      const answer = await cancellation.mutateAsync(undefined)
      const goesOn = answer.task_status === "processing" && "cancellation" in answer
      const reason = goesOn ? answer.cancellation?.message : undefined
      const end = answer.task_status === "failed" ? "cancellation.done" : "cancellation.ended"
      notifications.show({ message: reason ?? t(end) })
    } catch (error) {
      notifications.show({ color: "red", message: failureOf(error).message })
    }
  }
  return (
    <Button
      variant="default"
      leftSection={<IconPlayerStop size={16} />}
      loading={cancellation.isPending}
      onClick={() => void cancel()}
    >
      {t("cancellation.go")}
    </Button>
  )
}
