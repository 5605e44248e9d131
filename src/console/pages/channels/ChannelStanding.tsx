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
import { Moment } from "../../parts/texts.tsx"

const icons = {
  serving: IconCircleCheck,
  resting: IconPlayerPause,
  trying: IconRefresh,
  draining: IconHourglass,
  disabled: IconCircleOff,
  keyless: IconKeyOff
} as const
type Standing = keyof typeof icons

const colors: Readonly<Record<Standing, string>> = {
  serving: "var(--mantine-color-green-7)",
  resting: "var(--mantine-color-red-7)",
  trying: "var(--mantine-color-orange-7)",
  draining: "var(--mantine-color-orange-7)",
  disabled: "var(--mantine-color-dimmed)",
  keyless: "var(--mantine-color-red-7)"
}

const standingOf = ({ state, keys, open_tasks }: ChannelView): Standing => {
  if (state === "draining") return open_tasks > 0 ? "draining" : "disabled"
  if (!keys.some(({ enabled, stored }) => enabled && stored)) return "keyless"
  if (state === "open") return "resting"
  return state === "half-open" ? "trying" : "serving"
}

export const StandingBadge = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation("channels")
  const standing = standingOf(channel)
  const Icon = icons[standing]
  const { model_rests, slowed_organizations } = channel
  return (
    <>
      <Badge
        variant="default"
        tt="none"
        miw="max-content"
        leftSection={<Icon size={14} color={colors[standing]} />}
      >
        {t(`states.${standing}`)}
      </Badge>
      {standing !== "serving" || model_rests.length === 0 ? null : (
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
  const words: Readonly<Record<string, string>> = t("reasons", { returnObjects: true })
  return (reason, status) =>
    `${words[reason] ?? reason}${status === null ? "" : ` (HTTP ${status})`}`
}

export const StandingSentence = ({ channel }: { readonly channel: ChannelView }) => {
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
      <StandingBadge channel={channel} />
      <Text size="sm">{t(`stateHints.${standingOf(channel)}`, { until })}</Text>
      {rest === null ? null : (
        <Text size="sm">
          {reason(rest.reason, rest.status)}, <Moment at={rest.since} />
        </Text>
      )}
    </Group>
  )
}

/** The channel's keys that are in cooldown, each with the reason and the end. */
export const KeysAtRest = ({ channel }: { readonly channel: ChannelView }) => {
  const { t } = useTranslation()
  const reason = useReason()
  const resting = channel.keys.flatMap(({ name, rest }) => (rest === null ? [] : [{ name, rest }]))
  if (resting.length === 0) return t("none")
  return resting.map(({ name, rest }) => (
    <Text key={name} size="sm">
      {name}: {reason(rest.reason, rest.status)}, → <Moment at={rest.until} />
    </Text>
  ))
}
