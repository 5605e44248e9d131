/** All channels with their states, or the details of one channel. */
import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { lazy, useEffect } from "react"
import { useTranslation } from "react-i18next"
import { Link, Route, Switch } from "wouter"
import type { ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import { usePages, useSession } from "../../gateway/hooks.tsx"
import { hasRole } from "../../gateway/session.ts"
import { BackLink } from "../../parts/controls/BackLink.tsx"
import { type Column, DataTable } from "../../parts/DataTable.tsx"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { Amount, groupDigits } from "../../parts/texts.tsx"
import { ChannelActions } from "./ChannelActions.tsx"
import { ChannelDetails } from "./ChannelDetails.tsx"
import { ChannelStateBadge, KeyCooldowns } from "./ChannelState.tsx"
import {
  type ChannelCost,
  Durations,
  EVERY_MILLIS,
  FailureShare,
  useChannelCosts,
  useMountedModels
} from "./channelFigures.tsx"

const WizardPage = lazy(() => import("./wizard/WizardPage.tsx"))

const PAGE = 100
/** Two segments, so that the address is that of no channel. */
const WIZARD = "/new/vendor"

const useChannels = () =>
  usePages(
    ["channels", "list"],
    (after) => (gateway) => gateway.channels.listChannels({ query: { limit: PAGE, ...after } }),
    { intervalMillis: EVERY_MILLIS }
  )

const useColumns = (): ReadonlyArray<Column<ChannelView>> => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const costs = useChannelCosts()
  const mounts = useMountedModels()
  const money = (
    name: "charge" | "cost" | "margin",
    label: string,
    isHidden: boolean
  ): Column<ChannelView> => ({
    name,
    label,
    isNumber: true,
    isHidden,
    cell: ({ id }) => {
      const cost: ChannelCost | undefined = costs.get(id)
      if (cost === undefined) return "–"
      const amount = <Amount value={cost[name]} currency={cost.currency} />
      return name === "margin" ? (
        <>
          {amount}
          <Text size="xs" c="dimmed" className="amount">
            {cost.without_cost === 0
              ? t("costs", { cost: groupDigits(cost.cost) })
              : t("withoutCost", { count: cost.without_cost })}
          </Text>
        </>
      ) : (
        amount
      )
    }
  })
  return [
    {
      name: "channel",
      label: t("channel"),
      cell: ({ id, name }) => (
        <>
          <Anchor component={Link} href={`/${encodeURIComponent(id)}`} size="sm" fw={600}>
            {name ?? id}
          </Anchor>
          <Text size="xs" c="dimmed" className="id">
            {id}
          </Text>
        </>
      )
    },
    {
      name: "state",
      label: t("state"),
      cell: (channel) => <ChannelStateBadge channel={channel} />
    },
    {
      name: "failures",
      label: t("failures"),
      isNumber: true,
      cell: (channel) => <FailureShare channel={channel} />
    },
    {
      name: "latency",
      label: t("latency"),
      isNumber: true,
      cell: ({ latency_ms }) => <Durations of={latency_ms} />
    },
    {
      name: "lag",
      label: t("lag"),
      isNumber: true,
      cell: ({ completion_lag_ms }) => <Durations of={completion_lag_ms} />
    },
    {
      name: "open",
      label: t("openTasks"),
      isNumber: true,
      isHidden: true,
      cell: ({ open_tasks }) => open_tasks
    },
    {
      name: "keys",
      label: t("keysAtRest"),
      cell: (channel) => <KeyCooldowns channel={channel} />
    },
    {
      name: "models",
      label: t("models"),
      isHidden: true,
      cell: ({ id }) => (mounts.get(id) ?? []).map(({ model }) => model).join(", ")
    },
    money("charge", t("charged"), true),
    money("cost", t("cost"), true),
    money("margin", t("margin"), false),
    ...(hasRole(session, "operator")
      ? [
          {
            name: "actions",
            label: shell("actions"),
            cell: (channel: ChannelView) => <ChannelActions channel={channel} />
          }
        ]
      : [])
  ]
}

const List = () => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  return (
    <Stack>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1}>{shell("pages.channels")}</Title>
          <Text c="dimmed">{t("lead")}</Text>
          {hasRole(session, "operator") ? null : <Text size="sm">{shell("noRight")}</Text>}
        </div>
        {hasRole(session, "operator") ? (
          <Button component={Link} href={WIZARD} leftSection={<IconPlus size={16} />}>
            {t("add")}
          </Button>
        ) : null}
      </Group>
      <DataTable
        label={t("label")}
        columns={useColumns()}
        query={useChannels()}
        empty={t("none")}
      />
    </Stack>
  )
}

const ChannelPage = ({ id }: { readonly id: string }) => {
  const { t } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const channels = useChannels()
  const openChannel = channels.data?.pages
    .flatMap(({ data }) => data)
    .find((candidate) => candidate.id === id)
  const { hasNextPage, isFetching, fetchNextPage } = channels
  const isLookedFor = openChannel === undefined && hasNextPage
  useEffect(() => {
    if (isLookedFor && !isFetching) void fetchNextPage()
  }, [isLookedFor, isFetching, fetchNextPage])
  if (openChannel !== undefined) return <ChannelDetails channel={openChannel} />
  if (channels.isError) {
    return <FailureNote error={channels.error} onRetry={() => void channels.refetch()} />
  }
  return (
    <Stack align="flex-start">
      <Title order={1}>{id}</Title>
      <Text role="status">
        {channels.isPending || isLookedFor ? shell("loading") : t("unknown")}
      </Text>
      <BackLink href="/" label={t("back")} />
    </Stack>
  )
}

const ChannelsPage = () => (
  <Switch>
    <Route path="/">
      <List />
    </Route>
    <Route path={WIZARD}>
      <WizardPage />
    </Route>
    <Route path="/:id">{({ id }) => <ChannelPage id={decodeURIComponent(id)} />}</Route>
  </Switch>
)
export default ChannelsPage
