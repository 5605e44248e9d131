/** The timeline of an order for operators: every state, channel and ledger entry. */
import { useTranslation } from "react-i18next"
import type { TimelineView } from "../../../../features/history/HistoryApi.ts"
import type { ReceiptView } from "../../../../http/api/receipts.ts"
import { grouped } from "../../../parts/texts.tsx"
import { between, useLength, useNow } from "../orderMarks.tsx"
import type { LifePart, LifeStep } from "./OrderLife.tsx"

export type OrderHistory = typeof TimelineView.Type

export const isOpen = ({ state }: OrderHistory): boolean =>
  state === "submitting" || state === "processing"

const isState = (
  state: string
): state is "submitting" | "processing" | "succeeded" | "failed" | "rejected" =>
  ["submitting", "processing", "succeeded", "failed", "rejected"].includes(state)

const lookOf = (state: string): LifeStep["look"] =>
  state === "succeeded"
    ? "succeeded"
    : state === "submitting" || state === "processing"
      ? "working"
      : "failed"

type Corrections = ReceiptView["corrections"]

const useSteps = (
  history: OrderHistory,
  currency: string,
  corrections: Corrections
): ReadonlyArray<LifeStep> => {
  const { t } = useTranslation("orders")
  const money = (amount: string) => `${grouped(amount)} ${currency}`.trim()
  const isRefunded = !history.ledger.some(({ kind }) => kind === "capture")
  const moved = history.ledger.flatMap(({ kind, amount, at }): ReadonlyArray<LifeStep> => {
    switch (kind) {
      case "hold":
        return [{ key: kind, look: "held", title: t("life.held", { amount: money(amount) }), at }]
      case "capture":
        return [
          { key: kind, look: "taken", title: t("life.charged", { amount: money(amount) }), at }
        ]
      case "overage":
        return [
          { key: kind, look: "taken", title: t("life.overage", { amount: money(amount) }), at }
        ]
      case "release":
        return [
          {
            key: kind,
            look: "returned",
            title: t(isRefunded ? "life.refunded" : "life.released", { amount: money(amount) }),
            at
          }
        ]
      default:
        return []
    }
  })
  const sent = history.attempts.map(
    ({ channel, started_at, reason, status }, place): LifeStep => ({
      key: `attempt ${place}`,
      look: "sent",
      title: t("life.sentTo", { channel }),
      at: started_at,
      ...(reason === null
        ? {}
        : {
            more: [
              t("life.wentOn", { reason }),
              ...(status === null ? [] : [t("life.answered", { status })])
            ].join(" · ")
          })
    })
  )
  const changed = history.transitions.map(
    ({ state, at, by }, place): LifeStep => ({
      key: `state ${place}`,
      look: lookOf(state),
      title: isState(state) ? t(`innerStates.${state}`) : state,
      at,
      more: t("life.moved", { by })
    })
  )
  const corrected = corrections.map(
    ({ id, amount, reason, at }): LifeStep => ({
      key: id,
      look: "returned",
      title: t("life.corrected", { amount: money(amount) }),
      at,
      more: reason
    })
  )
  const [first, ...later] = moved
  const deleted: ReadonlyArray<LifeStep> =
    history.deleted_at === null
      ? []
      : [{ key: "deleted", look: "deleted", title: t("life.deleted"), at: history.deleted_at }]
  // The sort is stable, so steps with the same time keep the order of this list.
  return [
    ...(first === undefined ? [] : [first]),
    ...changed,
    ...sent,
    ...later,
    ...corrected,
    ...deleted
  ].sort((one, other) => (one.at ?? "").localeCompare(other.at ?? ""))
}

const colors = ["cyan", "indigo"] as const

export const useTimelineLife = (
  history: OrderHistory,
  currency: string,
  /** The amounts that were returned from its charge later. */
  corrections: Corrections
): { readonly steps: ReadonlyArray<LifeStep>; readonly parts: ReadonlyArray<LifePart> } => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const isRunning = isOpen(history)
  const now = useNow(isRunning)
  const steps = useSteps(history, currency, corrections)
  const [, ...later] = history.transitions
  // Tasks are first submitted and then processed; other orders are processed from the start.
  const taken =
    history.transitions[0]?.state === "submitting"
      ? (later.find(({ state }) => state === "processing")?.at ?? null)
      : null
  const end = isRunning
    ? new Date(now).toISOString()
    : (history.transitions.at(-1)?.at ?? history.created_at)
  const handed = history.attempts.map(({ channel, started_at }, place): LifePart => {
    const next = history.attempts[place + 1]?.started_at ?? taken ?? end
    return {
      key: `attempt ${place}`,
      label: channel,
      millis: Math.max(0, between(started_at, next)),
      color: colors[place % colors.length] ?? "cyan"
    }
  })
  const worked: ReadonlyArray<LifePart> =
    taken === null
      ? []
      : [
          {
            key: "work",
            label: t("life.work"),
            millis: Math.max(0, between(taken, end)),
            color: isRunning ? "blue" : history.state === "succeeded" ? "green" : "red"
          }
        ]
  const running: ReadonlyArray<LifeStep> = isRunning
    ? [
        {
          key: "running",
          look: "waiting",
          title: t("life.working", {
            time: length(Math.max(0, between(history.created_at, end)))
          }),
          at: null
        }
      ]
    : []
  return { steps: [...steps, ...running], parts: [...handed, ...worked] }
}
