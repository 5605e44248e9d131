/** The timeline of a member's order, from its list entry and its receipt. */
import { useTranslation } from "react-i18next"
import type { OwnOrderView } from "../../../../http/api/orderViews.ts"
import type { ReceiptView } from "../../../../http/api/receipts.ts"
import { groupDigits } from "../../../parts/texts.tsx"
import { millisBetween, useCurrentTime, useLength } from "../orderMarks.tsx"
import type { LifePart, LifeStep } from "./OrderLife.tsx"

type Order = typeof OwnOrderView.Type

interface Life {
  readonly steps: ReadonlyArray<LifeStep>
  readonly parts: ReadonlyArray<LifePart>
}

const BELOW_ZERO = /^-/

const colorOf = ({ state }: Order): LifePart["color"] => {
  if (state === "processing") return "blue"
  return state === "failed" ? "red" : "green"
}

export const useOwnLife = (order: Order, receipt: ReceiptView | undefined): Life => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const now = useCurrentTime(order.state === "processing")
  const money = (amount: string) => `${groupDigits(amount)} ${order.currency}`
  const { created_at, accepted_at, closed_at } = order
  const end = closed_at ?? new Date(now).toISOString()
  const startedAt = accepted_at ?? created_at
  const isHanding = order.is_task && accepted_at === null && order.state === "processing"

  const work: LifeStep = isHanding
    ? { key: "handing", stepStyle: "waiting", title: t("life.handing"), at: null }
    : {
        key: "work",
        stepStyle: order.state === "processing" ? "working" : "waiting",
        title: t(order.state === "processing" ? "life.working" : "life.worked", {
          time: length(Math.max(0, millisBetween(startedAt, end)))
        }),
        at: null
      }
  /** A note on the difference between the charge and the hold. */
  const chargeNote = (): { readonly details?: string } => {
    if (order.overage !== "0")
      return { details: t("life.chargedMore", { amount: money(order.overage) }) }
    const difference = receipt?.difference ?? "0"
    if (!BELOW_ZERO.test(difference)) return {}
    const amount = money(difference.replace(BELOW_ZERO, ""))
    return { details: t("life.chargedLess", { amount }) }
  }
  const moneySteps = (): ReadonlyArray<LifeStep> => {
    if (order.state === "succeeded") {
      const title = t("life.charged", { amount: money(order.charge) })
      return [{ key: "charged", stepStyle: "taken", title, at: closed_at, ...chargeNote() }]
    }
    if (order.state !== "failed") return []
    const title = t("life.refunded", { amount: money(order.hold) })
    return [{ key: "refunded", stepStyle: "returned", title, at: closed_at }]
  }
  const steps: ReadonlyArray<LifeStep> = [
    {
      key: "held",
      stepStyle: "held",
      title: t("life.held", { amount: money(order.hold) }),
      at: created_at
    },
    ...(accepted_at === null
      ? []
      : [
          {
            key: "sent",
            stepStyle: "sent" as const,
            title: t("life.sent"),
            at: accepted_at,
            details: t("life.sentAfter", { time: length(millisBetween(created_at, accepted_at)) })
          }
        ]),
    work,
    ...(order.state === "processing"
      ? []
      : [{ key: "ended", stepStyle: order.state, title: t(`life.${order.state}`), at: closed_at }]),
    ...moneySteps(),
    ...(receipt?.corrections ?? []).map(({ id, amount, reason, at }) => ({
      key: id,
      stepStyle: "returned" as const,
      title: t("life.corrected", { amount: money(amount) }),
      at,
      details: reason
    })),
    ...(order.deleted_at === null
      ? []
      : [
          {
            key: "deleted",
            stepStyle: "deleted" as const,
            title: t("life.deleted"),
            at: order.deleted_at
          }
        ])
  ]
  const handing = accepted_at === null ? 0 : millisBetween(created_at, accepted_at)
  const parts: ReadonlyArray<LifePart> = [
    ...(accepted_at === null
      ? []
      : [
          {
            key: "queue",
            label: t("life.queue"),
            millis: Math.max(0, handing),
            color: "cyan" as const
          }
        ]),
    {
      key: "work",
      label: t(isHanding ? "life.queue" : "life.work"),
      millis: Math.max(0, millisBetween(startedAt, end)),
      color: colorOf(order)
    }
  ]
  return { steps, parts }
}
