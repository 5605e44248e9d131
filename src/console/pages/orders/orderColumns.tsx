/** The columns that all lists of orders share. */
import { Anchor, Group, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Link, useSearch } from "wouter"
import type { Column } from "../../parts/DataTable.tsx"
import { useOrderTitle } from "../../parts/orderTitles.ts"
import { Thumbnail } from "../../parts/Thumbnail.tsx"
import { Amount, Timestamp } from "../../parts/texts.tsx"
import { useIsSmall } from "../../parts/useIsSmall.ts"
import type { OrderFilters } from "./orderFilters.ts"
import {
  type Kind,
  KindMark,
  millisBetween,
  type State,
  StateMark,
  Tags,
  useLength
} from "./orderMarks.tsx"

export interface ListedOrder {
  readonly id: string
  readonly kind: Kind
  readonly state: State
  readonly model: string
  readonly created_at: string
  readonly closed_at: string | null
  readonly hold: string
  readonly charge: string
  readonly returned: string
  readonly currency: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly error_code: string | null
}

const ENDS = 6
const THUMBNAIL = 40
const MAX_TITLE = 220

/**
 * A link to the order. The link keeps the filters in its address, so that the way back restores
 * them.
 */
const OrderLink = ({ id }: { readonly id: string }) => {
  const search = useSearch()
  return (
    <Anchor
      component={Link}
      href={search === "" ? `/${id}` : `/${id}?${search}`}
      className="id"
      title={id}
    >
      {`${id.slice(0, 3)}…${id.slice(-ENDS)}`}
    </Anchor>
  )
}

/** A small picture of the result, the order's id, and its title or model. */
const OrderPreview = ({
  order: { id, kind, state, model },
  title,
  hasFile
}: {
  readonly order: ListedOrder
  readonly title: string
  readonly hasFile: boolean
}) => (
  <Group gap="sm" wrap="nowrap">
    <Thumbnail id={id} kind={kind} state={state} hasFile={hasFile} size={THUMBNAIL} />
    <Stack gap={0} miw={0}>
      <OrderLink id={id} />
      <Text size="xs" c="dimmed" truncate maw={MAX_TITLE} title={title}>
        {title === "" ? model : title}
      </Text>
    </Stack>
  </Group>
)

export const useOrderColumns = <Order extends ListedOrder>({
  filters,
  currency,
  between: further = [],
  hasFile = () => false,
  hasTags = true
}: {
  readonly filters: OrderFilters
  /** The currency in the headings, since it is the same in every row. */
  readonly currency: string | undefined
  /** Additional columns after the model. */
  readonly between?: ReadonlyArray<Column<Order>>
  /** Whether the session's key can load a file of the order, once it has succeeded. */
  readonly hasFile?: (order: Order) => boolean
  /** Whether the tags are shown by default, which a list with many other columns has no room for. */
  readonly hasTags?: boolean
}): ReadonlyArray<Column<Order>> => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const money = (label: string) => (currency === undefined ? label : `${label} (${currency})`)
  const titleOf = useOrderTitle()
  const isSmall = useIsSmall()
  return [
    {
      name: "id",
      label: t("columns.id"),
      cell: (order) => (
        <OrderPreview order={order} title={titleOf(order)} hasFile={hasFile(order)} />
      )
    },
    {
      name: "state",
      label: t("columns.state"),
      cell: ({ state }) => <StateMark state={state} />
    },
    {
      name: "kind",
      label: t("columns.kind"),
      isHidden: true,
      cell: ({ kind }) => <KindMark kind={kind} />
    },
    {
      name: "model",
      label: t("columns.model"),
      cell: ({ model }) => <span className="amount">{model}</span>
    },
    ...further,
    {
      name: "ordered",
      label: t("columns.ordered"),
      cell: ({ created_at }) => <Timestamp at={created_at} isShort />
    },
    {
      name: "took",
      label: t("columns.took"),
      isNumber: true,
      isHidden: isSmall,
      cell: ({ created_at, closed_at }) => (
        <span className="amount">
          {closed_at === null ? "" : length(millisBetween(created_at, closed_at))}
        </span>
      )
    },
    {
      name: "hold",
      label: money(t("columns.hold")),
      isNumber: true,
      isHidden: true,
      cell: ({ hold }) => <Amount value={hold} />
    },
    {
      name: "charge",
      label: money(t("columns.charge")),
      isNumber: true,
      cell: ({ charge }) => <Amount value={charge} />
    },
    {
      name: "returned",
      label: money(t("columns.returned")),
      isNumber: true,
      isHidden: true,
      cell: ({ returned }) => <Amount value={returned} />
    },
    {
      name: "tags",
      label: t("columns.tags"),
      isHidden: isSmall || !hasTags,
      cell: ({ metadata }) => <Tags metadata={metadata} onPick={(tag) => filters.change({ tag })} />
    },
    {
      name: "failure",
      label: t("columns.failure"),
      isHidden: true,
      cell: ({ error_code }) => (
        <Text size="sm" className="said">
          {error_code ?? ""}
        </Text>
      )
    }
  ]
}
