/** The display of states, kinds, tags and durations of orders. */
import { Badge, Group, Text } from "@mantine/core"
import {
  IconCircleCheck,
  IconCircleX,
  IconLetterCase,
  IconLoader2,
  IconMovie,
  IconPhoto
} from "@tabler/icons-react"
import { useEffect, useState } from "react"
import { useTranslation } from "react-i18next"

const states = {
  processing: { icon: IconLoader2, color: "var(--mantine-color-blue-6)" },
  succeeded: { icon: IconCircleCheck, color: "var(--mantine-color-green-7)" },
  failed: { icon: IconCircleX, color: "var(--mantine-color-red-6)" }
} as const
export type State = keyof typeof states

/** A state as a text and an icon, so that it can be recognised without colours. */
export const StateMark = ({ state }: { readonly state: State }) => {
  const { t } = useTranslation("orders")
  const { icon: Icon, color } = states[state]
  return (
    <Text span size="sm" className="amount mark">
      <Icon size={18} color={color} aria-hidden /> {t(`states.${state}`)}
    </Text>
  )
}

const kinds = { video: IconMovie, image: IconPhoto, text: IconLetterCase } as const
export type Kind = keyof typeof kinds

export const KindMark = ({ kind }: { readonly kind: Kind }) => {
  const { t } = useTranslation("orders")
  const Icon = kinds[kind]
  return (
    <Text span size="sm" className="amount mark">
      <Icon size={18} aria-hidden /> {t(`kinds.${kind}`)}
    </Text>
  )
}

/** The tags of an order. Where `onPick` is set, a click on a tag filters the list by it. */
export const Tags = ({
  metadata,
  onPick
}: {
  readonly metadata: Readonly<Record<string, string>> | null
  readonly onPick?: (tag: string) => void
}) => {
  const { t } = useTranslation("orders")
  const tags = Object.entries(metadata ?? {}).map(([name, value]) => `${name}=${value}`)
  return (
    <Group gap={4} wrap={onPick === undefined ? "wrap" : "nowrap"}>
      {tags.map((tag) =>
        onPick === undefined ? (
          <Badge key={tag} variant="default" tt="none" fw={400} radius="sm" miw="max-content">
            {tag}
          </Badge>
        ) : (
          <Badge
            key={tag}
            component="button"
            variant="default"
            tt="none"
            fw={400}
            radius="sm"
            miw="max-content"
            style={{ cursor: "pointer" }}
            aria-label={t("filters.onlyTag", { tag })}
            onClick={() => onPick(tag)}
          >
            {tag}
          </Badge>
        )
      )}
    </Group>
  )
}

const SECOND = 1000
const MINUTE = 60
const FEW_SECONDS = 10

/** A duration as a text in the reader's language. */
export const useLength = (): ((millis: number) => string) => {
  const { t } = useTranslation("orders")
  return (millis) => {
    if (millis < SECOND) return t("units.millis", { n: Math.max(0, Math.round(millis)) })
    const seconds = millis / SECOND
    if (seconds < FEW_SECONDS) return t("units.seconds", { n: seconds.toFixed(1) })
    if (seconds < MINUTE) return t("units.seconds", { n: Math.floor(seconds) })
    const minutes = Math.floor(seconds / MINUTE)
    return minutes < MINUTE
      ? t("units.minutes", { n: minutes, rest: Math.floor(seconds % MINUTE) })
      : t("units.hours", { n: Math.floor(minutes / MINUTE), rest: minutes % MINUTE })
  }
}

export const millisBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from)

/** The current time, updated once a second while something is running. */
export const useCurrentTime = (isRunning: boolean): number => {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!isRunning) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}
