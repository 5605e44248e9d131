/** The newest videos and images of the member as thumbnails, which show their results again. */
import { Card, Group, Stack, Text, Title, UnstyledButton } from "@mantine/core"
import { useTranslation } from "react-i18next"
import type { OwnOrderView } from "../../../../http/api/orderViews.ts"
import { useApiQuery } from "../../../gateway/hooks.tsx"
import { useHasScopes } from "../../../gateway/me.ts"
import { useOrderTitle } from "../../../parts/orderTitles.ts"
import { Thumbnail } from "../../../parts/Thumbnail.tsx"

const MAX_ORDERS = 12
const SIZE = 84
const EVERY_MILLIS = 5_000

type Order = typeof OwnOrderView.Type

const useNewest = (modality: "video" | "image") =>
  useApiQuery(
    ["orders", "newest", modality],
    (gateway) => gateway.orders.list({ query: { modality, limit: MAX_ORDERS } }),
    { intervalMillis: EVERY_MILLIS }
  ).data?.data ?? []

interface Props {
  /** The order whose result is shown. */
  readonly shown: string | null
  readonly onOpen: (order: Order) => void
}

const Orders = ({ shown, onOpen }: Props) => {
  const { t, i18n } = useTranslation("playground")
  const orders = [...useNewest("video"), ...useNewest("image")]
    .filter(({ is_task }) => is_task)
    .sort((one, other) => other.created_at.localeCompare(one.created_at))
    .slice(0, MAX_ORDERS)
  const titleOf = useOrderTitle()
  if (orders.length === 0) return null
  return (
    <Card withBorder component="section" aria-label={t("history")}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t("history")}
        </Title>
        <Group gap="xs" component="ul" m={0} p={0} align="flex-start">
          {orders.map((order) => {
            const { id, kind, state, model, created_at } = order
            const title = titleOf(order)
            const time = new Date(created_at).toLocaleString(i18n.language, {
              dateStyle: "medium",
              timeStyle: "short"
            })
            return (
              <li key={id} style={{ listStyle: "none", width: SIZE }}>
                <UnstyledButton
                  w="100%"
                  title={title === "" ? time : `${title} · ${time}`}
                  aria-label={[title, model, t(`states.${state}`), time]
                    .filter((part) => part !== "")
                    .join(", ")}
                  aria-current={id === shown}
                  onClick={() => onOpen(order)}
                >
                  <Thumbnail
                    id={id}
                    kind={kind}
                    state={state}
                    hasFile={order.deleted_at === null}
                    size={SIZE}
                    isMarked={id === shown}
                  />
                  <Text size="xs" truncate mt={4}>
                    {title === "" ? model : title}
                  </Text>
                </UnstyledButton>
              </li>
            )
          })}
        </Group>
      </Stack>
    </Card>
  )
}

export const OrderHistory = (props: Props) => (useHasScopes("usage") ? <Orders {...props} /> : null)
