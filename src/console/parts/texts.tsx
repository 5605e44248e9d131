/** Amounts, times and ids, as they are shown everywhere. */
import { ActionIcon, CopyButton, Group, Tooltip } from "@mantine/core"
import { IconCheck, IconCopy } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"

/** Digits in groups of three before the point; every digit after it stays. */
export const grouped = (amount: string): string => {
  const [whole = "", rest] = amount.split(".")
  const spaced = whole.replace(/\B(?=(?:\d{3})+$)/g, " ")
  return rest === undefined ? spaced : `${spaced}.${rest}`
}

/** Money is never rounded. */
export const Amount = ({
  value,
  currency
}: {
  readonly value: string
  readonly currency?: string | undefined
}) => (
  <span className="amount">
    {grouped(value)}
    {currency === undefined ? "" : ` ${currency}`}
  </span>
)

/** A time in the reader's zone; the exact one, with its zone, where it is pointed at. */
export const Moment = ({ at }: { readonly at: string | null }) => {
  const { t, i18n } = useTranslation()
  if (at === null) return <span>{t("none")}</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${at} · ${date.toString()}`} className="moment">
      {date.toLocaleString(i18n.language, { dateStyle: "medium", timeStyle: "medium" })}
    </time>
  )
}

/** An id to read and to copy; a long one is cut in the middle, and copied whole. */
export const Id = ({ id, whole = false }: { readonly id: string; readonly whole?: boolean }) => {
  const { t } = useTranslation()
  const shown = whole || id.length <= 20 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`
  return (
    <Group gap={2} wrap="nowrap" component="span">
      <span className="id" title={id}>
        {shown}
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
