/** The display of amounts, times and ids on all pages. */
import { ActionIcon, CopyButton, Group, Tooltip } from "@mantine/core"
import { IconCheck, IconCopy } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"

/** An amount with its digits before the point in groups of three; all decimal places stay. */
export const groupDigits = (amount: string): string => {
  const [integer = "", fraction] = amount.split(".")
  const groupedInteger = integer.replace(/\B(?=(?:\d{3})+$)/g, " ")
  return fraction === undefined ? groupedInteger : `${groupedInteger}.${fraction}`
}

const FRACTION_DIGITS = 6

/** A value of a chart, rounded for display. */
export const roundedDigits = (value: number): string =>
  groupDigits(String(Number(value.toFixed(FRACTION_DIGITS))))

/** An amount of money, which is never rounded; null for an unknown one. */
export const Amount = ({
  value,
  currency
}: {
  readonly value: string | null
  readonly currency?: string | undefined
}) => {
  const { t } = useTranslation()
  if (value === null) return t("unknown")
  return (
    <span className="amount">
      {groupDigits(value)}
      {currency === undefined ? "" : ` ${currency}`}
    </span>
  )
}

const mediumTime = { dateStyle: "medium", timeStyle: "medium" } as const
const shortTime = { dateStyle: "medium", timeStyle: "short" } as const

/** A time in the reader's time zone. Its tooltip has the exact time with the zone. */
export const Timestamp = ({
  at,
  isShort = false
}: {
  readonly at: string | null
  /** Whether the seconds are left to the tooltip. */
  readonly isShort?: boolean
}) => {
  const { t, i18n } = useTranslation()
  if (at === null) return <span>{t("none")}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${at} · ${date.toString()}`} className="moment">
      {date.toLocaleString(i18n.language, isShort ? shortTime : mediumTime)}
    </time>
  )
}

/** A long id is shortened in the middle. */
export const shortId = (id: string): string =>
  id.length <= 20 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`

/** An id to read and to copy, in full. */
export const Id = ({ id, isFull = false }: { readonly id: string; readonly isFull?: boolean }) => {
  const { t } = useTranslation()
  return (
    <Group gap={2} wrap="nowrap" component="span" maw="100%">
      <span className="id" title={id}>
        {isFull ? id : shortId(id)}
      </span>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? t("copied") : t("copy")}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              onClick={copy}
              aria-label={`${t("copy")}: ${id}`}
            >
              {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  )
}
