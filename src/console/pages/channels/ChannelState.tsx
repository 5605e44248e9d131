/** The state of a channel, as a badge and as a sentence. */
import { Badge, Group, Text } from "@mantine/core"
import {
  IconCircleCheck,
  IconCircleOff,
  IconHourglass,
  IconKeyOff,
  IconPlayerPause,
  IconRefresh
} from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { ChannelView } from "../../../features/catalog/ChannelsApi.ts"
import { Timestamp } from "../../parts/texts.tsx"

const icons = {
  serving: IconCircleCheck,
  resting: IconPlayerPause,
  trying: IconRefresh,
  draining: IconHourglass,
  disabled: IconCircleOff,
  keyless: IconKeyOff
} as const
type ChannelState = keyof typeof icons

const colors: Readonly<Record<ChannelState, string>> = {
  serving: "var(--mantine-color-green-7)",
  resting: "var(--mantine-color-red-7)",
  trying: "var(--mantine-color-orange-7)",
  draining: "var(--mantine-color-orange-7)",
  disabled: "var(--mantine-color-dimmed)",
  keyless: "var(--mantine-color-red-7)"
}

const channelStateOf = ({ state, keys, open_tasks }: ChannelView): ChannelState => {
  if (state === "draining") return open_tasks > 0 ? "draining" : "disabled"
  if (!keys.some(({ enabled, stored }) => enabled && stored)) return "keyless"
  if (state === "open") return "resting"
  return state === "half-open" ? "trying" : "serving"
}

export const ChannelStateBadge = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const channelState = channelStateOf(channel)
  const Icon = icons[channelState]
  const { model_rests, slowed_organizations } = channel
  return (
    <>
      <Badge
        variant="default"
        tt="none"
        miw="max-content"
        leftSection={<Icon size={14} color={colors[channelState]} />}
      >
        {t(`states.${channelState}`)}
      </Badge>
      {channelState !== "serving" || model_rests.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {t("modelsAtRest", { models: model_rests.map(({ model }) => model).join(", ") })}
        </Text>
      )}
      {slowed_organizations.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {t("slowed", { count: slowed_organizations.length })}
        </Text>
      )}
    </>
  )
}

/** The text for a reason; the reason itself where no text is known. */
export const useReason = (): ((reason: string, status: number | null) => string) => {
  const { t } = useTranslation("channels")
  const reasonTexts: Readonly<Record<string, string>> = t("reasons", { returnObjects: true })
  return (reason, status) =>
    `${reasonTexts[reason] ?? reason}${status === null ? "" : ` (HTTP ${status})`}`
}

export const ChannelStateText = ({ channel }: { readonly channel: ChannelView }) => {
  const { t, i18n } = useTranslation("channels")
  const reason = useReason()
  const { rest } = channel
  const until =
    rest === null
      ? ""
      : new Date(rest.until).toLocaleString(i18n.language, {
          dateStyle: "short",
          timeStyle: "medium"
        })
  return (
    <Group gap="xs">
      <ChannelStateBadge channel={channel} />
      <Text size="sm">{t(`stateHints.${channelStateOf(channel)}`, { until })}</Text>
      {rest === null ? null : (
        <Text size="sm">
          {reason(rest.reason, rest.status)}, <Timestamp at={rest.since} />
        </Text>
      )}
    </Group>
  )
}

/** The channel's keys that are in cooldown, each with the reason and the end. */
export const KeyCooldowns = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation()
  const reason = useReason()
  const keyCooldowns = channel.keys.flatMap(({ name, rest }) =>
    rest === null ? [] : [{ name, rest }]
  )
  if (keyCooldowns.length === 0) return t("none")
  return keyCooldowns.map(({ name, rest }) => (
    <Text key={name} size="sm">
      {name}: {reason(rest.reason, rest.status)}, → <Timestamp at={rest.until} />
    </Text>
  ))
}
