/** What needs an operator: channels in trouble, open orphans, low balances, and used budgets. */
import { Anchor } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import type { ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import { useApiQuery } from "../../gateway/hooks.tsx"
import { OrphanReason } from "../../parts/OrphanReason.tsx"
import { Amount, Timestamp } from "../../parts/texts.tsx"
import { ChannelStateBadge } from "../channels/ChannelState.tsx"
import { FailureShare } from "../channels/channelFigures.tsx"
import { OwnerName } from "../orders/owners.tsx"
import { OverviewCard } from "./OverviewCard.tsx"
import { percentText } from "./shares.ts"
import { OVERVIEW_MILLIS, useChannels } from "./useChannels.ts"

const MOST_ROWS = 5
/** From this percentage on, a budget is near its limit. */
const NEAR_PERCENT = 80

/** Whether a channel refuses orders that it should take, as a whole or of some models. */
const isInTrouble = ({ state, model_rests, slowed_organizations, keys }: ChannelView): boolean =>
  state !== "draining" &&
  (state !== "closed" ||
    model_rests.length > 0 ||
    slowed_organizations.length > 0 ||
    keys.every(({ enabled, stored }) => !enabled || !stored) ||
    keys.some(({ rest }) => rest !== null))

export const Channels = () => {
  const { t } = useTranslation("overview")
  const { t: texts } = useTranslation("channels")
  const channels = useChannels()
  return (
    <OverviewCard
      title={t("channels")}
      links={[{ label: t("showAll"), href: "~/console/channels" }]}
      query={channels}
      rowsOf={({ data }) => data.filter(isInTrouble)}
      idOf={({ id }) => id}
      columns={[
        {
          name: "channel",
          label: texts("channel"),
          cell: ({ id, name }) => (
            <Anchor
              component={Link}
              href={`~/console/channels/${encodeURIComponent(id)}`}
              size="sm"
            >
              {name ?? id}
            </Anchor>
          )
        },
        {
          name: "state",
          label: texts("state"),
          cell: (channel) => <ChannelStateBadge channel={channel} />
        },
        {
          name: "failures",
          label: texts("failures"),
          cell: (channel) => <FailureShare channel={channel} />
        }
      ]}
      empty={t("channelsFine")}
    />
  )
}

export const Orphans = () => {
  const { t } = useTranslation("overview")
  const { t: texts } = useTranslation("health")
  const orphans = useApiQuery(
    ["orphans", "overview"],
    (gateway) => gateway.history.listOrphans({ query: { limit: MOST_ROWS, resolved: "false" } }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
  return (
    <OverviewCard
      title={t("orphans")}
      links={[{ label: t("showAll"), href: "~/console/health/orphans" }]}
      query={orphans}
      rowsOf={({ data }) => data}
      idOf={({ id }) => id}
      columns={[
        {
          name: "at",
          label: texts("at"),
          cell: ({ id, created_at }) => (
            <Anchor component={Link} href={`~/console/all-orders/${id}`} size="sm" title={id}>
              <Timestamp at={created_at} />
            </Anchor>
          )
        },
        {
          name: "reason",
          label: texts("reason"),
          cell: ({ reason }) => <OrphanReason reason={reason} />
        }
      ]}
      empty={t("orphansFine")}
    />
  )
}

export const LowBalances = () => {
  const { t } = useTranslation("overview")
  const organizations = useApiQuery(
    ["organizations", "overview"],
    (gateway) =>
      gateway.accounts.listOrganizations({
        query: { limit: MOST_ROWS, totals: "false", low_balance: "true", state: "enabled" }
      }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
  return (
    <OverviewCard
      title={t("lowBalances")}
      links={[{ label: t("showAll"), href: "~/console/customers?low=true&state=enabled" }]}
      query={organizations}
      rowsOf={({ data }) => data}
      idOf={({ id }) => id}
      columns={[
        {
          name: "customer",
          label: t("customer"),
          cell: ({ id, name }) => (
            <Anchor component={Link} href={`~/console/customers/${id}`} size="sm">
              {name}
            </Anchor>
          )
        },
        {
          name: "balance",
          label: t("balance"),
          isNumber: true,
          cell: ({ balance, currency }) => <Amount value={balance} currency={currency} />
        },
        {
          name: "alert",
          label: t("alert"),
          isNumber: true,
          cell: ({ low_balance, currency }) =>
            low_balance === null ? "–" : <Amount value={low_balance} currency={currency} />
        }
      ]}
      empty={t("balancesFine")}
    />
  )
}

export const NearBudgets = () => {
  const { t } = useTranslation("overview")
  const { t: texts } = useTranslation("books")
  const { t: money } = useTranslation("money")
  const budgets = useApiQuery(
    ["overview", "budgets"],
    (gateway) =>
      gateway.budgets.listUsedBudgets({
        query: { limit: MOST_ROWS, min_used_percent: NEAR_PERCENT }
      }),
    { intervalMillis: OVERVIEW_MILLIS }
  )
  return (
    <OverviewCard
      title={t("budgets")}
      query={budgets}
      rowsOf={({ data }) => data}
      idOf={({ id }) => id}
      columns={[
        {
          name: "customer",
          label: t("customer"),
          cell: ({ organization_id }) => <OwnerName owner="organization" id={organization_id} />
        },
        {
          name: "budget",
          label: t("budget"),
          cell: ({ organization_id, scope, subject_id, period, is_member_cap }) => (
            <>
              <Anchor
                component={Link}
                href={`~/console/customers/${organization_id}/budgets`}
                size="sm"
              >
                {`${money(`spend.groups.${scope}`)} · ${
                  is_member_cap ? texts("budgets.cap") : texts(`budgets.periods.${period}`)
                }`}
              </Anchor>{" "}
              {scope === "organization" ? null : <OwnerName owner={scope} id={subject_id} />}
            </>
          )
        },
        {
          name: "used",
          label: t("used"),
          isNumber: true,
          cell: ({ used, amount }) => (
            <span className="amount">
              {percentText(Number(used), Number(amount)) ?? t("unknown")}
            </span>
          )
        }
      ]}
      empty={t("budgetsFine", { percent: NEAR_PERCENT })}
    />
  )
}
