/** The place of an order that waits for a place at its channel, with the estimate of its time. */
import { Text } from "@mantine/core"
import { useTranslation } from "react-i18next"

export interface QueuePlace {
  readonly position: number
  /** The seconds until the order is submitted, about; null where that is unknown. */
  readonly seconds: number | null
}

export const QueueNote = ({ position, seconds }: QueuePlace) => {
  const { t } = useTranslation("orders")
  return (
    <Text role="status" c="dimmed">
      {seconds === null
        ? t("queue.position", { position })
        : t("queue.estimate", { position, seconds })}
    </Text>
  )
}
