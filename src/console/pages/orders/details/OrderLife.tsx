/** A timeline of an order: the duration of each phase, and each event. */
import { Box, Group, Stack, Text, Timeline, Title } from "@mantine/core"
import {
  IconArrowBackUp,
  IconCheck,
  IconCoins,
  IconHourglass,
  IconLock,
  IconPlayerPlay,
  IconSend,
  IconTrash,
  IconWebhook,
  IconX
} from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Timestamp } from "../../../parts/texts.tsx"
import { useLength } from "../orderMarks.tsx"

const stepStyles = {
  held: { icon: IconLock, color: "indigo" },
  sent: { icon: IconSend, color: "indigo" },
  working: { icon: IconPlayerPlay, color: "blue" },
  waiting: { icon: IconHourglass, color: "blue" },
  succeeded: { icon: IconCheck, color: "green" },
  failed: { icon: IconX, color: "red" },
  taken: { icon: IconCoins, color: "grape" },
  returned: { icon: IconArrowBackUp, color: "orange" },
  deleted: { icon: IconTrash, color: "gray" },
  notified: { icon: IconWebhook, color: "teal" },
  undelivered: { icon: IconWebhook, color: "red" }
} as const

export interface LifeStep {
  /** A key that is unique among the steps. */
  readonly key: string
  readonly stepStyle: keyof typeof stepStyles
  readonly title: string
  /** The time of the step; null while it lasts. */
  readonly at: string | null
  readonly details?: ReactNode
}

export interface LifePart {
  readonly key: string
  readonly label: string
  readonly millis: number
  readonly color: "indigo" | "cyan" | "blue" | "green" | "red" | "gray"
}

const THICKNESS = 12
/** The minimum width of a phase, so that even a phase without duration is visible. */
const LEAST_PART = 0.015

/**
 * The durations of phases as a strip of widths, and as text below for readers who cannot see the
 * strip.
 */
const Strip = ({ parts }: { readonly parts: ReadonlyArray<LifePart> }) => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const all = parts.reduce((sum, { millis }) => sum + millis, 0)
  if (parts.length === 0) return null
  return (
    <Stack gap={6}>
      <Group gap={2} wrap="nowrap" aria-hidden>
        {parts.map(({ key, millis, color }) => (
          <Box
            key={key}
            h={THICKNESS}
            bg={`var(--mantine-color-${color}-6)`}
            style={{
              flexGrow: Math.max(LEAST_PART, all === 0 ? 1 : millis / all),
              flexBasis: 0,
              borderRadius: 3
            }}
          />
        ))}
      </Group>
      <Group gap="md" component="ul" m={0} p={0} aria-label={t("life.strip")}>
        {parts.map(({ key, label, millis, color }) => (
          <Group key={key} gap={6} component="li" style={{ listStyle: "none" }}>
            <Box w={10} h={10} bg={`var(--mantine-color-${color}-6)`} aria-hidden />
            <Text size="sm" span>
              {label} · <span className="amount">{length(millis)}</span>
            </Text>
          </Group>
        ))}
      </Group>
    </Stack>
  )
}

interface Props {
  readonly parts: ReadonlyArray<LifePart>
  readonly steps: ReadonlyArray<LifeStep>
}

const BULLET = 26
const ICON = 15

export const OrderLife = ({ parts, steps }: Props) => {
  const { t } = useTranslation("orders")
  return (
    <Stack gap="md" component="section" aria-label={t("life.label")}>
      <Title order={2} size="h4">
        {t("life.label")}
      </Title>
      <Strip parts={parts} />
      <Timeline active={steps.length} bulletSize={BULLET} lineWidth={2}>
        {steps.map(({ key, stepStyle, title, at, details }, index) => {
          const { icon: Icon, color } = stepStyles[stepStyle]
          return (
            <Timeline.Item
              key={key}
              color={color}
              bullet={<Icon size={ICON} aria-hidden />}
              title={<Text fw={600}>{title}</Text>}
              // The line to a step that has not ended yet is dashed.
              lineVariant={
                index === steps.length - 2 && steps.at(-1)?.at === null ? "dashed" : "solid"
              }
            >
              {at === null ? null : (
                <Text size="sm" c="dimmed">
                  <Timestamp at={at} />
                </Text>
              )}
              {details === undefined ? null : (
                <Text size="sm" component="div">
                  {details}
                </Text>
              )}
            </Timeline.Item>
          )
        })}
      </Timeline>
    </Stack>
  )
}
